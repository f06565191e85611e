package hub_test

import (
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

func (w *fixture) approvalLinkFor(a parley.Approval, person string) string {
	w.T.Helper()
	return resultOf[string](w)(w.NewApprovalLink(ctx, a.ID, person))
}

func TestALinkDecidesOneApprovalOnce(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	one, other := w.postHeldMessage("one"), w.postHeldMessage("other")
	secret := w.approvalLinkFor(one, "user")
	same(t, "shown", resultOf[parley.Approval](w)(w.ApprovalByLink(ctx, secret)), one)
	decided := resultOf[parley.Approval](w)(w.DecideByLink(ctx, secret, parley.Decision{Note: "not now"}))
	same(t, "decided", []any{decided.ID, decided.State, decided.DecidedBy, decided.Note}, []any{one.ID, parley.ApprovalDenied, "user", "not now"})
	last := w.AuditEntriesWithRefusals()
	same(t, "audited", strings.Contains(string(last[len(last)-1].Detail), `"source":"link"`), true)

	_, err := w.DecideByLink(ctx, secret, parley.Decision{Approve: true})
	same(t, "the second time", parley.AsError(err).Reason, parley.Conflict)
	same(t, "shown afterwards", resultOf[parley.Approval](w)(w.ApprovalByLink(ctx, secret)).State, parley.ApprovalDenied)
	same(t, "the other", resultOf[parley.Approval](w)(w.Approval(ctx, user, other.ID)).State, parley.ApprovalPending)
	_, err = w.NewApprovalLink(ctx, one.ID, "user")
	same(t, "a link for what is decided", parley.AsError(err).Reason, parley.Conflict)
}

// TestALinkOfAnApprovalIsNoCredential: whoever sees it can decide that approval, and do nothing else.
func TestALinkOfAnApprovalIsNoCredential(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	a := w.postHeldMessage("one")
	secret := w.approvalLinkFor(a, "user")
	_, err := w.Identify(ctx, secret)
	same(t, "as a token", parley.AsError(err).Reason, parley.Unauthenticated)
	_, err = w.SignIn(ctx, secret)
	same(t, "as a sign-in link", parley.AsError(err).Reason, parley.Unauthenticated)
	for name, wrong := range map[string]string{
		"a token": w.MakeToken("user", parley.AllScopes()...).Secret, "a sign-in link": w.newSignInLink(owner(), "user"),
		"nothing": "", "no secret": "x", "a secret nobody has": parley.NewSecret(),
	} {
		_, err := w.ApprovalByLink(ctx, wrong)
		_, deciding := w.DecideByLink(ctx, wrong, parley.Decision{Approve: true})
		for _, err := range []error{err, deciding} {
			same(t, name, parley.AsError(err).Reason, parley.Unauthenticated)
		}
	}
	tokens, _, err := w.Tokens(ctx, user, parley.TokenFilter{})
	w.NoError(err)
	for _, one := range tokens {
		same(t, "listed", one.Kind == parley.TokenApproval, false)
	}
}

func owner() hub.Caller { return hub.Caller{Agent: parley.Owner, Scopes: parley.AllScopes()} }

func TestALinkEndsWithItsTime(t *testing.T) {
	t.Parallel()
	const day = 24 * time.Hour
	for name, c := range map[string]struct{ expire, lasts time.Duration }{
		"a week": {0, 7 * day}, "a day, as its approval does": {day, day},
	} {
		t.Run(name, func(t *testing.T) {
			w := newHub(t, func(w *fixture) { w.Config.Approvals.Expire = c.expire })
			w.AddAgents("arya", "gendry")
			secret := w.approvalLinkFor(w.postHeldMessage("one"), "user")
			w.Clock.Advance(c.lasts - time.Millisecond)
			resultOf[parley.Approval](w)(w.ApprovalByLink(ctx, secret))
			w.Clock.Advance(time.Millisecond)
			_, err := w.DecideByLink(ctx, secret, parley.Decision{Approve: true})
			same(t, "too late", parley.AsError(err).Reason, parley.Unauthenticated)
		})
	}
}

func TestALinkIsItsPersons(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	w.AddPerson("sansa", parley.AccessOwner)
	a := w.postHeldMessage("one")
	for _, nobody := range []string{"arya", "nobody"} {
		if _, err := w.NewApprovalLink(ctx, a.ID, nobody); parley.CodeOf(err) != parley.BadInput {
			t.Errorf("a link for %s: %v", nobody, err)
		}
	}
	if _, err := w.NewApprovalLink(ctx, "nothing", "user"); parley.AsError(err).Reason != parley.NotFound {
		t.Errorf("a link for nothing: %v", err)
	}
	gone, member := w.approvalLinkFor(a, "sansa"), w.approvalLinkFor(a, "user")
	w.NoError(w.RemoveAgent(ctx, user, "sansa"))
	_, err := w.DecideByLink(ctx, gone, parley.Decision{Approve: true})
	same(t, "of one who left", parley.AsError(err).Reason, parley.Unauthenticated)
	same(t, "of another", resultOf[parley.Approval](w)(w.DecideByLink(ctx, member, parley.Decision{})).State, parley.ApprovalDenied)
}
