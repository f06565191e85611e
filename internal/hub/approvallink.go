package hub

import (
	"context"
	"errors"
	"time"

	"github.com/parley-hub/parley"
)

// approvalLinkLasts is how long a person has to use a link, unless the approval expires before.
const approvalLinkLasts = 7 * 24 * time.Hour

// NewApprovalLink makes the secret of a link by which a person decides one approval, without signing in. It is good
// for nothing else, and for nothing any more once the approval is decided.
func (h *Hub) NewApprovalLink(ctx context.Context, approval, person string) (secret string, err error) {
	secret = parley.NewSecret()
	hash, _ := parley.HashSecret(secret)
	err = h.write(ctx, theHub, opItself, func(s *scene) error {
		a, err := s.Approvals().Get(approval)
		switch {
		case errors.Is(err, parley.ErrNotFound):
			return unknown{"approval", approval}
		case err != nil:
			return err
		case a.State != parley.ApprovalPending:
			return parley.Errorf(parley.BadInput, "approval %s is %s", a.ID, a.State).Because(parley.Conflict).Suggest("look at what was decided")
		}
		t, err := s.approvalToken(a, person)
		if err != nil {
			return err
		}
		return errors.Join(s.Tokens().Insert(t, hash),
			s.audit("approval.link", a.ID, map[string]any{"person": t.Agent, "token": t.ID, "expires_at": t.ExpiresAt}))
	})
	if err != nil {
		return "", err
	}
	return secret, nil
}

func (s *scene) approvalToken(a parley.Approval, name string) (parley.Token, error) {
	person, err := s.agent(name)
	if err != nil {
		return parley.Token{}, err
	}
	if person.Kind != parley.KindHuman {
		return parley.Token{}, parley.Errorf(parley.BadInput, "%s is no person", person.ID).Suggest("agents decide by their own credential")
	}
	expires := s.now.Add(approvalLinkLasts)
	if a.ExpiresAt != nil && a.ExpiresAt.Before(expires) {
		expires = *a.ExpiresAt
	}
	return parley.Token{
		ID: newID(), Agent: person.ID, Kind: parley.TokenApproval, Label: a.ID, Scopes: parley.Scopes{parley.ScopeDecide},
		CreatedBy: s.me.ID, CreatedAt: s.now, ExpiresAt: &expires,
	}, nil
}

// ApprovalByLink shows the approval of a link, decided or not, as long as its person may see it.
func (h *Hub) ApprovalByLink(ctx context.Context, secret string) (a parley.Approval, err error) {
	t, err := h.findApprovalLink(ctx, secret)
	if err != nil {
		return a, err
	}
	return h.Approval(ctx, Caller{Agent: t.Agent}, t.Label)
}

// DecideByLink decides the approval of a link, as the person it was made for.
func (h *Hub) DecideByLink(ctx context.Context, secret string, d parley.Decision) (parley.Approval, error) {
	t, err := h.findApprovalLink(ctx, secret)
	if err != nil {
		return parley.Approval{}, err
	}
	return h.Decide(ctx, Caller{
		Agent: t.Agent, Source: "link", Token: t.ID, Kind: t.Kind, Scopes: t.Scopes, Until: t.ExpiresAt,
	}, t.Label, d)
}

func (h *Hub) findApprovalLink(ctx context.Context, secret string) (t parley.Token, err error) {
	hash, ok := parley.HashSecret(secret)
	if !ok {
		return t, h.strangers.refuse(h.config.Log, errApprovalLink())
	}
	err = h.store.View(ctx, func(tx parley.Tx) error {
		t, err = goodToken(tx, hash, h.now())
		if parley.CodeOf(err) == parley.NotPermitted || err == nil && t.Kind != parley.TokenApproval {
			err = errApprovalLink()
		}
		return err
	})
	if err != nil {
		return parley.Token{}, h.strangers.refuse(h.config.Log, h.explain(ctx, Caller{}, err))
	}
	return t, nil
}

// errApprovalLink is the same for a link that never was and one that is too old.
func errApprovalLink() error {
	return parley.Errorf(parley.NotPermitted, "the link does not work, or not any more").Because(parley.Unauthenticated).
		Suggest("decide on the hub: parley approval list")
}
