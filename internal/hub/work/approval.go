package work

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/approvals"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/notices"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/reports"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// SetApprovalState changes the state of an approval and writes the event. It is the only place where that state changes. edit sets the
// fields that go with the new state.
func SetApprovalState(u *unit.Unit, a *parley.Approval, to parley.ApprovalState, edit func(*parley.Approval)) error {
	if !a.State.May(to) {
		return DecidedError(*a)
	}
	before, after := a.State, *a
	after.State, after.RemindAt = to, nil
	if edit != nil {
		edit(&after)
	}
	if err := approvals.Save(u.Tx, after); err != nil {
		return err
	}
	*a = after
	u.Touch(a.ID) // wakes callers that wait for it
	if before == parley.ApprovalPending {
		if err := errors.Join(notices.ReopenNotices(u, a.ID), SettleRequests(u, after)); err != nil {
			return err
		}
	}
	return approvals.Note(u, after)
}

// SettleRequests settles the requests for an approval that needs no answer any more. A request that a run or session has taken ends with that.
func SettleRequests(u *unit.Unit, a parley.Approval) error {
	deciders, err := approvals.FindDeciders(u, a)
	for _, decider := range deciders {
		if err == nil {
			err = unaskOne(u, a, decider)
		}
	}
	return err
}

// unaskOne settles the requests in the inbox of one approver.
func unaskOne(u *unit.Unit, a parley.Approval, decider parley.Agent) error {
	dm, err := u.Conversations().FindSet(parley.MemberSetKey([]string{a.Agent, decider.ID}))
	if err != nil {
		return unit.IgnoreNotFound(err)
	}
	waiting, err := u.Queue().Ready(storage.QueueFilter{
		Recipient: decider.ID, Wakes: true, Purpose: parley.PurposeApproval, In: dm.ID, Limit: approvals.MaxRequests,
	})
	if err == nil {
		var shown []parley.Delivery
		shown, err = shownAndWanted(u, decider, parley.PurposeApproval)
		waiting = append(waiting, shown...)
	}
	for i := range waiting {
		if err != nil {
			return err
		}
		var m parley.Message
		if m, err = u.Messages().Get(waiting[i].Message); err == nil && ApprovalAskedFor(m) == a.ID {
			err = deliveries.SetState(u, &waiting[i], parley.DeliveryAcked, nil)
		}
	}
	return err
}

// ApprovalAskedFor returns the approval that a message asks for, or nothing.
func ApprovalAskedFor(m parley.Message) string {
	var request approvals.Request
	if m.Type != parley.TypeRequest || json.Unmarshal(m.Payload, &request) != nil {
		return ""
	}
	return request.Approval
}

// TellOutcome tells the caller of a held call its outcome, once: in the conversation and task of the call, which wakes the caller. If
// that conversation was deleted, or the call came from no run, it tells the caller in the DM with the decider. It tells nothing of the
// use of a client's tool.
func TellOutcome(u *unit.Unit, a *parley.Approval, text parley.Wording) error {
	if a.Call.Tool == policy.ToolUse {
		return nil // the caller's client waits for the decision
	}
	about := a.Decider
	if about == "" {
		about = parley.Owner
	}
	trigger, err := u.Messages().GetAll([]string{a.Trigger})
	if err != nil {
		return err
	}
	inReplyTo := ""
	if len(trigger) == 1 && trigger[0].Conversation == a.Conversation {
		inReplyTo = a.Trigger
	}
	where := a.Conversation
	if where == "" {
		if where, err = documentPlace(u, *a); err != nil {
			return err
		}
	}
	kind, payload, err := documentOutcome(*a)
	if err != nil {
		return err
	}
	m, err := reports.SendCallback(u, reports.Callback{
		To: a.Agent, Conversation: where, About: about, Task: a.Task, Source: approvals.SourceApproval, Text: text, Kind: kind, Payload: payload,
		InReplyTo: inReplyTo, Trace: a.TraceID, Hops: a.Hops, Purpose: parley.PurposeApproval, Subject: parley.Subject{Approval: a.ShortName()},
	})
	if err != nil || m.ID == "" {
		return err
	}
	a.Outcome = m.ID
	return approvals.Save(u.Tx, *a)
}

// documentPlace returns the channel in which the sender of a held document reads its outcome. It makes a missing channel, because the
// sender may read nowhere else. It returns nothing for other calls, and for a document that was posted.
func documentPlace(u *unit.Unit, a parley.Approval) (string, error) {
	var held policy.HeldPost
	if json.Unmarshal(a.Call.Args, &held) != nil || held.Bridge == "" || a.State == parley.ApprovalExecuted && a.Failure == nil {
		return "", nil
	}
	if !held.Make {
		return held.Conversation, nil
	}
	c, err := u.Conversations().Find(held.Conversation)
	if errors.Is(err, parley.ErrNotFound) {
		var made conversations.Place
		made, err = conversations.Create(u, parley.Conversation{Name: held.Conversation, Kind: parley.Channel, Visibility: parley.Public}, []string{a.Agent})
		c = made.Conversation
	}
	return c.ID, err
}

// documentOutcome returns the type and payload of the message that tells the sender of a held document its outcome: an error, unless
// the document was posted. The payload names the document. It returns nothing for other calls.
func documentOutcome(a parley.Approval) (kind parley.Type, payload json.RawMessage, err error) {
	var held policy.HeldPost
	if json.Unmarshal(a.Call.Args, &held) != nil || held.Bridge == "" {
		return "", nil, nil
	}
	note := trees.DocumentNote{Document: held.Document, Error: a.Failure}
	if a.State != parley.ApprovalExecuted || a.Failure != nil {
		kind, note.Final = parley.TypeError, true
	}
	if note.Final && note.Error == nil {
		code := parley.NotPermitted
		if a.State == parley.ApprovalExpired {
			code = parley.TimedOut
		}
		note.Error = parley.Errorf(code, "the approval is %s", a.State)
	}
	payload, err = json.Marshal(note)
	return kind, payload, err
}

// moveApprovals moves the pending approvals of a run's attempts into the task that the run was given, which cannot end before them. It
// withdraws an approval that the task waits for already.
func moveApprovals(u *unit.Unit, t parley.Task, attempts []parley.Run) error {
	open, err := u.Approvals().Pending(t.Assignee)
	for _, a := range open {
		ofTask := slices.ContainsFunc(attempts, func(r parley.Run) bool { return r.ID == a.Run })
		if err != nil || !ofTask || a.Task != "" {
			continue
		}
		a.Task = t.ID
		if slices.ContainsFunc(open, func(b parley.Approval) bool { return sameCall(a, b) }) {
			err = Withdraw(u, []parley.Approval{a})
		} else {
			err = approvals.Save(u.Tx, a)
		}
	}
	return err
}

// sameCall reports whether two pending approvals are for the same call.
func sameCall(a, b parley.Approval) bool {
	return a.State == parley.ApprovalPending && b.State == a.State && a.Task == b.Task && a.Conversation == b.Conversation && a.Digest == b.Digest
}

// TellDenied tells the agent that its call was denied.
func TellDenied(u *unit.Unit, a *parley.Approval) error {
	text, err := DescribeDoing(u, "Approval denied for ", *a)
	if err != nil {
		return err
	}
	if a.Note != "" {
		text = text.Own("\nNote: ").Quote(a.DecidedBy, a.Note)
	}
	return TellOutcome(u, a, text)
}

// EndRefused ends a call that was approved and then refused: its agent has lost the right since, the chain is too deep, or the target
// cannot be reached. The call was never executed.
func EndRefused(u *unit.Unit, a *parley.Approval, failure *parley.Error) error {
	reason := failure.Message
	if failure.Suggestion != "" {
		reason += " (" + failure.Suggestion + ")"
	}
	text := parley.Own("Error: "+a.DecidedBy+" approved this call, but the hub then refused it: ").Quote("", reason)
	err := SetApprovalState(u, a, parley.ApprovalWithdrawn, func(a *parley.Approval) { a.Result, a.Failure = u.Core.Fitting(text.Text), failure })
	if err != nil {
		return err
	}
	err = access.Audit(u, "approval.refused", a.ID, map[string]any{"approval": a.ShortName(), "agent": a.Agent, "target": a.Target, "tool": a.Call.Tool, "error": failure.Message})
	if err != nil {
		return err
	}
	return TellOutcome(u, a, text)
}

// EndExecuted ends an approved call with its result.
func EndExecuted(u *unit.Unit, a *parley.Approval, text string, failure *parley.Error) error {
	if text == "" && failure != nil {
		text = failure.Sentence()
		if failure.Suggestion != "" {
			text += " (" + failure.Suggestion + ")"
		}
	}
	err := SetApprovalState(u, a, parley.ApprovalExecuted, func(a *parley.Approval) {
		a.ExecutedAt, a.Result, a.Failure = &u.Now, u.Core.Fitting(text), failure
	})
	if err != nil {
		return err
	}
	return TellOutcome(u, a, parley.Framed(a.Target, text))
}

// ApprovedAskEnded is called when an ask that an approved call has made is answered, has failed or is late. It tells the caller once.
func ApprovedAskEnded(u *unit.Unit, w parley.Wait, failure *parley.Error) error {
	a, err := u.Approvals().Get(w.Approval)
	if err != nil || a.State != parley.ApprovalApproved {
		return unit.IgnoreNotFound(err)
	}
	if failure != nil {
		return EndExecuted(u, &a, "", failure)
	}
	decider, text, err := answerTo(u, w)
	if err != nil {
		return err
	}
	return EndExecuted(u, &a, responseFrom(decider, text), nil)
}

// WithdrawApprovalsOf withdraws the pending approvals of a participant that was removed.
func WithdrawApprovalsOf(u *unit.Unit, a parley.Agent) error {
	list, err := u.Approvals().Pending(a.ID)
	if err != nil {
		return err
	}
	return Withdraw(u, list)
}

// withdrawApprovalsIn withdraws the pending approvals of a task that has ended or has another assignee.
func withdrawApprovalsIn(u *unit.Unit, task string) error {
	list, err := u.Approvals().InTask(task)
	if err != nil {
		return err
	}
	return Withdraw(u, list)
}

// Withdraw withdraws approvals.
func Withdraw(u *unit.Unit, list []parley.Approval) error {
	for i := range list {
		if err := SetApprovalState(u, &list[i], parley.ApprovalWithdrawn, nil); err != nil {
			return err
		}
	}
	return nil
}

// DescribeDoing returns a sentence with a held call as its object: Approval denied for contacting SeniorAnalystBot.
func DescribeDoing(u *unit.Unit, about string, a parley.Approval) (parley.Wording, error) {
	w, err := approvals.DescribeCall(u, a)
	return parley.Own(about).Join(parley.DescribeCall(a.Agent, w.Doing)).Own("."), err
}

// DecidedError is the error for a second decision on an approval.
func DecidedError(a parley.Approval) error {
	text := fmt.Sprintf("%s is %s", a.ShortName(), a.State)
	if a.DecidedBy != "" {
		decision := "denied"
		if a.State != parley.ApprovalDenied {
			decision = "approved"
		}
		text = fmt.Sprintf("%s was %s by %s at %s", a.ShortName(), decision, a.DecidedBy, a.DecidedAt.Format(time.RFC3339))
	}
	if a.Refused() {
		text += ", and the call was refused: " + a.Failure.Message
	}
	return parley.Errorf(parley.BadInput, "%s", text).Because(parley.Conflict).Suggest("the first decision stands; see it: parley approval show %s", a.ShortName())
}
