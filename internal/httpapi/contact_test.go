package httpapi_test

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/httpapi"
)

// longWait is more than anything here takes.
const longWait = 30 * time.Second

const anAsk = `{"action":"ask","agent":"rickon","message":"Which steel?"}`

// takeQuestion waits until rickon has the request of an ask, and returns it.
func (w *servedHub) takeQuestion() string {
	w.T.Helper()
	taken, err := w.Take(ctx, as("rickon"), parley.Take{Wait: longWait})
	w.NoError(err)
	if len(taken.Messages) != 1 {
		w.T.Fatalf("rickon was asked %d times", len(taken.Messages))
	}
	return taken.Messages[0].ID
}

// answerAsRickon answers a message as rickon.
func (w *servedHub) answerAsRickon(message, text string) {
	w.T.Helper()
	w.ReplyAs("rickon", message, text)
}

// awaitCallback waits until arya has a message from the hub, and returns what it says.
func (w *servedHub) awaitCallback() string {
	w.T.Helper()
	for {
		taken, err := w.Take(ctx, as("arya"), parley.Take{Wait: longWait})
		w.NoError(err)
		if len(taken.Messages) == 0 {
			w.T.Fatalf("nothing comes back")
		}
		for _, m := range taken.Messages {
			if m.From == parley.System {
				return m.Content.Text
			}
		}
	}
}

// TestAsksAreAnsweredInTheCall: the call lasts until the other has answered.
func TestAsksAreAnsweredInTheCall(t *testing.T) {
	w := newServedHub(t)
	answered := make(chan reply, 1)
	go func() { answered <- w.send(request{as: "arya", path: "/v1/contact", body: anAsk}) }()
	w.answerAsRickon(w.takeQuestion(), "Valyrian.")
	got := <-answered
	if got.status != http.StatusOK || find(t, got.body, "text") != "Response from rickon: Valyrian." || find(t, got.body, "outcome") != "answered" {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

// TestLateAsksAreProblemsThatNameTheirRequest: the time is up, and the answer follows as a message.
func TestLateAsksAreProblemsThatNameTheirRequest(t *testing.T) {
	w := newServedHub(t)
	got := w.send(request{as: "arya", path: "/v1/contact", body: anAsk[:len(anAsk)-1] + `,"wait":0.001}`})
	if got.status != http.StatusGatewayTimeout || find(t, got.body, "code") != "E004" || find(t, got.body, "contacted.outcome") != "late" {
		t.Fatalf("got %d %s", got.status, got.body)
	}
	w.answerAsRickon(find(t, got.body, "contacted.message"), "Valyrian.")
	if text := w.awaitCallback(); text != "Response from rickon: Valyrian." {
		t.Errorf("brought %q", text)
	}
}

// closings tells when the server has closed a connection, and so is done with what came by it.
type closings struct {
	net.Listener
	closed chan struct{}
}

func (l closings) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &closingConn{Conn: conn, closed: l.closed}, nil
}

type closingConn struct {
	net.Conn
	once   sync.Once
	closed chan struct{}
}

func (c *closingConn) Close() error {
	err := c.Conn.Close()
	c.once.Do(func() { c.closed <- struct{}{} })
	return err
}

// TestAsksOutliveTheirConnection: whoever hangs up gets the answer as a message.
func TestAsksOutliveTheirConnection(t *testing.T) {
	closed := make(chan struct{}, 16)
	w := newServedHubAt(t, closings{localListener(t), closed})
	calling, hangUp := context.WithCancel(ctx)
	req, err := http.NewRequestWithContext(calling, http.MethodPost, w.server.URL+"/v1/contact", strings.NewReader(anAsk))
	w.NoError(err)
	req.Header.Set("Authorization", "Bearer "+w.tokens["arya"])
	req.Header.Set("Content-Type", "application/json")
	ended := make(chan error, 1)
	go func() {
		_, err := direct.Do(req) //nolint:bodyclose // there is none
		ended <- err
	}()
	message := w.takeQuestion()
	hangUp()
	if err := <-ended; err == nil {
		t.Fatal("the call was answered")
	}
	<-closed
	w.answerAsRickon(message, "Valyrian.")
	if text := w.awaitCallback(); text != "Response from rickon: Valyrian." {
		t.Errorf("brought %q", text)
	}
}

// TestAsksEndWithTheirCredential: the call ends at once, and what is answered later is brought to the agent.
func TestAsksEndWithTheirCredential(t *testing.T) {
	w := newServedHub(t)
	made, err := w.NewToken(ctx, user, parley.NewToken{Agent: "arya"})
	w.NoError(err)
	w.tokens["stale"] = made.Secret
	answered := make(chan reply, 1)
	go func() { answered <- w.send(request{as: "stale", path: "/v1/contact", body: anAsk}) }()
	message := w.takeQuestion()
	w.NoError(w.RevokeToken(ctx, user, made.ID))
	if got := <-answered; got.status != http.StatusUnauthorized {
		t.Errorf("got %d %s", got.status, got.body)
	}
	w.answerAsRickon(message, "Valyrian.")
	if text := w.awaitCallback(); text != "Response from rickon: Valyrian." {
		t.Errorf("brought %q", text)
	}
}

// TestAsksEndWhenTheServerStops: its caller is told to come again.
func TestAsksEndWhenTheServerStops(t *testing.T) {
	closing, endStreams := context.WithCancel(context.Background())
	w := newServedHub(t, func(o *httpapi.Options) { o.Closing = closing })
	answered := make(chan reply, 1)
	go func() { answered <- w.send(request{as: "arya", path: "/v1/contact", body: anAsk}) }()
	w.takeQuestion()
	endStreams()
	if got := <-answered; got.status != http.StatusServiceUnavailable || find(t, got.body, "code") != "E002" {
		t.Errorf("got %d %s", got.status, got.body)
	}
}

// TestTheSameContactIsMadeOnce: a key in the header or in the body says that it is the same.
func TestTheSameContactIsMadeOnce(t *testing.T) {
	w := newServedHub(t)
	body := `{"action":"notify","agent":"gendry","message":"It is done"`
	first := w.send(request{as: "arya", path: "/v1/contact", body: body + "}", header: in("Idempotency-Key", "k")})
	again := w.send(request{as: "arya", path: "/v1/contact", body: body + `,"idempotency_key":"k"}`})
	if first.status != http.StatusOK || again.status != http.StatusOK || find(t, first.body, "message") != find(t, again.body, "message") {
		t.Errorf("got %s and %s", first.body, again.body)
	}
	both := w.send(request{as: "arya", path: "/v1/contact", body: body + `,"idempotency_key":"k"}`, header: in("Idempotency-Key", "other")})
	if both.status != http.StatusBadRequest {
		t.Errorf("two keys: %d %s", both.status, both.body)
	}
}

// TestWaitsOfContactsAreBounded: nobody holds a call for ever.
func TestWaitsOfContactsAreBounded(t *testing.T) {
	w := newServedHub(t)
	for _, wait := range []string{"-1", "601", "1e300"} {
		w.assertRefused(t, wait, request{as: "arya", path: "/v1/contact", body: anAsk[:len(anAsk)-1] + `,"wait":` + wait + `}`}, 400, parley.BadInput)
	}
}

// A page is full, or says where the list goes on.
func TestTheLargestPageOfTasksIsNotTheLast(t *testing.T) {
	w := newServedHub(t)
	const most = 1000
	for range most + 1 {
		_, err := w.NewTask(ctx, user, parley.NewTask{Text: "sew"})
		w.NoError(err)
	}
	w.tokens["user"] = w.MakeToken("user", parley.ScopeRead).Secret
	count := 0
	for path := "/v1/tasks?limit=1001"; path != ""; {
		var page struct {
			Items []json.RawMessage `json:"items"`
			Next  string            `json:"next"`
		}
		w.NoError(json.Unmarshal([]byte(w.send(request{as: "user", path: path}).body), &page))
		count += len(page.Items)
		if path = ""; page.Next != "" {
			path = "/v1/tasks?limit=1001&cursor=" + page.Next
		}
	}
	if count != most+1 {
		t.Errorf("%d of %d tasks are listed", count, most+1)
	}
}
