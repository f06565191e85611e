package post

import (
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/approvals"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// mustDecide refuses a reply to a request for an approval, while the approval is pending and the sender may decide it. The sender would
// take its words for the decision, and the request would leave its inbox. The text with which a run ends is not refused: nobody could
// write it again.
func mustDecide(u *unit.Unit, request parley.Message) error {
	id := work.ApprovalAskedFor(request)
	if id == "" || request.Source != approvals.SourceApproval {
		return nil
	}
	a, err := approvals.Find(u, id)
	if _, unknown := errors.AsType[unit.Unknown](err); unknown || err == nil && a.State != parley.ApprovalPending {
		return nil
	}
	if err == nil {
		err = approvals.CheckMayDecide(u, a)
	}
	switch {
	case parley.CodeOf(err) == parley.NotPermitted:
		return nil
	case err != nil:
		return err
	}
	refused := parley.Errorf(parley.BadInput, "%s asks for a decision; a reply does not decide it", request.ShortName()).Because(parley.Conflict)
	if u.Bridged { // a file does not prove who wrote it
		return refused.Suggest("ask an owner of this hub to decide %s; nobody can decide over a bridge", a.ShortName())
	}
	return refused.Suggest("decide %s: parley approval approve %[1]s, or parley approval deny %[1]s", a.ShortName())
}
