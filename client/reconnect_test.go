package client

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	_ "github.com/parley-hub/parley/internal/repeatable" // see there
)

// roundTrip answers requests without a network, so that time can be driven.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func answered(status int, kind string, body io.Reader) *http.Response {
	return &http.Response{
		StatusCode: status, Status: http.StatusText(status), Header: http.Header{"Content-Type": {kind}}, Body: io.NopCloser(body),
	}
}

func streamed(body io.Reader) *http.Response {
	return answered(http.StatusOK, "text/event-stream", body)
}

func over(t *testing.T, f roundTrip) *Client {
	t.Helper()
	c, err := New(Options{URL: "http://hub.test", HTTP: &http.Client{Transport: f}})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// log is a stream with events up to a number, as a hub writes it.
func log(after, last int64) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "id: %d\nevent: ready\ndata: {\"num\":%d}\n\n", after, after)
	for n := after + 1; n <= last; n++ {
		if n%3 == 0 { // this one is not for the reader
			fmt.Fprintf(&b, ":\nid: %d\n\n", n)
			continue
		}
		fmt.Fprintf(&b, "id: %d\nevent: message.posted\ndata: {\"num\":%d,\"kind\":\"message.posted\"}\n\n", n, n)
	}
	return b.Bytes()
}

// TestStreamCutAnywhereGoesOn cuts each connection at any byte: every event comes once, in order.
func TestStreamCutAnywhereGoesOn(t *testing.T) {
	const last = 20
	rapid.Check(t, func(rt *rapid.T) {
		cuts := rapid.SliceOfN(rapid.IntRange(0, 400), 0, 30).Draw(rt, "cuts")
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			c := over(t, func(r *http.Request) (*http.Response, error) {
				after, err := strconv.ParseInt(r.URL.Query().Get("after"), 10, 64)
				if err != nil && len(r.URL.Query().Get("after")) > 0 {
					t.Errorf("it goes on after %q", r.URL.Query().Get("after"))
				}
				whole := log(after, last)
				if len(cuts) > 0 {
					whole = whole[:min(cuts[0], len(whole))]
					cuts = cuts[1:]
				}
				return streamed(bytes.NewReader(whole)), nil
			})
			var got, want []int64
			for n := int64(1); n <= last; n++ {
				if n%3 != 0 {
					want = append(want, n)
				}
			}
			for e, err := range c.Events(ctx, EventsOptions{}) {
				if err != nil && parley.CodeOf(err) != parley.Unavailable {
					t.Errorf("it ends with %v", err)
				}
				if e.Kind == parley.EventMessagePosted {
					got = append(got, e.Num)
				}
				if e.Num == last {
					break
				}
			}
			cancel()
			if !slices.Equal(got, want) {
				rt.Errorf("got %v, want %v", got, want)
			}
		})
	})
}

// first is what a stream yields first, apart from being ready.
func first(ctx context.Context, c *Client) (parley.Event, error) {
	for e, err := range c.Events(ctx, EventsOptions{}) {
		if e.Kind != EventReady {
			return e, err
		}
	}
	return parley.Event{}, io.EOF
}

func TestBrokenStreamEndsWithAnError(t *testing.T) {
	for name, text := range map[string]string{
		"a line without end":   "data: " + strings.Repeat("x", 2*maxEvent),
		"data that is no JSON": "id: 1\nevent: message.posted\ndata: {\"num\":\n\n",
		"data of another sort": "id: 1\nevent: message.posted\ndata: [1]\n\n",
	} {
		t.Run(name, func(t *testing.T) {
			calls := 0
			c := over(t, func(*http.Request) (*http.Response, error) {
				calls++
				return streamed(strings.NewReader(text)), nil
			})
			var errs []error
			for _, err := range c.Events(t.Context(), EventsOptions{}) {
				errs = append(errs, err)
			}
			if len(errs) != 1 || parley.CodeOf(errs[0]) != parley.DependencyFailed || calls != 1 {
				t.Errorf("%d calls gave %v", calls, errs)
			}
		})
	}
}

func TestStreamEndsAtPermanentErrors(t *testing.T) {
	const refusal = `{"detail":"no","code":%q,"reason":%q}`
	for _, c := range []struct {
		status int
		code   parley.Code
		reason parley.Reason
		ends   bool
	}{
		{401, parley.NotPermitted, parley.Unauthenticated, true},
		{403, parley.NotPermitted, "", true},
		{404, parley.BadInput, parley.NotFound, true},
		{400, parley.BadInput, "", true},
		{503, parley.Unavailable, "", false},
		{429, parley.Unavailable, parley.RateLimited, false},
		{500, parley.Internal, "", false},
	} {
		synctest.Test(t, func(t *testing.T) {
			calls := 0
			client := over(t, func(*http.Request) (*http.Response, error) {
				if calls++; calls == 4 {
					return streamed(bytes.NewReader(log(0, 1))), nil
				}
				return answered(c.status, "application/problem+json", strings.NewReader(fmt.Sprintf(refusal, c.code, c.reason))), nil
			})
			for e, err := range client.Events(t.Context(), EventsOptions{}) {
				if err != nil && parley.CodeOf(err) != c.code {
					t.Errorf("status %d gives %v", c.status, err)
				}
				if e.Num == 1 {
					break
				}
			}
			if (calls == 1) != c.ends {
				t.Errorf("after status %d it was called %d times", c.status, calls)
			}
		})
	}
}

func TestStreamWaitsForRetryAfter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, calls := time.Now(), 0
		c := over(t, func(*http.Request) (*http.Response, error) {
			if calls++; calls == 2 {
				return streamed(bytes.NewReader(log(0, 1))), nil
			}
			return answered(503, "application/problem+json", strings.NewReader(`{"detail":"soon","code":"E002","retry_after":30}`)), nil
		})
		for e := range c.Events(t.Context(), EventsOptions{}) {
			if e.Num == 1 {
				break
			}
		}
		if waited := time.Since(began); waited != 30*time.Second {
			t.Errorf("it came back after %v", waited)
		}
	})
}

// TestSilentConnectionIsGivenUp: a hub says something every fifteen seconds, so that a connection without
// any sign is dead, whatever the network says.
func TestSilentConnectionIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, calls := time.Now(), 0
		c := over(t, func(r *http.Request) (*http.Response, error) {
			if calls++; calls == 2 {
				return streamed(bytes.NewReader(log(7, 8))), nil
			}
			dead, _ := io.Pipe()
			context.AfterFunc(r.Context(), func() { _ = dead.CloseWithError(r.Context().Err()) })
			return streamed(dead), nil
		})
		e, err := first(t.Context(), c)
		if err == nil || time.Since(began) != maxSilence {
			t.Errorf("after %v: %v %v", time.Since(began), e, err)
		}
	})
}

func TestStreamSaysThatItWasReset(t *testing.T) {
	c := over(t, func(*http.Request) (*http.Response, error) {
		return streamed(strings.NewReader("id: 9\nevent: reset\ndata: {\"num\":9}\n\nid: 9\nevent: ready\ndata: {\"num\":9}\n\n")), nil
	})
	e, err := first(t.Context(), c)
	if err != nil || e.Kind != EventReset || e.Num != 9 {
		t.Errorf("got %v %v", e, err)
	}
}
