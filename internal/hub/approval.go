package hub

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// Approvals says how long requests for approvals wait.
type Approvals struct {
	Expire time.Duration // 0: for ever
	Remind time.Duration // the first reminder; each further one after twice the time, at most a day; negative: none
}

const (
	remindAfter  = time.Hour
	remindMost   = 24 * time.Hour
	maxPending   = 256 // approvals one participant may wait for
	lookedBack   = 200 // of its approvals, for one that an earlier attempt of a run has asked for
	sourceHolds  = "approval"
	approvalPage = 100
	mostRequests = 10_000 // that may lie in an inbox for one agent, reminders among them
)

// hold stores a call that needs an approval and asks for it. The same call while that is pending: the same approval.
// It always returns a *parley.Held, or why it could not be stored.
func (h *Hub) hold(ctx context.Context, caller Caller, call parley.HeldCall, target string, rule parley.Verdict) error {
	call, err := call.Canonical()
	if err != nil {
		return err
	}
	var a parley.Approval
	err = h.write(ctx, caller, opIdentify, func(s *scene) (err error) {
		a, err = s.hold(caller, call, target, rule)
		return err
	})
	if err != nil {
		return err
	}
	return &parley.Held{Approval: a}
}

func (s *scene) hold(caller Caller, call parley.HeldCall, target string, rule parley.Verdict) (a parley.Approval, err error) {
	a = parley.Approval{
		ID: newID(), State: parley.ApprovalPending, Agent: s.me.ID, Target: target, Call: call, Rule: rule.Rule,
		RequiresHuman: rule.RequiresHuman, CreatedAt: s.now, Source: caller.Source,
	}
	if a.Digest, err = call.DigestFor(a.Agent); err != nil {
		return a, err
	}
	run, err := s.comesFrom(&a, caller)
	if err != nil {
		return a, err
	}
	if before, found, err := s.heldBefore(a, run); found || err != nil {
		return before, err
	}
	summary, err := s.summary(a)
	if err != nil {
		return a, err
	}
	a.Summary = summary.Text
	s.setTimes(&a)
	if a.Decider, err = s.decider(a); err != nil {
		return a, err
	}
	if a.Number, err = s.Approvals().NextNumber(); err != nil {
		return a, err
	}
	if err := s.Approvals().Insert(a); err != nil {
		return a, err
	}
	if err := s.noteApproval(a); err != nil {
		return a, err
	}
	if err := s.askDeciders(a, summary, "approval/"+a.ID); err != nil {
		return a, err
	}
	return a, s.needs(a.Decider)
}

// comesFrom writes down what a call comes from: its run, and with it the conversation and task to which what comes of
// the call returns.
func (s *scene) comesFrom(a *parley.Approval, caller Caller) (*parley.Run, error) {
	if caller.Run == "" {
		trace, err := s.mayJoinTrace(caller.Trace, "")
		a.TraceID = cmp.Or(trace, a.ID)
		return nil, err
	}
	r, err := s.liveRun(caller.Run)
	if err != nil {
		return nil, err
	}
	if err := s.holdAnswer(&r); err != nil {
		return nil, err
	}
	a.Run, a.Conversation, a.Task, a.TraceID, a.Hops, a.Depth = r.ID, r.Conversation, r.Task, r.TraceID, r.Hops, r.Depth
	if n := len(r.Triggers); n > 0 {
		a.Trigger = r.Triggers[n-1]
	}
	return &r, nil
}

// heldBefore finds the approval of the same call: one that is still open, or one that an earlier attempt of the same
// run has asked for, whatever became of it. Who makes more calls than it may wait for is refused.
func (s *scene) heldBefore(a parley.Approval, run *parley.Run) (before parley.Approval, found bool, err error) {
	open, err := s.Approvals().Pending(a.Agent)
	if err != nil {
		return before, false, err
	}
	for _, other := range open {
		if other.Digest == a.Digest && other.Conversation == a.Conversation && other.Task == a.Task {
			before, err = s.Approvals().Get(other.ID)
			return before, true, err
		}
	}
	if len(open) >= maxPending {
		return before, false, parley.Errorf(parley.Unavailable, "%s waits for %d approvals already", a.Agent, len(open)).
			Retryable(0).Suggest("wait until some are decided")
	}
	if run == nil {
		return before, false, nil
	}
	return s.heldByEarlier(a, *run)
}

func (s *scene) heldByEarlier(a parley.Approval, run parley.Run) (before parley.Approval, found bool, err error) {
	attempts, err := s.earlier(run)
	if err != nil || len(attempts) == 0 {
		return before, false, err
	}
	list, err := s.Approvals().List(parley.ApprovalFilter{Agent: a.Agent, Limit: lookedBack}, "", true)
	for _, other := range list {
		made := slices.ContainsFunc(attempts, func(r parley.Run) bool { return r.ID == other.Run })
		if made && other.Digest == a.Digest {
			return other, true, err
		}
	}
	return before, false, err
}

func (s *scene) setTimes(a *parley.Approval) {
	if times := s.hub.config.Approvals; times.Expire > 0 {
		a.ExpiresAt = after(s.now, times.Expire)
	}
	if remind := s.hub.config.Approvals.Remind; remind > 0 {
		a.RemindAt = after(s.now, remind)
	}
}

// decider is who is asked: the agent's manager, or nobody in particular, which are the owners. Where a person must
// decide, a manager that is an agent is not asked.
func (s *scene) decider(a parley.Approval) (string, error) {
	agent, err := s.Agents().Find(a.Agent)
	if err != nil || agent.Manager == "" {
		return "", err
	}
	manager, err := s.Agents().Find(agent.Manager)
	if err != nil || manager.RemovedAt != nil || a.RequiresHuman && manager.Kind != parley.KindHuman {
		return "", err
	}
	return manager.ID, nil
}

// askDeciders asks those who decide, each in its DM with the agent. People are told outside of the hub too, once by the
// key.
func (s *scene) askDeciders(a parley.Approval, text parley.Wording, key string) error {
	asked, err := s.deciders(a)
	if err != nil {
		return err
	}
	var people []string
	for _, who := range asked {
		if err := s.askDecider(a, who, text); err != nil {
			return err
		}
		if who.Kind == parley.KindHuman {
			people = append(people, who.ID)
		}
	}
	return s.tellDeciders(a, people, key)
}

// deciders are the decider, or else the owners.
func (s *scene) deciders(a parley.Approval) (list []parley.Agent, err error) {
	if a.Decider != "" {
		decider, err := s.Agents().Find(a.Decider)
		return []parley.Agent{decider}, err
	}
	all, err := s.Agents().List()
	return slices.DeleteFunc(all, func(who parley.Agent) bool {
		return who.RemovedAt != nil || who.Kind != parley.KindHuman || who.Access != parley.AccessOwner || who.ID == a.Agent
	}), err
}

// approvalRequest is what a request for an approval has beside its text.
type approvalRequest struct {
	Approval string `json:"approval"`
	Agent    string `json:"agent"`
	Digest   string `json:"digest"`
}

func (s *scene) askDecider(a parley.Approval, who parley.Agent, text parley.Wording) error {
	dm, err := s.dm(a.Agent, who.ID)
	if err != nil {
		return err
	}
	if who.Kind == parley.KindAgent {
		text = text.Own(fmt.Sprintf("\n\nAnswer with decide_approval, id %s.", a.ShortName()))
	}
	payload, err := json.Marshal(approvalRequest{a.ID, a.Agent, a.Digest})
	if err != nil {
		return err
	}
	_, err = s.speak(parley.Message{
		To: who.ID, Conversation: dm.ID, Type: parley.TypeRequest, TraceID: a.TraceID, Hops: a.Hops, Payload: payload, Source: sourceHolds,
	}, text, parley.Reach{Agent: who.ID, Wakes: true, Purpose: parley.PurposeApproval})
	return err
}

// Approvals lists approvals the caller may see, the newest first: of its own calls, and those it may decide; for owners
// all.
func (h *Hub) Approvals(ctx context.Context, caller Caller, f parley.ApprovalFilter) (list []parley.Approval, err error) {
	f.Limit = clamp(f.Limit, approvalPage, 1000)
	if f.State != "" && !f.State.Known() {
		return nil, parley.Errorf(parley.BadInput, "%q is not a state of an approval", f.State).
			Suggest("use pending, approved, executed, denied, expired or withdrawn")
	}
	err = h.view(ctx, caller, opListApprovals, func(s *scene) error {
		if f.Agent, err = s.named(f.Agent); err == nil {
			s.LeaveOut(nil)
			list, err = s.listApprovals(f)
		}
		return err
	})
	return list, err
}

func (s *scene) listApprovals(f parley.ApprovalFilter) ([]parley.Approval, error) {
	if s.seesAll() {
		return s.Approvals().List(f, "", true)
	}
	list, err := s.Approvals().List(f, s.me.ID, false)
	if err != nil || f.Mine || f.Agent != "" && f.Agent != s.me.ID {
		return list, err
	}
	f.Agent = s.me.ID
	own, err := s.Approvals().List(f, "", true)
	list = append(list, own...)
	slices.SortFunc(list, func(a, b parley.Approval) int { return strings.Compare(b.ID, a.ID) })
	list = slices.CompactFunc(list, func(a, b parley.Approval) bool { return a.ID == b.ID })
	return list[:min(len(list), f.Limit)], err
}

// Approval shows one.
func (h *Hub) Approval(ctx context.Context, caller Caller, id string) (a parley.Approval, err error) {
	if err := h.findID(ctx, caller, opShowApproval, parley.NounApproval, &id); err != nil {
		return a, err
	}
	err = h.view(ctx, caller, opShowApproval, func(s *scene) error {
		a, err = s.approval(id)
		return err
	})
	return a, err
}

// approval finds one the caller may see: of its own calls, or of those who report to it. Owners see all.
func (s *scene) approval(id string) (parley.Approval, error) {
	a, err := s.Approvals().Get(id)
	if errors.Is(err, parley.ErrNotFound) {
		return a, unknown{"approval", id}
	}
	if err != nil || s.seesAll() || a.Agent == s.me.ID || a.Decider == s.me.ID {
		return a, err
	}
	manages, err := s.manages(a.Agent)
	if err == nil && !manages {
		err = unknown{"approval", id}
	}
	return a, err
}

func (s *scene) manages(agent string) (bool, error) {
	a, err := s.Agents().Find(agent)
	return err == nil && a.Manager == s.me.ID, err
}
