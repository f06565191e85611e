package httpapi_test

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/httpapi"
	"github.com/parley-hub/parley/internal/hub"
)

// TestTheSocketKnowsItsPeer: whoever is on the socket needs no token, and is whom the server says.
func TestTheSocketKnowsItsPeer(t *testing.T) {
	w := newServedHub(t)
	who := func() string {
		return find(t, w.send(request{path: "/v1/whoami", header: in("Host", "anything")}).body, "agent.id")
	}
	*w.peer = peer{agent: "user", local: true}
	w.server.Config.Handler = socket{w.server.Config.Handler}
	if got := who(); got != "user" {
		t.Errorf("it is %s", got)
	}
	dir := filepath.Join(t.TempDir(), "backup")
	if got := w.send(request{path: "/v1/backups", body: `{"directory":"` + dir + `"}`}); got.status != http.StatusOK {
		t.Errorf("no backup: %d %s", got.status, got.body)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Error(err)
	}
	*w.peer = peer{agent: "arya", local: true}
	if got := who(); got != "arya" {
		t.Errorf("it is %s", got)
	}
	w.assertRefused(t, "an agent as owner", request{path: "/v1/agents", body: `{"id":"bran"}`}, 403, parley.NotPermitted)
	*w.peer = peer{local: true, err: parley.Errorf(parley.NotPermitted, "nobody can tell").Because(parley.Unauthenticated)}
	w.assertRefused(t, "nobody can tell", request{path: "/v1/whoami"}, 401, parley.NotPermitted)
	if got := w.send(request{as: "gendry", path: "/v1/whoami"}); got.status != http.StatusOK {
		t.Errorf("a token is of no use there: %d %s", got.status, got.body)
	}
	w.assertRefused(t, "a cookie", request{path: "/v1/whoami", header: in("Cookie", "parley_session=x")}, 401, parley.NotPermitted)
}

// socket makes requests look as if they had come by a socket, which has no port.
type socket struct{ next http.Handler }

func (s socket) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, nil)))
}

func TestWrongPathsAndMethods(t *testing.T) {
	w := newServedHub(t)
	w.assertRefused(t, "path", request{as: "arya", path: "/v1/nothing"}, 404, parley.BadInput)
	w.assertRefused(t, "method", request{as: "arya", method: http.MethodPut, path: "/v1/agents"}, 405, parley.BadInput)
	if got := w.send(request{as: "arya", method: http.MethodPut, path: "/v1/agents"}).header.Get("Allow"); got != "GET, HEAD, POST" {
		t.Errorf("Allow is %q", got)
	}
	head := w.send(request{as: "arya", method: http.MethodHead, path: "/v1/agents"})
	if head.status != http.StatusOK || head.body != "" {
		t.Errorf("HEAD: %d %q", head.status, head.body)
	}
}

func TestAMissingBodyCountsAsEmpty(t *testing.T) {
	w := newServedHub(t)
	if got := w.send(request{as: "gendry", method: http.MethodPost, path: "/v1/inbox/take"}); got.status != http.StatusOK {
		t.Errorf("take: %d %s", got.status, got.body)
	}
	w.assertRefused(t, "a message", request{as: "gendry", method: http.MethodPost, path: "/v1/messages"}, 400, parley.BadInput)
}

func TestHeadOfAnArtifact(t *testing.T) {
	w := newServedHub(t)
	sha := find(t, w.send(request{as: "arya", path: "/v1/artifacts", body: "steel"}).body, "sha256")
	got := w.send(request{as: "arya", method: http.MethodHead, path: "/v1/artifacts/" + sha})
	if got.status != http.StatusOK || got.header.Get("Content-Length") != "5" || got.body != "" {
		t.Errorf("%d %v %q", got.status, got.header, got.body)
	}
}

// TestActingAsIsAudited: what an owner does as somebody else is written down before it is done.
func TestActingAsIsAudited(t *testing.T) {
	w := newServedHub(t)
	got := w.send(request{as: "user", path: "/v1/messages", body: aMessage, header: in("Parley-As", "gendry")})
	if from := find(t, got.body, "message.from"); from != "gendry" {
		t.Errorf("it is from %s", from)
	}
	log, err := w.AuditLog(ctx, user, 0, 1000)
	w.NoError(err)
	last := log[len(log)-1]
	if last.Actor != "user" || last.Act != "as" || last.Subject != "gendry" || !strings.Contains(string(last.Detail), "post-message") {
		t.Errorf("the last entry is %+v", last)
	}
}

// TestReadingAsIsAuditedOnce: who looks in another's name asks again and again, and fills no log with it.
func TestReadingAsIsAuditedOnce(t *testing.T) {
	w := newServedHub(t)
	before, err := w.AuditLog(ctx, user, 0, 1000)
	w.NoError(err)
	as := in("Parley-As", "gendry")
	for range 3 {
		w.send(request{as: "user", method: http.MethodGet, path: "/v1/who", header: as})
		w.send(request{as: "user", method: http.MethodHead, path: "/v1/agents", header: as})
		w.send(request{as: "user", path: "/v1/inbox/take", body: `{}`, header: as})
	}
	log, err := w.AuditLog(ctx, user, 0, 1000)
	w.NoError(err)
	if n := len(log) - len(before); n != 2+3 {
		t.Errorf("%d entries, want one for each way to read and one for each take", n)
	}
}

// TestRefusalsAreAudited: a credential that was used for what it is not good for is written down.
func TestRefusalsAreAudited(t *testing.T) {
	w := newServedHub(t)
	w.tokens["reader"] = w.MakeToken("gendry", parley.ScopeRead).Secret
	w.assertRefused(t, "posting", request{as: "reader", path: "/v1/messages", body: aMessage}, 403, parley.NotPermitted)
	w.Stop() // everything is written
	log, err := w.AuditLog(ctx, user, 0, 1000)
	w.NoError(err)
	if last := log[len(log)-1]; last.Actor != "gendry" || last.Act != "refused" {
		t.Errorf("the last entry is %+v", last)
	}
}

// TestPanicsAreAnswered: a defect is answered, logged, and ends nothing else.
func TestPanicsAreAnswered(t *testing.T) {
	w := newServedHub(t, func(o *httpapi.Options) {
		o.Peer = func(context.Context) (hub.Connection, error) { panic("a defect") }
	})
	w.assertRefused(t, "a panic", request{as: "arya", path: "/v1/agents"}, 500, parley.Internal)
	if log := w.logged.String(); !strings.Contains(log, "a defect") || !strings.Contains(log, "door_test.go") {
		t.Errorf("the log is %s", log)
	}
}

func TestReadinessSaysThatNothingCanBeWritten(t *testing.T) {
	w := newServedHub(t)
	w.CloseStore()
	w.assertRefused(t, "ready", request{path: "/readyz"}, 503, parley.Unavailable)
	if got := w.send(request{path: "/healthz"}); got.status != http.StatusOK {
		t.Errorf("healthz: %d", got.status)
	}
}

// TestStoppingEndsLongCalls: a server that stops waits for nobody who waits.
func TestStoppingEndsLongCalls(t *testing.T) {
	closing, endStreams := context.WithCancel(context.Background())
	w := newServedHub(t, func(o *httpapi.Options) { o.Closing = closing })
	waiting := make(chan reply)
	go func() { waiting <- w.send(request{as: "hound", path: "/v1/inbox/take", body: `{"wait":50}`}) }()
	w.waitForCall("hound")
	endStreams()
	if got := <-waiting; got.status != http.StatusServiceUnavailable {
		t.Errorf("%d %s", got.status, got.body)
	}
}

// TestDigestsInUpperCaseAndNamesThatLeadElsewhere: the one is the same digest, the others are refused.
func TestDigestsInUpperCaseAndNamesThatLeadElsewhere(t *testing.T) {
	w := newServedHub(t)
	sha := strings.ToUpper(find(t, w.send(request{as: "arya", path: "/v1/artifacts", body: "steel"}).body, "sha256"))
	for _, method := range []string{http.MethodGet, http.MethodHead} {
		if got := w.send(request{as: "arya", method: method, path: "/v1/artifacts/" + sha}); got.status != http.StatusOK {
			t.Errorf("%s: %d %s", method, got.status, got.body)
		}
	}
	message := func(name string) request {
		return request{as: "arya", path: "/v1/messages", body: `{"conversation":"square","content":{"text":"a","artifacts":[{"name":"` + name + `","sha256":"` + sha + `"}]}}`}
	}
	if got := w.send(message("steel.txt")); got.status != http.StatusCreated {
		t.Errorf("%d %s", got.status, got.body)
	}
	for _, name := range []string{"../x", "/x", `a\\b`, `a\nb`, `a\u0000b`, ".."} {
		w.assertRefused(t, name, message(name), 400, parley.BadInput)
		contact := request{as: "arya", path: "/v1/contact", body: `{"action":"notify","agent":"gendry","message":"x","artifacts":[{"name":"` + name + `","sha256":"` + sha + `"}]}`}
		w.assertRefused(t, name, contact, 400, parley.BadInput)
	}
}
