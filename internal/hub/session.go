package hub

import (
	"context"
	"errors"
	"time"

	"github.com/parley-hub/parley"
)

const (
	linkLasts    = 10 * time.Minute
	sessionLasts = 30 * 24 * time.Hour
)

// NewLink makes the secret of a link by which a person signs in, once: owners for any person, people for
// themselves. The session it opens may be used for what the caller's own credential may, and ends no later.
func (h *Hub) NewLink(ctx context.Context, caller Caller, person string) (secret string, expires time.Time, err error) {
	secret = parley.NewSecret()
	err = h.update(ctx, caller, opMakeLink, func(s *scene) error {
		holder, err := s.tokenHolder(person)
		if err != nil {
			return err
		}
		if holder.Kind != parley.KindHuman {
			return parley.Errorf(parley.BadInput, "%s is no person", holder.ID).Suggest("make a token for it instead")
		}
		if len(caller.Scopes) == 0 {
			return parley.Errorf(parley.NotPermitted, "a credential without scopes makes no sign-in link").Suggest("use another one")
		}
		if err := s.mayHold(holder.ID); err != nil {
			return err
		}
		expires = s.now.Add(linkLasts)
		_, err = s.insertToken(parley.Token{
			Agent: holder.ID, Kind: parley.TokenLink, Scopes: caller.Scopes, ExpiresAt: &expires, SessionUntil: caller.Until,
		}, secret)
		return err
	})
	if err != nil {
		return "", time.Time{}, err
	}
	return secret, expires, nil
}

// SignIn opens a session with the secret of a link, which is used up. It makes the secrets of the session and
// of its page.
func (h *Hub) SignIn(ctx context.Context, secret string) (made parley.MadeToken, err error) {
	link, err := h.findLink(ctx, secret)
	if err != nil {
		return made, h.strangers.refuse(h.config.Log, err)
	}
	made.Page = parley.NewSecret()
	made.Secret = parley.SessionSecret(made.Page)
	err = h.update(ctx, Caller{Agent: link.Agent}, opSignIn, func(s *scene) error {
		if err := s.useUp(link.ID); err != nil {
			return err
		}
		made.Token, err = s.insertToken(parley.Token{
			Agent: link.Agent, Kind: parley.TokenSession, Scopes: link.Scopes, ExpiresAt: sessionEnd(s.now, link),
		}, made.Secret)
		return err
	})
	if err != nil {
		return parley.MadeToken{}, h.strangers.refuse(h.config.Log, err)
	}
	return made, nil
}

// useUp ends a link, unless somebody was faster.
func (s *scene) useUp(id string) error {
	link, err := s.Tokens().Get(id)
	if errors.Is(err, parley.ErrNotFound) || err == nil && !link.Good(s.now) {
		return errLinkUsed()
	}
	if err != nil {
		return err
	}
	link.RevokedAt = &s.now
	return s.Tokens().Put(link)
}

func (h *Hub) findLink(ctx context.Context, secret string) (link parley.Token, err error) {
	hash, ok := parley.HashSecret(secret)
	if !ok {
		return link, errLinkUsed()
	}
	err = h.store.View(ctx, func(tx parley.Tx) error {
		link, err = goodToken(tx, hash, h.now())
		if parley.CodeOf(err) == parley.NotPermitted || err == nil && link.Kind != parley.TokenLink {
			err = errLinkUsed()
		}
		return err
	})
	return link, h.explain(ctx, Caller{}, err)
}

func sessionEnd(now time.Time, link parley.Token) *time.Time {
	if until := link.SessionUntil; until != nil && until.Before(now.Add(sessionLasts)) {
		return until
	}
	return after(now, sessionLasts)
}

// errLinkUsed is the same for a link that never was, was used, or is too old.
func errLinkUsed() error {
	return parley.Errorf(parley.NotPermitted, "the sign-in link does not work, or not any more").Because(parley.Unauthenticated).
		Suggest("ask for a new one: each works once, for 10 minutes")
}
