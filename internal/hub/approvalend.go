package hub

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/parley-hub/parley"
)

// stepApproval takes an approval to another state and writes the event. It is the only place where the state of an
// approval changes. edit sets what goes with it.
func (s *scene) stepApproval(a *parley.Approval, to parley.ApprovalState, edit func(*parley.Approval)) error {
	if !a.State.May(to) {
		return decidedAlready(*a)
	}
	before, after := a.State, *a
	after.State, after.RemindAt = to, nil
	if edit != nil {
		edit(&after)
	}
	if err := s.Approvals().Put(after); err != nil {
		return err
	}
	*a = after
	s.touch(a.ID) // somebody may wait for it
	if before == parley.ApprovalPending {
		if err := errors.Join(s.noticesOf(a.ID), s.unask(after)); err != nil {
			return err
		}
	}
	return s.noteApproval(after)
}

// unask takes the requests for an approval that needs no answer any more out of the inboxes. What a run or session has
// taken ends with that.
func (s *scene) unask(a parley.Approval) error {
	asked, err := s.deciders(a)
	for _, who := range asked {
		if err == nil {
			err = s.unaskOne(a, who)
		}
	}
	return err
}

func (s *scene) unaskOne(a parley.Approval, who parley.Agent) error {
	dm, err := s.Conversations().FindSet(parley.SetKey([]string{a.Agent, who.ID}))
	if err != nil {
		return ignoreNotFound(err)
	}
	waiting, err := s.Queue().Ready(parley.Queue{
		Recipient: who.ID, Wakes: true, Purpose: parley.PurposeApproval, In: dm.ID, Limit: mostRequests,
	})
	if err == nil {
		var shown []parley.Delivery
		shown, err = s.shownAndWanted(who, parley.PurposeApproval)
		waiting = append(waiting, shown...)
	}
	for i := range waiting {
		if err != nil {
			return err
		}
		var m parley.Message
		if m, err = s.Messages().Get(waiting[i].Message); err == nil && asksFor(m) == a.ID {
			err = s.move(&waiting[i], parley.DeliveryAcked, nil)
		}
	}
	return err
}

// asksFor is the approval that a message asks for, or nothing.
func asksFor(m parley.Message) string {
	var request approvalRequest
	if m.Type != parley.TypeRequest || json.Unmarshal(m.Payload, &request) != nil {
		return ""
	}
	return request.Approval
}

// noteApproval tells those who follow where an approval stands: owners, and the agent itself. Whether that waits has
// changed with it.
func (s *scene) noteApproval(a parley.Approval) error {
	data, err := json.Marshal(struct {
		Approval string               `json:"approval"`
		Number   int64                `json:"number,omitempty"`
		State    parley.ApprovalState `json:"state"`
		Target   string               `json:"target,omitempty"`
		Tool     string               `json:"tool"`
		Decider  string               `json:"decider,omitempty"`
		By       string               `json:"decided_by,omitempty"`
		Failure  *parley.Error        `json:"failure,omitempty"`
	}{a.ID, a.Number, a.State, a.Target, a.Call.Tool, a.Decider, a.DecidedBy, a.Failure})
	if err != nil {
		return err
	}
	s.note(parley.Event{Kind: parley.EventApproval(a.State), Agent: a.Agent, Data: data})
	live, err := s.Runs().Live(a.Agent)
	if err != nil || len(live) > 0 || a.State == parley.ApprovalApproved {
		return err
	}
	agent, err := s.Agents().Find(a.Agent)
	if err != nil || agent.RemovedAt != nil {
		return err
	}
	return s.notePresenceOf(agent, 0)
}

// tellOutcome tells the caller of a held call what came of it, once: in the conversation and task it was made from,
// which wakes it. Where that is gone, and outside of runs, it is told where its decider was asked.
func (s *scene) tellOutcome(a *parley.Approval, text parley.Wording) error {
	about := a.Decider
	if about == "" {
		about = parley.Owner
	}
	trigger, err := s.Messages().GetAll([]string{a.Trigger})
	if err != nil {
		return err
	}
	inReplyTo := ""
	if len(trigger) == 1 && trigger[0].Conversation == a.Conversation {
		inReplyTo = a.Trigger
	}
	where := a.Conversation
	if where == "" {
		if where, err = s.documentPlace(*a); err != nil {
			return err
		}
	}
	kind, payload, err := documentOutcome(*a)
	if err != nil {
		return err
	}
	m, err := s.callBack(callback{
		to: a.Agent, conversation: where, about: about, task: a.Task, source: sourceHolds, text: text, kind: kind, payload: payload,
		inReplyTo: inReplyTo, trace: a.TraceID, hops: a.Hops, purpose: parley.PurposeApproval,
	})
	if err != nil || m.ID == "" {
		return err
	}
	a.Outcome = m.ID
	return s.Approvals().Put(*a)
}

// documentPlace is the channel in which the sender of a held document reads its outcome, if the call is elsewhere. The hub
// makes a missing channel, because the sender may read nowhere else.
func (s *scene) documentPlace(a parley.Approval) (string, error) {
	var held heldPost
	if json.Unmarshal(a.Call.Args, &held) != nil || held.Bridge == "" || a.State == parley.ApprovalExecuted && a.Failure == nil {
		return "", nil
	}
	if !held.Make {
		return held.Conversation, nil
	}
	c, err := s.Conversations().Find(held.Conversation)
	if errors.Is(err, parley.ErrNotFound) {
		var made place
		made, err = s.create(parley.Conversation{Name: held.Conversation, Kind: parley.Channel, Visibility: parley.Public}, []string{a.Agent})
		c = made.Conversation
	}
	return c.ID, err
}

// documentOutcome is as what the sender of a held document is told what came of it: an error, unless it was posted. It names the
// document. Nothing for a call that no document has made.
func documentOutcome(a parley.Approval) (kind parley.Type, payload json.RawMessage, err error) {
	var held heldPost
	if json.Unmarshal(a.Call.Args, &held) != nil || held.Bridge == "" {
		return "", nil, nil
	}
	note := documentNote{Document: held.Document, Error: a.Failure}
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

// heldIn has what attempts of a run wait for belong to the task that it was given: it is not done before that. What
// the task waits for already is not waited for twice.
func (s *scene) heldIn(t parley.Task, attempts []parley.Run) error {
	open, err := s.Approvals().Pending(t.Assignee)
	for _, a := range open {
		theirs := slices.ContainsFunc(attempts, func(r parley.Run) bool { return r.ID == a.Run })
		if err != nil || !theirs || a.Task != "" {
			continue
		}
		a.Task = t.ID
		if slices.ContainsFunc(open, func(b parley.Approval) bool { return sameCall(a, b) }) {
			err = s.withdraw([]parley.Approval{a})
		} else {
			err = s.Approvals().Put(a)
		}
	}
	return err
}

// sameCall says whether two approvals are for the same call, which nobody has decided about.
func sameCall(a, b parley.Approval) bool {
	return a.State == parley.ApprovalPending && b.State == a.State && a.Task == b.Task && a.Conversation == b.Conversation && a.Digest == b.Digest
}

func (s *scene) tellDenied(a *parley.Approval) error {
	text, err := s.doing("Approval denied for ", *a)
	if err != nil {
		return err
	}
	if a.Note != "" {
		text = text.Own("\nNote: ").Quote(a.DecidedBy, a.Note)
	}
	return s.tellOutcome(a, text)
}

// tellRefused ends a call that was approved, and refused when it was made: its agent has lost the right since, or it is
// too deep, or its target cannot be reached. It was never executed.
func (s *scene) tellRefused(a *parley.Approval, why *parley.Error) error {
	reason := why.Message
	if why.Suggestion != "" {
		reason += " (" + why.Suggestion + ")"
	}
	text := parley.Own("Error: "+a.DecidedBy+" approved this, but it was refused when it was made: ").Quote("", reason)
	err := s.stepApproval(a, parley.ApprovalWithdrawn, func(a *parley.Approval) { a.Result, a.Failure = s.hub.fitting(text.Text), why })
	if err != nil {
		return err
	}
	err = s.audit("approval.refused", a.ID, map[string]any{"agent": a.Agent, "target": a.Target, "tool": a.Call.Tool, "error": why.Message})
	if err != nil {
		return err
	}
	return s.tellOutcome(a, text)
}

// tellExecuted ends an approved call with what it has returned.
func (s *scene) tellExecuted(a *parley.Approval, text string, failure *parley.Error) error {
	if text == "" && failure != nil {
		text = failure.Sentence()
		if failure.Suggestion != "" {
			text += " (" + failure.Suggestion + ")"
		}
	}
	err := s.stepApproval(a, parley.ApprovalExecuted, func(a *parley.Approval) {
		a.ExecutedAt, a.Result, a.Failure = &s.now, s.hub.fitting(text), failure
	})
	if err != nil {
		return err
	}
	return s.tellOutcome(a, parley.Framed(a.Target, text))
}

// approvedAskEnded is called when an ask that was made because of an approval is answered, has failed or is late:
// its caller is told, once.
func (s *scene) approvedAskEnded(w parley.Wait, failure *parley.Error) error {
	a, err := s.Approvals().Get(w.Approval)
	if err != nil || a.State != parley.ApprovalApproved {
		return ignoreNotFound(err)
	}
	if failure != nil {
		return s.tellExecuted(&a, "", failure)
	}
	who, text, err := s.answerTo(w)
	if err != nil {
		return err
	}
	return s.tellExecuted(&a, responseFrom(who, text), nil)
}

// withdrawApprovalsOf withdraws what a participant that was removed was waiting for.
func (s *scene) withdrawApprovalsOf(a parley.Agent) error {
	list, err := s.Approvals().Pending(a.ID)
	if err != nil {
		return err
	}
	return s.withdraw(list)
}

// withdrawApprovalsIn withdraws what a task was waiting for that has ended, or has another assignee.
func (s *scene) withdrawApprovalsIn(task string) error {
	list, err := s.Approvals().InTask(task)
	if err != nil {
		return err
	}
	return s.withdraw(list)
}

func (s *scene) withdraw(list []parley.Approval) error {
	for i := range list {
		if err := s.stepApproval(&list[i], parley.ApprovalWithdrawn, nil); err != nil {
			return err
		}
	}
	return nil
}

// passApprovals asks anew for what an agent waits for, where its manager is another now.
func (s *scene) passApprovals(agent string) error {
	list, err := s.Approvals().Pending(agent)
	for _, a := range list {
		if err == nil && a.State == parley.ApprovalPending {
			err = s.passApproval(a.ID)
		}
	}
	return err
}

func (s *scene) passApproval(id string) error {
	a, err := s.Approvals().Get(id)
	if err != nil {
		return err
	}
	decider, err := s.decider(a)
	if err != nil || decider == a.Decider {
		return err
	}
	if err := s.unask(a); err != nil {
		return err
	}
	a.Decider = decider
	if err := s.Approvals().Put(a); err != nil {
		return err
	}
	if err := s.askDeciders(a, s.summaryAgain(a), fmt.Sprintf("approval/%s/%s", a.ID, newID())); err != nil {
		return err
	}
	return s.needs(a.Decider)
}

// SweepApprovals ends requests that have expired, and reminds of those that wait.
func (h *Hub) SweepApprovals(ctx context.Context) error {
	for {
		var list []parley.Approval
		err := h.view(ctx, theHub, opItself, func(s *scene) (err error) {
			s.LeaveOut(nil) // one that cannot be read keeps no other waiting
			list, err = s.Approvals().Due(s.now, 1)
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		err = h.write(ctx, theHub, opItself, func(s *scene) (err error) {
			s.LeaveOut(nil)
			if list, err = s.Approvals().Due(s.now, dueBatch); err != nil {
				return err
			}
			for i := range list {
				if err := s.approvalDue(&list[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || len(list) < dueBatch {
			return err
		}
	}
}

func (s *scene) approvalDue(a *parley.Approval) error {
	if a.ExpiresAt == nil || a.ExpiresAt.After(s.now) {
		return s.remind(a)
	}
	text, err := s.doing("Approval expired for ", *a)
	if err != nil {
		return err
	}
	if err := s.stepApproval(a, parley.ApprovalExpired, nil); err != nil {
		return err
	}
	return s.tellOutcome(a, text)
}

// remind asks again. The next reminder comes after as long as the request has waited by now, at most a day.
func (s *scene) remind(a *parley.Approval) error {
	waited := s.now.Sub(a.CreatedAt)
	a.RemindAt = after(s.now, min(max(waited, time.Minute), remindMost))
	if err := s.Approvals().Put(*a); err != nil {
		return err
	}
	return s.askDeciders(*a, parley.Own("Reminder: ").Join(s.summaryAgain(*a)), fmt.Sprintf("approval/%s/%d", a.ID, s.now.Unix()))
}

// doing is a sentence with a held call as its object: Approval denied for contacting SeniorAnalystBot.
func (s *scene) doing(about string, a parley.Approval) (parley.Wording, error) {
	w, err := s.words(a)
	return parley.Own(about).Join(parley.Deed(a.Agent, w.doing)).Own("."), err
}
