package hub_test

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/parley-hub/parley"
)

// record is a log that keeps its lines.
type record struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (r *record) Write(p []byte) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.Write(p)
}

func (r *record) String() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.text.String()
}

// TestSecretsAreNowhere uses each kind of secret in every way there is, and looks for it in all that remains.
func TestSecretsAreNowhere(t *testing.T) {
	t.Parallel()
	var log record
	w := newHub(t, func(w *fixture) {
		w.Config.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
	})
	w.Start(ctx)
	w.AddAgents("arya")
	plain, revoked, unknown := w.MakeToken("arya"), w.MakeToken("arya"), parley.NewSecret()
	w.NoError(w.RevokeToken(ctx, user, revoked.ID))
	link := w.newSignInLink(scoped("user"), "user")
	session := resultOf[parley.MadeToken](w)(w.SignIn(ctx, link))
	w.holdCall(w.callerWithToken(plain))
	for _, secret := range []string{revoked.Secret, unknown, link} {
		_, err := w.Identify(ctx, secret)
		wantError(t, err, notKnown)
		_, err = w.SignIn(ctx, secret)
		wantError(t, err, linkUsed)
	}
	refuseRemoval(w, as("arya"))
	var told notebook
	told.note(w.AuditLog(ctx, user, 0, 1000))
	told.note(w.AuditEntriesWithRefusals(), nil)
	told.note(eventsAfter(w, 0), nil)
	tokens, _, err := w.Tokens(ctx, user, parley.TokenFilter{})
	told.note(tokens, err)
	w.Close()
	if !strings.Contains(log.String(), "calls with invalid tokens") {
		t.Errorf("the log does not say that strangers called:\n%s", log.String())
	}
	for name, secret := range map[string]string{
		"token": plain.Secret, "revoked token": revoked.Secret, "unknown token": unknown, "link": link, "session": session.Secret,
	} {
		bits := strings.TrimPrefix(secret, "parley_")
		found, err := stores.Containing(w.Place, bits)
		w.NoError(err)
		same(t, "stored with the secret of a "+name, found, []string{})
		if strings.Contains(told.String()+log.String(), bits) {
			t.Errorf("the secret of a %s was told", name)
		}
	}
	w.Open()
}
