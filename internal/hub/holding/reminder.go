package holding

import (
	"fmt"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/approvals"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// ReassignApprovals asks again for the pending approvals of an agent that has another manager now.
func ReassignApprovals(u *unit.Unit, agent string) error {
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
	decider, err := approvals.FindDecider(u, a)
	if err != nil || decider == a.Decider {
		return err
	}
	if err := work.SettleRequests(u, a); err != nil {
		return err
	}
	a.Decider = decider
	if err := approvals.SaveRow(u.Tx, a); err != nil {
		return err
	}
	if err := askDeciders(u, a, approvals.RepeatSummary(u, a), fmt.Sprintf("approval/%s/%s", a.ID, unit.NewID())); err != nil {
		return err
	}
	return work.FreeIfWaiting(u, a.Decider)
}

// RemindDeciders asks for an approval again. The next reminder is due when the request is twice as old, at most a day later.
func RemindDeciders(u *unit.Unit, a *parley.Approval) error {
	waited := u.Now.Sub(a.CreatedAt)
	a.RemindAt = unit.After(u.Now, min(max(waited, time.Minute), approvals.LongestReminderPause))
	if err := approvals.SaveRow(u.Tx, *a); err != nil {
		return err
	}
	return askDeciders(u, *a, parley.Own("Reminder: ").Join(approvals.RepeatSummary(u, *a)), fmt.Sprintf("approval/%s/%d", a.ID, u.Now.Unix()))
}
