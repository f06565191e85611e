package access

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

const (
	minTokenLife = time.Second
	maxTokenLife = 10 * 365 * 24 * time.Hour
	// tokensKept is how long lists include an ended token.
	tokensKept = 30 * 24 * time.Hour
	tokenPage  = 100
)

// NewToken creates a token. Owners create tokens for anybody, other people for themselves, and agents none. The token has no
// scope that the caller's own credential lacks, and ends no later. Only the result holds the secret.
func (s *Service) NewToken(ctx context.Context, caller unit.Caller, n parley.NewToken) (made parley.MadeToken, err error) {
	if n.Scopes, err = checkNewToken(n); err != nil {
		return made, err
	}
	secret := parley.NewSecret()
	err = s.Update(ctx, caller, unit.OpMakeToken, func(u *unit.Unit) error {
		holder, err := tokenHolder(u, n.Agent)
		if err != nil {
			return err
		}
		t := parley.Token{Agent: holder.ID, Kind: parley.TokenPlain, Label: n.Label, Scopes: n.Scopes}
		if n.For > 0 {
			t.ExpiresAt = unit.After(u.Now, n.For)
		}
		if err := checkWithin(caller, t); err != nil {
			return err
		}
		if err := checkCredentialQuota(u, holder.ID); err != nil {
			return err
		}
		made.Token, err = addToken(u, t, secret)
		return err
	})
	if err != nil {
		return parley.MadeToken{}, err
	}
	made.Secret = secret
	return made, nil
}

// checkNewToken returns the scopes of a new token, or E003 if the request is not valid.
func checkNewToken(n parley.NewToken) (parley.Scopes, error) {
	if n.For != 0 && (n.For < minTokenLife || n.For > maxTokenLife) {
		return nil, parley.Errorf(parley.BadInput, "a token cannot be valid for %s", n.For).Suggest("use 1s to 10 years, or leave the time out: the token is then valid until somebody revokes it")
	}
	if err := parley.CheckLabel(n.Label); err != nil {
		return nil, err
	}
	if len(n.Scopes) == 0 {
		n.Scopes = parley.Scopes{parley.ScopeRead, parley.ScopeSend}
	}
	return n.Scopes.Check()
}

// tokenHolder returns the participant that the caller wants a credential for, if the caller may create one.
func tokenHolder(u *unit.Unit, name string) (parley.Agent, error) {
	if u.Me.Kind == parley.KindAgent {
		return u.Me, parley.Errorf(parley.NotPermitted, "agents cannot create tokens").Suggest("ask an owner of this hub")
	}
	if name == "" {
		name = u.Me.ID
	}
	holder, err := agents.Agent(u, name)
	if err != nil {
		return holder, err
	}
	switch {
	case holder.Kind == parley.KindSystem:
		return holder, parley.Errorf(parley.NotPermitted, "%s is the hub itself and cannot have tokens", holder.ID).Suggest("name an agent or a person")
	case holder.ID != u.Me.ID && !u.SeesAll():
		return holder, parley.Errorf(parley.NotPermitted, "only an owner may create a token for another participant").Suggest("ask an owner of this hub")
	}
	return holder, nil
}

// checkWithin returns an error if a credential had scopes that the caller's own lacks, or would end later.
func checkWithin(caller unit.Caller, t parley.Token) error {
	if beyond := t.Scopes.Without(caller.Scopes); len(beyond) > 0 {
		return parley.Errorf(parley.NotPermitted, "your credential cannot create a token with the scopes %s: it does not have these scopes",
			beyond.Join(", ")).Suggest("leave these scopes out, or use another credential")
	}
	if caller.Until != nil && (t.ExpiresAt == nil || t.ExpiresAt.After(*caller.Until)) {
		return parley.Errorf(parley.NotPermitted, "the token would be valid longer than your credential").
			Suggest("choose an end before %s", caller.Until.Format(time.RFC3339))
	}
	return nil
}

// addToken stores a credential with a new id, and audits it.
func addToken(u *unit.Unit, t parley.Token, secret string) (parley.Token, error) {
	hash, ok := parley.HashSecret(secret)
	if !ok {
		return t, errors.New("the hub made a malformed secret")
	}
	t.ID, t.CreatedBy, t.CreatedAt = unit.NewID(), u.Me.ID, u.Now
	if err := InsertToken(u.Tx, t, hash); err != nil {
		return t, err
	}
	if t.Kind != parley.TokenLink {
		u.Note(tokenEvent(parley.EventTokenCreated, t))
	}
	return t, Audit(u, string(t.Kind)+".new", t.ID, map[string]any{
		"agent": t.Agent, "label": t.Label, "scopes": t.Scopes, "expires_at": t.ExpiresAt,
	})
}

func tokenEvent(kind parley.EventKind, t parley.Token) parley.Event {
	return parley.Event{Kind: kind, Agent: t.Agent, Data: json.RawMessage(fmt.Sprintf(`{"token":%q}`, t.ID))}
}

// Tokens lists credentials, the newest first: the caller's own, or for owners those of one participant or of all. next is
// where the next page begins, or "".
func (s *Service) Tokens(ctx context.Context, caller unit.Caller, f parley.TokenFilter) (list []parley.Token, next string, err error) {
	f.Limit = unit.Clamp(f.Limit, tokenPage, 1000)
	err = s.View(ctx, caller, unit.OpListTokens, func(u *unit.Unit) error {
		if f.Agent, err = whoseTokens(u, f.Agent); err != nil {
			return err
		}
		list, err = u.Tokens().List(f)
		return err
	})
	if len(list) == f.Limit {
		next = list[len(list)-1].ID
	}
	return list, next, err
}

// whoseTokens returns the id of the participant whose tokens the caller lists, or "" for those of all.
func whoseTokens(u *unit.Unit, name string) (string, error) {
	if name == "" {
		if u.SeesAll() {
			return "", nil
		}
		return u.Me.ID, nil
	}
	holder, err := agents.Agent(u, name)
	if err == nil && holder.ID != u.Me.ID {
		err = u.MustOwn("see the tokens of others")
	}
	return holder.ID, err
}

// RevokeToken ends a credential, from the next call on, and everything it holds open. Its holder may do that, and owners
// with the scope admin. Revoking it again changes nothing.
func (s *Service) RevokeToken(ctx context.Context, caller unit.Caller, id string) error {
	return revokeToken(ctx, s.Core, caller, unit.OpRevokeToken, id)
}

// EndSession ends the session of the caller's browser.
func (s *Service) EndSession(ctx context.Context, caller unit.Caller) error {
	return revokeToken(ctx, s.Core, caller, unit.OpEndSession, caller.Token)
}

func revokeToken(ctx context.Context, core *unit.Core, caller unit.Caller, do unit.Op, id string) error {
	return core.Update(ctx, caller, do, func(u *unit.Unit) error {
		t, err := u.Tokens().Get(id)
		if errors.Is(err, parley.ErrNotFound) || err == nil && t.Agent != u.Me.ID && !u.SeesAll() {
			return unit.Unknown{Noun: "token", Name: id}
		}
		if err != nil || t.RevokedAt != nil {
			return err
		}
		if t.Agent != u.Me.ID && caller.Token != "" && !caller.Scopes.Has(parley.ScopeAdmin) {
			return parley.Errorf(parley.NotPermitted, "your credential cannot revoke the tokens of others: it lacks the scope %s",
				parley.ScopeAdmin).Suggest("use another credential")
		}
		return errors.Join(revoke(u, t), Audit(u, "token.revoke", t.ID, map[string]any{"agent": t.Agent}))
	})
}

func revoke(u *unit.Unit, t parley.Token) error {
	t.RevokedAt = &u.Now
	u.Note(tokenEvent(parley.EventTokenRevoked, t))
	return SaveToken(u.Tx, t)
}

// RevokeAll ends all credentials of a participant.
func RevokeAll(u *unit.Unit, holder string) error {
	f := parley.TokenFilter{Agent: holder, Limit: tokenPage}
	for {
		list, err := u.Tokens().List(f)
		if err != nil || len(list) == 0 {
			return err
		}
		for _, t := range list {
			if t.RevokedAt == nil {
				if err := revoke(u, t); err != nil {
					return err
				}
			}
			f.Before = t.ID
		}
	}
}

// ForgetTokens erases credentials that ended long ago. It erases links and the tokens of runs and approvals at once, and the
// reply tokens of webhooks after an hour.
func ForgetTokens(ctx context.Context, core *unit.Core) error {
	for kind, kept := range map[parley.TokenKind]time.Duration{
		parley.TokenPlain: tokensKept, parley.TokenSession: tokensKept, parley.TokenLink: 0, parley.TokenApproval: 0,
		parley.TokenRun: 0, parley.TokenBearer: 0, parley.TokenReply: repliesKept,
	} {
		_, err := core.Repeat(ctx, func(tx storage.Tx) (int, error) {
			return tx.Tokens().Forget(kind, core.Now().Add(-kept), unit.PurgeBatch)
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// repliesKept is how long the hub remembers a reply token after its answer, so that a webhook that lost the receipt can
// repeat the answer.
const repliesKept = time.Hour

// KeptReply reports whether a token is the reply token of a run that ended with an answer.
func KeptReply(t parley.Token) bool { return t.Kind == parley.TokenReply && t.RevokedAt != nil }

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
			return parley.Errorf(parley.BadInput, "%s is not a person", holder.ID).Suggest("create a token for it instead")
		}
		if len(caller.Scopes) == 0 {
			return parley.Errorf(parley.NotPermitted, "a credential without scopes cannot create a sign-in link").Suggest("use another credential")
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
	return parley.Errorf(parley.NotPermitted, "the sign-in link is invalid, used or expired").Because(parley.Unauthenticated).
		Suggest("ask for a new link: each works once, within 10 minutes")
}
