package access

import (
	"context"
	"errors"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

const (
	linkLasts    = 10 * time.Minute
	sessionLasts = 30 * 24 * time.Hour
)

// NewLink creates the secret of a link with which a person signs in, once. Owners create links for any person, people for
// themselves. The session has the scopes of the caller's credential, and ends no later.
func (s *Service) NewLink(ctx context.Context, caller unit.Caller, person string) (secret string, expires time.Time, err error) {
	secret = parley.NewSecret()
	err = s.Update(ctx, caller, unit.OpMakeLink, func(u *unit.Unit) error {
		holder, err := tokenHolder(u, person)
		if err != nil {
			return err
		}
		if holder.Kind != parley.KindHuman {
			return parley.Errorf(parley.BadInput, "%s is no person", holder.ID).Suggest("make a token for it instead")
		}
		if len(caller.Scopes) == 0 {
			return parley.Errorf(parley.NotPermitted, "a credential without scopes makes no sign-in link").Suggest("use another one")
		}
		if err := checkCredentialQuota(u, holder.ID); err != nil {
			return err
		}
		expires = u.Now.Add(linkLasts)
		_, err = addToken(u, parley.Token{
			Agent: holder.ID, Kind: parley.TokenLink, Scopes: caller.Scopes, ExpiresAt: &expires, SessionUntil: caller.Until,
		}, secret)
		return err
	})
	if err != nil {
		return "", time.Time{}, err
	}
	return secret, expires, nil
}

// SignIn opens a session with the secret of a link, which then works no more. It creates the secrets of the session and of
// its page.
func (s *Service) SignIn(ctx context.Context, secret string) (made parley.MadeToken, err error) {
	link, err := findLink(ctx, s.Core, secret)
	if err != nil {
		return made, s.UnknownCallers.Refuse(s.Config.Log, err)
	}
	made.Page = parley.NewSecret()
	made.Secret = parley.SessionSecret(made.Page)
	err = s.Update(ctx, unit.Caller{Agent: link.Agent}, unit.OpSignIn, func(u *unit.Unit) error {
		if err := consumeLink(u, link.ID); err != nil {
			return err
		}
		made.Token, err = addToken(u, parley.Token{
			Agent: link.Agent, Kind: parley.TokenSession, Scopes: link.Scopes, ExpiresAt: sessionEnd(u.Now, link),
		}, made.Secret)
		return err
	})
	if err != nil {
		return parley.MadeToken{}, s.UnknownCallers.Refuse(s.Config.Log, err)
	}
	return made, nil
}

// consumeLink ends a link. It returns an error if the link was used already.
func consumeLink(u *unit.Unit, id string) error {
	link, err := u.Tokens().Get(id)
	if errors.Is(err, parley.ErrNotFound) || err == nil && !link.Valid(u.Now) {
		return errLinkUsed()
	}
	if err != nil {
		return err
	}
	link.RevokedAt = &u.Now
	return SaveToken(u.Tx, link)
}

// findLink returns the link with a secret. It returns the same error for every link that does not work.
func findLink(ctx context.Context, core *unit.Core, secret string) (link parley.Token, err error) {
	hash, ok := parley.HashSecret(secret)
	if !ok {
		return link, errLinkUsed()
	}
	err = core.Store.View(ctx, func(tx storage.Tx) error {
		link, err = GoodToken(tx, hash, core.Now())
		if parley.CodeOf(err) == parley.NotPermitted || err == nil && link.Kind != parley.TokenLink {
			err = errLinkUsed()
		}
		return err
	})
	return link, core.Explain(ctx, unit.Caller{}, err)
}

// sessionEnd returns when the session of a link ends.
func sessionEnd(now time.Time, link parley.Token) *time.Time {
	if until := link.SessionUntil; until != nil && until.Before(now.Add(sessionLasts)) {
		return until
	}
	return unit.After(now, sessionLasts)
}

// errLinkUsed returns the same error for a link that never existed, was used, or has expired.
func errLinkUsed() error {
	return parley.Errorf(parley.NotPermitted, "the sign-in link does not work, or not any more").Because(parley.Unauthenticated).
		Suggest("ask for a new one: each works once, for 10 minutes")
}
