// Package holding holds storing a call that needs an approval, and asking the approvers.
package holding

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/approvals"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/notices"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// HoldIfNeeded stores a call whose transaction ended with unit.HeldBy, asks for its approval, and returns a *parley.Held. It returns any
// other error unchanged. args are the arguments of the call, as unit.Approvable of the tool reads them.
func HoldIfNeeded(ctx context.Context, core *unit.Core, caller unit.Caller, err error, tool string, args any) error {
	hold, held := errors.AsType[unit.HeldBy](err)
	if !held {
		return err
	}
	if hold.Draft != nil {
		args = *hold.Draft
	}
	raw, err := json.Marshal(args)
	if err != nil {
		return err
	}
	return storeHeld(ctx, core, caller, parley.HeldCall{Tool: tool, Args: raw}, hold.Target, hold.Verdict)
}

// storeHeld stores a call that needs an approval and asks for it. While the same call is pending, it returns the same approval. It
// returns a *parley.Held, or the error that kept it from storing the call.
func storeHeld(ctx context.Context, core *unit.Core, caller unit.Caller, call parley.HeldCall, target string, rule parley.Verdict) error {
	call, err := call.Canonical()
	if err != nil {
		return err
	}
	var a parley.Approval
	err = core.Write(ctx, caller, unit.OpIdentify, func(u *unit.Unit) (err error) {
		a, err = requestApproval(u, caller, call, target, rule, nil)
		return err
	})
	if err != nil {
		return err
	}
	return &parley.Held{Approval: a}
}

// RequestToolUse makes the approval of a call of a tool outside of the hub, and asks the approvers. The approval expires at a time. call
// must be in canonical form.
func RequestToolUse(u *unit.Unit, caller unit.Caller, call parley.HeldCall, rule parley.Verdict, expires time.Time) (parley.Approval, error) {
	return requestApproval(u, caller, call, "", rule, &expires)
}

// requestApproval makes the approval of a call and asks the approvers, unless an earlier request covers the call. Without expires, the
// configuration says when the approval expires.
func requestApproval(u *unit.Unit, caller unit.Caller, call parley.HeldCall, target string, rule parley.Verdict, expires *time.Time) (a parley.Approval, err error) {
	a = parley.Approval{
		ID: unit.NewID(), State: parley.ApprovalPending, Agent: u.Me.ID, Target: target, Call: call, Rule: rule.Rule,
		RequiresHuman: rule.RequiresHuman, CreatedAt: u.Now, Source: caller.Source,
	}
	if a.Digest, err = call.DigestFor(a.Agent); err != nil {
		return a, err
	}
	run, err := setOrigin(u, &a, caller)
	if err != nil {
		return a, err
	}
	if earlier, found, err := findApproval(u, a, run); found || err != nil {
		return earlier, err
	}
	summary, err := approvals.MakeSummary(u, a)
	if err != nil {
		return a, err
	}
	a.Summary = summary.Text
	approvals.SetTimes(u, &a)
	if expires != nil {
		a.ExpiresAt = expires
	}
	if a.Decider, err = approvals.FindDecider(u, a); err != nil {
		return a, err
	}
	if a.Number, err = u.Approvals().NextNumber(); err != nil {
		return a, err
	}
	if err := approvals.InsertRow(u.Tx, a); err != nil {
		return a, err
	}
	if err := approvals.Note(u, a); err != nil {
		return a, err
	}
	if err := askDeciders(u, a, summary, "approval/"+a.ID); err != nil {
		return a, err
	}
	return a, work.FreeIfWaiting(u, a.Decider)
}

// setOrigin sets what a call comes from: its run, and the conversation and task to which the outcome of the call returns. It returns
// the run, or nil.
func setOrigin(u *unit.Unit, a *parley.Approval, caller unit.Caller) (*parley.Run, error) {
	if caller.Run == "" {
		trace, err := names.JoinableTrace(u, caller.Trace, "")
		a.TraceID = cmp.Or(trace, a.ID)
		return nil, err
	}
	r, err := runs.LiveRun(u, caller.Run)
	if err != nil {
		return nil, err
	}
	if err := work.GiveTaskForHeldCall(u, &r); err != nil {
		return nil, err
	}
	a.Run, a.Conversation, a.Task, a.TraceID, a.Hops, a.Depth = r.ID, r.Conversation, r.Task, r.TraceID, r.Hops, r.Depth
	if n := len(r.Triggers); n > 0 {
		a.Trigger = r.Triggers[n-1]
	}
	return &r, nil
}

// findApproval returns the approval of the same call that is pending, or that an earlier attempt of the same run asked for, whatever
// the decision was. E002 if the agent waits for too many approvals.
func findApproval(u *unit.Unit, a parley.Approval, run *parley.Run) (earlier parley.Approval, found bool, err error) {
	open, err := u.Approvals().Pending(a.Agent)
	if err != nil {
		return earlier, false, err
	}
	for _, other := range open {
		if other.Digest == a.Digest && other.Conversation == a.Conversation && other.Task == a.Task {
			earlier, err = u.Approvals().Get(other.ID)
			return earlier, true, err
		}
	}
	if len(open) >= approvals.MaxPending {
		return earlier, false, parley.Errorf(parley.Unavailable, "%s already waits for %d approvals", a.Agent, len(open)).
			Retryable(0).Suggest("wait until some of them are decided")
	}
	if run == nil {
		return earlier, false, nil
	}
	return findEarlierApproval(u, a, *run)
}

// findEarlierApproval returns the approval of the same call that an earlier attempt of the run asked for.
func findEarlierApproval(u *unit.Unit, a parley.Approval, run parley.Run) (earlier parley.Approval, found bool, err error) {
	attempts, err := runs.Earlier(u, run)
	if err != nil || len(attempts) == 0 {
		return earlier, false, err
	}
	list, err := u.Approvals().List(parley.ApprovalFilter{Agent: a.Agent, Limit: approvals.MaxSearched}, "", true)
	for _, other := range list {
		made := slices.ContainsFunc(attempts, func(r parley.Run) bool { return r.ID == other.Run })
		if made && other.Digest == a.Digest {
			return other, true, err
		}
	}
	return earlier, false, err
}

// askDeciders asks each approver in its DM with the agent. It notifies people outside of the hub too, once by the key.
func askDeciders(u *unit.Unit, a parley.Approval, text parley.Wording, key string) error {
	deciders, err := approvals.FindDeciders(u, a)
	if err != nil {
		return err
	}
	var people []string
	for _, decider := range deciders {
		if err := askDecider(u, a, decider, text); err != nil {
			return err
		}
		if decider.Kind == parley.KindHuman {
			people = append(people, decider.ID)
		}
	}
	return notices.TellDeciders(u, a, people, key)
}

// askDecider asks one approver.
func askDecider(u *unit.Unit, a parley.Approval, decider parley.Agent, text parley.Wording) error {
	dm, err := conversations.Dm(u, a.Agent, decider.ID)
	if err != nil {
		return err
	}
	if decider.Kind == parley.KindAgent {
		text = text.Own(fmt.Sprintf("\n\nAnswer with decide_approval, id %s.", a.ShortName()))
	}
	payload, err := json.Marshal(approvals.Request{Approval: a.ID, Name: a.ShortName(), Agent: a.Agent, Digest: a.Digest})
	if err != nil {
		return err
	}
	_, err = messages.PostAsHub(u, parley.Message{
		To: decider.ID, Conversation: dm.ID, Type: parley.TypeRequest, TraceID: a.TraceID, Hops: a.Hops, Payload: payload, Source: approvals.SourceApproval,
	}, text, parley.NewDelivery{Agent: decider.ID, Wakes: true, Purpose: parley.PurposeApproval})
	return err
}

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
	if err := approvals.Save(u.Tx, a); err != nil {
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
	a.RemindAt = unit.After(u.Now, min(max(waited, time.Minute), approvals.MaxReminderPause))
	if err := approvals.Save(u.Tx, *a); err != nil {
		return err
	}
	return askDeciders(u, *a, parley.Own("Reminder: ").Join(approvals.RepeatSummary(u, *a)), fmt.Sprintf("approval/%s/%d", a.ID, u.Now.Unix()))
}
