package holding

import (
	"fmt"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/approvals"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// PassApprovals asks again for the pending approvals of an agent that has another manager now.
func PassApprovals(u *unit.Unit, agent string) error {
	list, err := u.Approvals().Pending(agent)
	for _, a := range list {
		if err == nil && a.State == parley.ApprovalPending {
			err = passApproval(u, a.ID)
		}
	}
	return err
}

// passApproval asks the new decider of an approval, and withdraws the request from the old one.
func passApproval(u *unit.Unit, id string) error {
	a, err := u.Approvals().Get(id)
	if err != nil {
		return err
	}
	decider, err := approvals.Decider(u, a)
	if err != nil || decider == a.Decider {
		return err
	}
	if err := work.Unask(u, a); err != nil {
		return err
	}
	a.Decider = decider
	if err := approvals.SaveRow(u.Tx, a); err != nil {
		return err
	}
	if err := askDeciders(u, a, approvals.SummaryAgain(u, a), fmt.Sprintf("approval/%s/%s", a.ID, unit.NewID())); err != nil {
		return err
	}
	return work.Needs(u, a.Decider)
}

// Remind asks for an approval again. The next reminder is due when the request is twice as old, at most a day later.
func Remind(u *unit.Unit, a *parley.Approval) error {
	waited := u.Now.Sub(a.CreatedAt)
	a.RemindAt = unit.After(u.Now, min(max(waited, time.Minute), approvals.RemindMost))
	if err := approvals.SaveRow(u.Tx, *a); err != nil {
		return err
	}
	return askDeciders(u, *a, parley.Own("Reminder: ").Join(approvals.SummaryAgain(u, *a)), fmt.Sprintf("approval/%s/%d", a.ID, u.Now.Unix()))
}
