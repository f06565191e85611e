package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/parley-hub/parley"
)

const (
	shortestToken = time.Second
	longestToken  = 10 * 365 * 24 * time.Hour
	// tokensKept is how long an ended token is still listed.
	tokensKept = 30 * 24 * time.Hour
	tokenPage  = 100
)

// NewToken makes a token: owners for anybody, other people for themselves, agents for nobody. It may be
// used for nothing that the caller's own credential may not, and ends no later. Its secret is told once.
func (h *Hub) NewToken(ctx context.Context, caller Caller, n parley.NewToken) (made parley.MadeToken, err error) {
	if n.Scopes, err = checkNewToken(n); err != nil {
		return made, err
	}
	secret := parley.NewSecret()
	err = h.update(ctx, caller, opMakeToken, func(s *scene) error {
		holder, err := s.tokenHolder(n.Agent)
		if err != nil {
			return err
		}
		t := parley.Token{Agent: holder.ID, Kind: parley.TokenPlain, Label: n.Label, Scopes: n.Scopes}
		if n.For > 0 {
			t.ExpiresAt = after(s.now, n.For)
		}
		if err := within(caller, t); err != nil {
			return err
		}
		if err := s.mayHold(holder.ID); err != nil {
			return err
		}
		made.Token, err = s.insertToken(t, secret)
		return err
	})
	if err != nil {
		return parley.MadeToken{}, err
	}
	made.Secret = secret
	return made, nil
}

func checkNewToken(n parley.NewToken) (parley.Scopes, error) {
	if n.For != 0 && (n.For < shortestToken || n.For > longestToken) {
		return nil, parley.Errorf(parley.BadInput, "a token cannot last %s", n.For).Suggest("let it last 1s to 10 years, or until it is revoked")
	}
	if err := parley.CheckLabel(n.Label); err != nil {
		return nil, err
	}
	if len(n.Scopes) == 0 {
		n.Scopes = parley.Scopes{parley.ScopeRead, parley.ScopeSend}
	}
	return n.Scopes.Check()
}

func after(now time.Time, d time.Duration) *time.Time {
	t := now.Add(d).Truncate(time.Millisecond)
	return &t
}

// tokenHolder finds whom the caller may make a credential for.
func (s *scene) tokenHolder(name string) (parley.Agent, error) {
	if s.me.Kind == parley.KindAgent {
		return s.me, parley.Errorf(parley.NotPermitted, "agents make no tokens").Suggest("ask an owner of this hub")
	}
	if name == "" {
		name = s.me.ID
	}
	holder, err := s.agent(name)
	if err != nil {
		return holder, err
	}
	switch {
	case holder.Kind == parley.KindSystem:
		return holder, parley.Errorf(parley.NotPermitted, "%s has no tokens", holder.ID).Suggest("it is the hub itself")
	case holder.ID != s.me.ID && !s.seesAll():
		return holder, parley.Errorf(parley.NotPermitted, "only an owner may make a token for somebody else").Suggest("ask an owner of this hub")
	}
	return holder, nil
}

// within refuses a credential that could do more than the one it is made with, or would outlive it.
func within(caller Caller, t parley.Token) error {
	if beyond := t.Scopes.Beyond(caller.Scopes); len(beyond) > 0 {
		return parley.Errorf(parley.NotPermitted, "the credential in use cannot make a token with the scopes %s: it does not have them",
			beyond.Join(", ")).Suggest("leave them out, or use another credential")
	}
	if caller.Until != nil && (t.ExpiresAt == nil || t.ExpiresAt.After(*caller.Until)) {
		return parley.Errorf(parley.NotPermitted, "the token would outlive the credential it is made with").
			Suggest("let it end before %s", caller.Until.Format(time.RFC3339))
	}
	return nil
}

// insertToken stores a credential, which gets its id here.
func (s *scene) insertToken(t parley.Token, secret string) (parley.Token, error) {
	hash, ok := parley.HashSecret(secret)
	if !ok {
		return t, errors.New("a secret of a wrong form was made")
	}
	t.ID, t.CreatedBy, t.CreatedAt = newID(), s.me.ID, s.now
	if err := s.Tokens().Insert(t, hash); err != nil {
		return t, err
	}
	if t.Kind != parley.TokenLink {
		s.note(tokenEvent(parley.EventTokenCreated, t))
	}
	return t, s.audit(string(t.Kind)+".new", t.ID, map[string]any{
		"agent": t.Agent, "label": t.Label, "scopes": t.Scopes, "expires_at": t.ExpiresAt,
	})
}

func tokenEvent(kind parley.EventKind, t parley.Token) parley.Event {
	return parley.Event{Kind: kind, Agent: t.Agent, Data: json.RawMessage(fmt.Sprintf(`{"token":%q}`, t.ID))}
}

// Tokens lists credentials, the newest first, and says where to go on, or "": the caller's own; for
// owners those of anybody, or of all.
func (h *Hub) Tokens(ctx context.Context, caller Caller, f parley.TokenFilter) (list []parley.Token, next string, err error) {
	f.Limit = clamp(f.Limit, tokenPage, 1000)
	err = h.view(ctx, caller, opListTokens, func(s *scene) error {
		if f.Agent, err = s.whoseTokens(f.Agent); err != nil {
			return err
		}
		list, err = s.Tokens().List(f)
		return err
	})
	if len(list) == f.Limit {
		next = list[len(list)-1].ID
	}
	return list, next, err
}

func (s *scene) whoseTokens(name string) (string, error) {
	if name == "" {
		if s.seesAll() {
			return "", nil
		}
		return s.me.ID, nil
	}
	holder, err := s.agent(name)
	if err == nil && holder.ID != s.me.ID {
		err = s.mustOwn("see the tokens of others")
	}
	return holder.ID, err
}

// RevokeToken ends a credential, from the next call on; what it holds open ends too. Its holder may, and
// owners whose own credential is good for administration. Doing it again changes nothing.
func (h *Hub) RevokeToken(ctx context.Context, caller Caller, id string) error {
	return h.revokeToken(ctx, caller, opRevokeToken, id)
}

// EndSession signs the caller out of its browser.
func (h *Hub) EndSession(ctx context.Context, caller Caller) error {
	return h.revokeToken(ctx, caller, opEndSession, caller.Token)
}

func (h *Hub) revokeToken(ctx context.Context, caller Caller, do op, id string) error {
	return h.update(ctx, caller, do, func(s *scene) error {
		t, err := s.Tokens().Get(id)
		if errors.Is(err, parley.ErrNotFound) || err == nil && t.Agent != s.me.ID && !s.seesAll() {
			return unknown{"token", id}
		}
		if err != nil || t.RevokedAt != nil {
			return err
		}
		if t.Agent != s.me.ID && caller.Token != "" && !caller.Scopes.Has(parley.ScopeAdmin) {
			return parley.Errorf(parley.NotPermitted, "the credential in use cannot revoke the tokens of others: it lacks the scope %s",
				parley.ScopeAdmin).Suggest("use another credential")
		}
		return errors.Join(s.revoke(t), s.audit("token.revoke", t.ID, map[string]any{"agent": t.Agent}))
	})
}

func (s *scene) revoke(t parley.Token) error {
	t.RevokedAt = &s.now
	s.note(tokenEvent(parley.EventTokenRevoked, t))
	return s.Tokens().Put(t)
}

// revokeAll ends all credentials of a participant.
func (s *scene) revokeAll(holder string) error {
	f := parley.TokenFilter{Agent: holder, Limit: tokenPage}
	for {
		list, err := s.Tokens().List(f)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, t := range list {
			if t.RevokedAt == nil {
				if err := s.revoke(t); err != nil {
					return err
				}
			}
			f.Before = t.ID
		}
	}
}

// forgetTokens erases credentials that ended long ago, those that answered for a webhook sooner, and links and those of runs and
// approvals at once.
func (h *Hub) forgetTokens(ctx context.Context) error {
	for kind, kept := range map[parley.TokenKind]time.Duration{
		parley.TokenPlain: tokensKept, parley.TokenSession: tokensKept, parley.TokenLink: 0, parley.TokenApproval: 0,
		parley.TokenRun: 0, parley.TokenBearer: 0, parley.TokenReply: repliesKept,
	} {
		_, err := h.repeat(ctx, func(tx parley.Tx) (int, error) {
			return tx.Tokens().Forget(kind, h.now().Add(-kept), purgeBatch)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
