package decisions

import (
	"context"
	"errors"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// linkLifetime is how long a person can use a link, unless the approval expires earlier.
const linkLifetime = 7 * 24 * time.Hour

// NewApprovalLink makes the secret of a link with which a person decides one approval without signing in. The link allows
// nothing else, and stops working once the approval is decided.
func (s *Service) NewApprovalLink(ctx context.Context, approval, person string) (secret string, err error) {
	secret = parley.NewSecret()
	hash, _ := parley.HashSecret(secret)
	err = s.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		a, err := u.Approvals().Get(approval)
		switch {
		case errors.Is(err, parley.ErrNotFound):
			return unit.Unknown{Noun: "approval", Name: approval}
		case err != nil:
			return err
		case a.State != parley.ApprovalPending:
			return parley.Errorf(parley.BadInput, "approval %s is %s", a.ID, a.State).Because(parley.Conflict).Suggest("see the decision: parley approval show %s", a.ShortName())
		}
		t, err := linkToken(u, a, person)
		if err != nil {
			return err
		}
		return errors.Join(access.InsertToken(u.Tx, t, hash),
			access.Audit(u, "approval.link", a.ID, map[string]any{"approval": a.ShortName(), "person": t.Agent, "token": t.ID, "expires_at": t.ExpiresAt}))
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

func linkToken(u *unit.Unit, a parley.Approval, name string) (parley.Token, error) {
	person, err := agents.Agent(u, name)
	if err != nil {
		return parley.Token{}, err
	}
	if person.Kind != parley.KindHuman {
		return parley.Token{}, parley.Errorf(parley.BadInput, "%s is not a person", person.ID).Suggest("agents decide with their own credential")
	}
	expires := u.Now.Add(linkLifetime)
	if a.ExpiresAt != nil && a.ExpiresAt.Before(expires) {
		expires = *a.ExpiresAt
	}
	return parley.Token{
		ID: unit.NewID(), Agent: person.ID, Kind: parley.TokenApproval, Label: a.ID, Scopes: parley.Scopes{parley.ScopeDecide},
		CreatedBy: u.Me.ID, CreatedAt: u.Now, ExpiresAt: &expires,
	}, nil
}

// ApprovalByLink shows the approval of a link, decided or not, while its person may see it.
func (s *Service) ApprovalByLink(ctx context.Context, secret string) (a parley.Approval, err error) {
	t, err := s.findLink(ctx, secret)
	if err != nil {
		return a, err
	}
	return s.Approval(ctx, unit.Caller{Agent: t.Agent}, t.Label)
}

// DecideByLink decides the approval of a link, as the person for whom the link was made.
func (s *Service) DecideByLink(ctx context.Context, secret string, d parley.Decision) (parley.Approval, error) {
	t, err := s.findLink(ctx, secret)
	if err != nil {
		return parley.Approval{}, err
	}
	return s.Decide(ctx, unit.Caller{
		Agent: t.Agent, Source: "link", Token: t.ID, Kind: t.Kind, Scopes: t.Scopes, Until: t.ExpiresAt,
	}, t.Label, d)
}

func (s *Service) findLink(ctx context.Context, secret string) (t parley.Token, err error) {
	hash, ok := parley.HashSecret(secret)
	if !ok {
		return t, s.access.UnknownCallers.Refuse(s.Config.Log, errBadLink())
	}
	err = s.Store.View(ctx, func(tx storage.Tx) error {
		t, err = access.GoodToken(tx, hash, s.Now())
		if parley.CodeOf(err) == parley.NotPermitted || err == nil && t.Kind != parley.TokenApproval {
			err = errBadLink()
		}
		return err
	})
	if err != nil {
		return parley.Token{}, s.access.UnknownCallers.Refuse(s.Config.Log, s.Explain(ctx, unit.Caller{}, err))
	}
	return t, nil
}

// errBadLink returns the same error for a link that never existed and for an expired one.
func errBadLink() error {
	return parley.Errorf(parley.NotPermitted, "the link is not valid, or has expired").Because(parley.Unauthenticated).
		Suggest("decide without a link: parley approval list")
}
