package llm_test

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/modeltest"
	"github.com/parley-hub/parley/internal/runtime/llm"
)

// failed returns an error response of an API, with the API's own word for the error. It repeats the key, as some APIs do.
func failed(kind llm.Kind, status int, word string) modeltest.Answer {
	message := `Something is wrong with ` + canary
	body := `{"error":{"type":"` + word + `","code":"` + word + `","message":"` + message + `","param":null}}`
	if kind == llm.Anthropic {
		body = `{"type":"error","error":{"type":"` + word + `","message":"` + message + `"}}`
	}
	return modeltest.Answer{Status: status, Body: body}
}

func TestTransientFailuresAreRetried(t *testing.T) {
	each(t, func(t *testing.T, kind llm.Kind) {
		for name, bad := range map[string]modeltest.Answer{
			"rate limit":  failed(kind, 429, "rate_limit_error"),
			"overloaded":  failed(kind, 529, "overloaded_error"),
			"server":      failed(kind, 500, "api_error"),
			"html":        {Status: 502, Header: map[string]string{"Content-Type": "text/html"}, Body: "<html><body>Bad gateway"},
			"cut off":     {Text: "Good", Fault: modeltest.Cut, Input: 5},
			"reset":       {Text: "Good", Fault: modeltest.Reset, Input: 5},
			"in a stream": {Text: "Good", Fault: modeltest.Error, Input: 5},
			"no stream":   {Status: 200, Body: "welcome to our hotel"},
		} {
			t.Run(name, func(t *testing.T) {
				s := newFixture(t, kind, modeltest.InOrder(bad, bad, modeltest.Answer{Text: "Good day.", Input: 10, Output: 2}))
				result, err := s.run(t)
				if err != nil || result.Text != "Good day." || s.begun != 1 {
					t.Fatalf("%+v, %v, begun %d times", result, err, s.begun)
				}
				if len(s.pauses) != 2 || s.pauses[0] < time.Second/2 || s.pauses[0] > 3*time.Second/2 || s.pauses[1] < time.Second || s.pauses[1] > 3*time.Second {
					t.Errorf("paused for %v", s.pauses)
				}
			})
		}
	})
}

func TestLastingFailuresStayTransient(t *testing.T) {
	each(t, func(t *testing.T, kind llm.Kind) {
		for _, test := range []struct {
			name    string
			bad     modeltest.Answer
			failure parley.Failure
			begun   int
			words   string
		}{
			{"rate limit", failed(kind, 429, "rate_limit_error"), parley.FailureBusy, 0, "429 Too Many Requests: Something is wrong with [key]"},
			{"overloaded", failed(kind, 529, "overloaded_error"), parley.FailureBusy, 0, "529"},
			{"server", failed(kind, 503, "api_error"), parley.FailureServer, 0, "503 Service Unavailable"},
			{"html", modeltest.Answer{Status: 500, Body: "<html>" + canary}, parley.FailureServer, 0, "500 Internal Server Error"},
			{"cut off", modeltest.Answer{Text: "Good", Fault: modeltest.Cut}, parley.FailureServer, 1, "ended before it was complete"},
			{"reset", modeltest.Answer{Text: "Good", Fault: modeltest.Reset}, parley.FailureServer, 1, "provider fake"},
		} {
			t.Run(test.name, func(t *testing.T) {
				s := newFixture(t, kind, modeltest.InOrder(test.bad))
				_, err := s.run(t)
				wantFailure(t, err, test.failure, test.words)
				if strings.Contains(err.Error(), "<html>") {
					t.Errorf("a page is in %q", err)
				}
				if s.begun != test.begun || len(s.api.Requests()) != 4 {
					t.Errorf("begun %d times, %d tries", s.begun, len(s.api.Requests()))
				}
			})
		}
	})
}

// TestTokensUsedBeforeAFailureCount checks that the tokens of a failed request count, because the API has read the prompt.
func TestTokensUsedBeforeAFailureCount(t *testing.T) {
	s := newFixture(t, llm.Anthropic, modeltest.InOrder(modeltest.Answer{Text: "Good", Fault: modeltest.Cut, Input: 7}))
	result, err := s.run(t)
	wantFailure(t, err, parley.FailureServer)
	if result.InputTokens != 4*7 {
		t.Errorf("%+v", result)
	}
}

func TestAnOverloadWithinTheStreamIsBusy(t *testing.T) {
	s := newFixture(t, llm.Anthropic, modeltest.InOrder(modeltest.Answer{Text: "Good", Fault: modeltest.Error}))
	_, err := s.run(t)
	wantFailure(t, err, parley.FailureBusy, "Overloaded")
}

func TestRetryAfterIsHonoured(t *testing.T) {
	each(t, func(t *testing.T, kind llm.Kind) {
		busy := failed(kind, 429, "rate_limit_error")
		busy.Header = map[string]string{"Retry-After": "7"}
		s := newFixture(t, kind, modeltest.InOrder(busy, modeltest.Answer{Text: "Good day."}))
		if _, err := s.run(t); err != nil {
			t.Fatal(err)
		}
		if len(s.pauses) != 1 || s.pauses[0] != 7*time.Second {
			t.Errorf("paused for %v", s.pauses)
		}

		busy.Header = map[string]string{"Retry-After": "3600"}
		s = newFixture(t, kind, modeltest.InOrder(busy))
		_, err := s.run(t)
		if trouble := wantFailure(t, err, parley.FailureBusy); trouble.After != time.Hour {
			t.Errorf("to be tried again after %s", trouble.After)
		}
		if len(s.api.Requests()) != 1 || len(s.pauses) != 0 || s.begun != 0 {
			t.Errorf("%d requests, pauses %v, begun %d times", len(s.api.Requests()), s.pauses, s.begun)
		}
	})
}

func TestNobodyWaitsBeyondTheDeadline(t *testing.T) {
	each(t, func(t *testing.T, kind llm.Kind) {
		busy := failed(kind, 429, "rate_limit_error")
		busy.Header = map[string]string{"Retry-After": "20"}
		s := newFixture(t, kind, modeltest.InOrder(busy))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		_, err := s.runtime.Run(ctx, s.request)
		wantFailure(t, err, parley.FailureBusy)
		if len(s.pauses) != 0 {
			t.Errorf("paused for %v", s.pauses)
		}
	})
}

func TestPermanentFailuresAreNotRetried(t *testing.T) {
	each(t, func(t *testing.T, kind llm.Kind) {
		for _, test := range []struct {
			name  string
			bad   modeltest.Answer
			words []string
		}{
			{"key", failed(kind, 401, "authentication_error"), []string{"401 Unauthorized: Something is wrong with [key]", "check the key in the variable FAKE_KEY"}},
			{"forbidden", failed(kind, 403, "permission_error"), []string{"403 Forbidden", "FAKE_KEY"}},
			{"model", failed(kind, 404, "not_found_error"), []string{"404 Not Found", `the model "model-1"`, "provider fake"}},
			{"request", failed(kind, 400, "invalid_request_error"), []string{"400 Bad Request", "runtime_config"}},
			{"large", failed(kind, 413, "request_too_large"), []string{"context_messages"}},
			{"unpaid", failed(kind, 402, "x"), []string{"account"}},
			{"no quota", failed(kind, 429, "insufficient_quota"), []string{"account"}},
			{"elsewhere", modeltest.Answer{Status: 307, Header: map[string]string{"Location": "https://evil.example/v1"}}, []string{"redirects", "base_url"}},
			{"flood", modeltest.Answer{Status: 200, Header: map[string]string{"Content-Type": "text/event-stream"}, Body: strings.Repeat(": x\n", 9<<20)}, []string{"too large"}},
		} {
			t.Run(test.name, func(t *testing.T) {
				s := newFixture(t, kind, modeltest.InOrder(test.bad))
				_, err := s.run(t)
				wantFailure(t, err, parley.FailureFinal, test.words...)
				if s.begun != 0 || len(s.api.Requests()) != 1 {
					t.Errorf("begun %d times, %d tries", s.begun, len(s.api.Requests()))
				}
			})
		}
	})
}

func TestALongReasonIsCut(t *testing.T) {
	s := newFixture(t, llm.OpenAI, modeltest.InOrder(modeltest.Answer{Status: 400, Body: `{"error":{"message":"` + strings.Repeat("no ", 5000) + `"}}`}))
	_, err := s.run(t)
	wantFailure(t, err, parley.FailureFinal)
	if len(err.Error()) > 1000 {
		t.Errorf("%d bytes", len(err.Error()))
	}
}

func TestAnUnreachableProviderIsATransientFailure(t *testing.T) {
	each(t, func(t *testing.T, kind llm.Kind) {
		s := newFixture(t, kind, modeltest.InOrder(modeltest.Answer{}))
		s.api.Close()
		_, err := s.run(t)
		wantFailure(t, err, parley.FailureServer, "connection refused")
		if s.begun != 0 || len(s.pauses) != 3 {
			t.Errorf("begun %d times, pauses %v", s.begun, s.pauses)
		}
	})
}

// TestAConnectionThatIsClosedAtOnce runs on a server that closes each connection at once.
func TestAConnectionThatIsClosedAtOnce(t *testing.T) {
	each(t, func(t *testing.T, kind llm.Kind) {
		s := newFixture(t, kind, func(modeltest.Request) modeltest.Answer { panic(http.ErrAbortHandler) })
		_, err := s.run(t)
		wantFailure(t, err, parley.FailureServer, "provider fake")
	})
}

func TestASlowStreamEndsWithTheRun(t *testing.T) {
	each(t, func(t *testing.T, kind llm.Kind) {
		s := newFixture(t, kind, modeltest.InOrder(modeltest.Answer{Text: "Well, ", Fault: modeltest.Hang, Input: 3}))
		ctx, cancel := context.WithCancelCause(t.Context())
		late := errors.New("the deadline has passed")
		s.request.Say = func(string) { cancel(late) }
		result, err := s.runtime.Run(ctx, s.request)
		if !errors.Is(err, late) || s.begun != 1 || len(s.api.Requests()) != 1 {
			t.Errorf("%v, begun %d times, %d requests", err, s.begun, len(s.api.Requests()))
		}
		if kind == llm.Anthropic && result.InputTokens != 3 {
			t.Errorf("%+v", result)
		}
	})
}

func TestARunEndsWhileItWaits(t *testing.T) {
	s := newFixture(t, llm.OpenAI, modeltest.InOrder(failed(llm.OpenAI, 500, "x")))
	runtime, err := llm.New(map[string]llm.Provider{"fake": {Kind: llm.OpenAI, BaseURL: baseURL(llm.OpenAI, s.api)}}, llm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := errors.New("stopped")
	s.request.Log = func([]byte) { cancel(stopped) } // the runtime logs the first attempt right before the pause
	if _, err := runtime.Run(ctx, s.request); !errors.Is(err, stopped) {
		t.Error(err)
	}
}

func TestARunEndsWhileAToolWorks(t *testing.T) {
	each(t, func(t *testing.T, kind llm.Kind) {
		s := newFixture(t, kind, modeltest.InOrder(modeltest.Answer{
			Calls: []modeltest.Call{{ID: "a", Name: "reply", Args: `{"message":"m","content":"c"}`}},
		}))
		ctx, cancel := context.WithCancelCause(t.Context())
		stopped := errors.New("stopped")
		s.request.Workspace = &workspace{post: func() error { cancel(stopped); return ctx.Err() }}
		if _, err := s.runtime.Run(ctx, s.request); !errors.Is(err, stopped) || len(s.api.Requests()) != 1 {
			t.Errorf("%v after %d requests", err, len(s.api.Requests()))
		}
	})
}

func TestInvalidUTF8IsMended(t *testing.T) {
	events := map[llm.Kind]string{
		llm.Anthropic: "event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"role\":\"assistant\",\"content\":[],\"usage\":{}}}\n\n" +
			"event: content_block_start\ndata: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"\"}}\n\n" +
			"event: content_block_delta\ndata: {\"type\":\"content_block_delta\",\"index\":0,\"delta\":{\"type\":\"text_delta\",\"text\":\"a\xffb\"}}\n\n" +
			"event: content_block_stop\ndata: {\"type\":\"content_block_stop\",\"index\":0}\n\n" +
			"event: message_delta\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"},\"usage\":{\"output_tokens\":1}}\n\n" +
			"event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n",
		llm.OpenAI: "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"a\xffb\"},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n",
	}
	each(t, func(t *testing.T, kind llm.Kind) {
		s := newFixture(t, kind, modeltest.InOrder(modeltest.Answer{
			Status: 200, Header: map[string]string{"Content-Type": "text/event-stream"}, Body: events[kind],
		}))
		result, err := s.run(t)
		if err != nil || result.Text != "a\uFFFDb" || s.progress.String() != "a\uFFFDb" {
			t.Errorf("%q, said %q, %v", result.Text, s.progress.String(), err)
		}
	})
}

// TestTheKeyGoesNowhereElse runs on a server that redirects requests, so that the key would be sent to another address.
func TestTheKeyGoesNowhereElse(t *testing.T) {
	each(t, func(t *testing.T, kind llm.Kind) {
		other := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("the request came along: %v", r.Header) }))
		defer other.Close()
		s := newFixture(t, kind, modeltest.InOrder(modeltest.Answer{Status: 308, Header: map[string]string{"Location": other.URL}}))
		_, err := s.run(t)
		wantFailure(t, err, parley.FailureFinal, "redirects")
	})
}
