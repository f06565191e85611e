package hub

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"golang.org/x/time/rate"

	"github.com/parley-hub/parley"
)

// Identify finds out who calls with a secret, and what the secret may be used for. E001 with the reason
// unauthenticated if it is nobody's. The door adds its own name.
func (h *Hub) Identify(ctx context.Context, secret string) (caller Caller, err error) {
	hash, ok := parley.HashSecret(secret)
	if !ok {
		return caller, h.strangers.refuse(h, errNotKnown())
	}
	err = h.store.View(ctx, func(tx parley.Tx) error {
		t, err := goodToken(tx, hash, h.now())
		if err == nil && (t.Kind == parley.TokenLink || t.Kind == parley.TokenApproval) {
			err = errNotKnown()
		}
		caller = Caller{Agent: t.Agent, Token: t.ID, Kind: t.Kind, Scopes: t.Scopes, Until: t.ExpiresAt}
		if t.Kind == parley.TokenRun {
			caller.Run = t.ID
		}
		return err
	})
	if err != nil {
		return Caller{}, h.strangers.refuse(h, h.explain(ctx, Caller{}, err))
	}
	return caller, nil
}

// goodToken finds the token of a secret that can be used by its holder.
func goodToken(tx parley.Tx, hash parley.TokenHash, now time.Time) (parley.Token, error) {
	t, err := tx.Tokens().Find(hash)
	if errors.Is(err, parley.ErrNotFound) {
		return t, errNotKnown()
	}
	if err != nil {
		return t, err
	}
	return t, usable(tx, t, now)
}

// usable says why a token cannot be used by its holder, or nil.
func usable(tx parley.Tx, t parley.Token, now time.Time) error {
	holder, err := tx.Agents().Find(t.Agent)
	switch {
	case err != nil:
		return err
	case holder.RemovedAt != nil || t.RevokedAt != nil:
		return errNotKnown()
	case !t.Good(now):
		return errExpired()
	}
	return nil
}

// errNotKnown is the same for a token that never was and one that was revoked.
func errNotKnown() error {
	return parley.Errorf(parley.NotPermitted, "this hub does not know the token").Because(parley.Unauthenticated).
		Suggest("ask an owner of this hub for a new one")
}

func errExpired() error {
	return parley.Errorf(parley.NotPermitted, "the token has expired").Because(parley.Unauthenticated).
		Suggest("ask an owner of this hub for a new one")
}

// strangers logs calls of nobody, now and then: whoever makes many must not fill the log.
type strangers struct {
	sometimes rate.Sometimes
	calls     atomic.Int64 // not logged yet
}

func newStrangers() *strangers { return &strangers{sometimes: rate.Sometimes{Interval: time.Minute}} }

func (s *strangers) refuse(h *Hub, err error) error {
	if e := parley.AsError(err); e.Reason == parley.Unauthenticated {
		s.calls.Add(1)
		s.sometimes.Do(func() {
			h.config.Log.Warn("calls with a token that is not good were refused", "calls", s.calls.Swap(0), "last", e.Message)
		})
	}
	return err
}
