package contact

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/approvals"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/post"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// Calls returns the calls of this package that can need an approval.
func Calls() map[string]unit.ApprovableCall {
	return map[string]unit.ApprovableCall{policy.ToolContact: unit.Approvable(ContactWords, prepareContact)}
}

// ContactWords returns what approvers read about a held contact.
func ContactWords(u *unit.Unit, _ string, c parley.Contact) (unit.CallWords, error) {
	name, err := approvals.DisplayName(u, c.Agent)
	return unit.CallWords{Wants: "contact " + name, Doing: "contacting " + name, Action: string(c.Pattern), Parts: c.ApprovalParts()}, err
}

func prepareContact(_ context.Context, as unit.Caller, c parley.Contact) (unit.Execution, error) {
	prepared := Prepare(c)
	return func(u *unit.Unit, a parley.Approval) (unit.Result, error) {
		contacted, wait, err := Contact(u, unit.Origin{Caller: as, Approved: &a}, prepared)
		switch {
		case err != nil || wait == nil:
		case !wait.State.Ended():
			return unit.Result{Waits: true}, nil
		default: // the ask was made in the meantime, with the same key
			now, err := work.FindOutcome(u, *wait)
			if err != nil {
				return unit.Result{}, err
			}
			if contacted, err = now.Outcome(*wait, contacted); err != nil {
				return unit.Result{Failure: parley.AsError(err)}, nil
			}
		}
		if err != nil {
			return unit.Result{}, err
		}
		notices, err := post.UnknownNoticesIn(u)
		return unit.Result{Text: unit.WithNotices(contacted.Text, append(contacted.Notices, notices...))}, err
	}, nil
}
