package httpapi_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

// openSession opens a connection of a client session.
func (w *servedHub) openSession(who, body string) *reader {
	w.T.Helper()
	ctx, cancel := context.WithCancel(ctx)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.server.URL+"/v1/sessions", strings.NewReader(body))
	w.NoError(err)
	req.Header.Set("Authorization", "Bearer "+w.tokens[who])
	req.Header.Set("Content-Type", "application/json")
	res, err := direct.Do(req)
	w.NoError(err)
	w.T.Cleanup(func() {
		cancel()
		_ = res.Body.Close()
	})
	return &reader{w.T, res, bufio.NewReader(res.Body), cancel}
}

// TestSessionStreamTellsOfMessages opens a session, and takes what its stream tells of.
func TestSessionStreamTellsOfMessages(t *testing.T) {
	w := newServedHub(t)
	stream := w.openSession("arya", `{"key":"k","client":"test 1","kind":"stdio"}`)
	next := func(kind string, into any) {
		t.Helper()
		b, err := stream.next()
		if err != nil || b.kind != kind {
			t.Fatalf("got %+v, %v, want %s", b, err, kind)
		}
		w.NoError(json.Unmarshal([]byte(b.data), into))
	}
	var session parley.Session
	var sign parley.SessionSign
	next("session", &session)
	if session.Key != "k" || session.Agent != "arya" || session.Client != "test 1" {
		t.Errorf("the session is %+v", session)
	}
	next("sign", &sign)
	w.SendDM("gendry", "arya", "hello")
	next("sign", &sign)
	if sign.Inbox != (parley.Inbox{Waking: 1}) {
		t.Errorf("the sign is %+v", sign)
	}
	taken := w.send(request{path: "/v1/inbox/take", as: "arya", body: `{"session":"k","seen":true}`})
	if !strings.Contains(taken.body, `"hello"`) {
		t.Errorf("taken: %s", taken.body)
	}
	if listed := w.send(request{path: "/v1/sessions", as: "arya"}); !strings.Contains(listed.body, `"held":1`) {
		t.Errorf("listed: %s", listed.body)
	}
	settled := w.send(request{path: "/v1/inbox/settle", as: "arya", body: `{"session":"k"}`})
	if !strings.Contains(settled.body, `"acked"`) {
		t.Errorf("settled: %s", settled.body)
	}
	if both := w.send(request{path: "/v1/inbox/settle", as: "arya", body: `{"session":"k","lease":"x"}`}); both.status != http.StatusBadRequest {
		t.Errorf("a lease and a session: %d %s", both.status, both.body)
	}
}

// TestSessionStreamEndsWithItsCredential revokes the token of an open session.
func TestSessionStreamEndsWithItsCredential(t *testing.T) {
	w := newServedHub(t)
	made := w.MakeToken("arya")
	w.tokens["revoked"] = made.Secret
	stream := w.openSession("revoked", `{"key":"k","kind":"stdio"}`)
	for range 2 {
		_, err := stream.next()
		w.NoError(err)
	}
	w.NoError(w.RevokeToken(ctx, user, made.ID))
	if b, err := stream.next(); err == nil {
		t.Errorf("after the revocation: %+v", b)
	}
}
