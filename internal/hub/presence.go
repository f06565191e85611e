package hub

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/parley-hub/parley"
)

// Who lists what everybody is doing. Removed participants are left out.
func (h *Hub) Who(ctx context.Context, caller Caller) (list []parley.Presence, err error) {
	err = h.view(ctx, caller, opWho, func(s *scene) error {
		if err := s.mustRead(origin{caller: caller}, ""); err != nil {
			return err
		}
		all, err := s.Agents().List()
		if err != nil {
			return err
		}
		inboxes, err := s.Queue().Inboxes()
		if err != nil {
			return err
		}
		healths, err := s.Agents().Healths()
		if err != nil {
			return err
		}
		s.LeaveOut(nil)
		work, err := s.work("")
		if err != nil {
			return err
		}
		waits, err := s.whoWaits()
		for _, a := range all {
			if a.RemovedAt != nil {
				continue
			}
			p, err := s.presence(a, work[a.ID], waits[a.ID])
			if err != nil {
				return err
			}
			p.Inbox = inboxes[a.ID]
			if health, said := healths[a.ID]; said {
				p.Health = &health
			}
			list = append(list, p)
		}
		return err
	})
	return list, h.heldOr(ctx, caller, err, toolQuery, queryArgs{Action: listAgents})
}

// Named says who those are whose ids the caller has: their names, kinds and roles. Those that there are not are left
// out.
func (h *Hub) Named(ctx context.Context, caller Caller, ids ...string) (list []parley.Presence, err error) {
	err = h.view(ctx, caller, opWho, func(s *scene) error {
		for _, id := range ids {
			a, err := s.Agents().Find(id)
			if errors.Is(err, parley.ErrNotFound) {
				continue
			}
			if err != nil {
				return err
			}
			list = append(list, parley.Presence{ID: a.ID, Name: a.Name, Kind: a.Kind, Role: a.Role})
		}
		return nil
	})
	return list, err
}

func (s *scene) presence(a parley.Agent, work []parley.Work, waits bool) (parley.Presence, error) {
	all, shown, err := s.awaiting(a, waits)
	if err != nil {
		return parley.Presence{}, err
	}
	status, last := s.status(a, len(work), all)
	p := parley.Presence{
		ID: a.ID, Name: a.Name, Kind: a.Kind, Access: a.Access, Role: a.Role, Runtime: a.Runtime,
		Status: status.Status, Reason: status.Reason, Note: s.haltNote(a), LastSeen: last, Work: work, Awaiting: shown,
	}
	p.State, p.Substate = status.State()
	if a.Asleep(s.now) {
		p.SleepingUntil = a.SleepingUntil
	}
	if p.Reason != "" {
		return p, nil
	}
	over, err := s.excesses(a)
	if len(over) > 0 {
		p.Reason, p.Note = parley.ReasonOverBudget, over[0].says
	}
	return p, err
}

// haltNote is why an agent was stopped or paused, as far as somebody has said.
func (s *scene) haltNote(a parley.Agent) string {
	switch {
	case a.Stopped != nil:
		return a.Stopped.Reason
	case a.Paused.Holds(s.now):
		return a.Paused.Reason
	default:
		return ""
	}
}

// work is what agents are at, or one of them is, by their ids. Where that is, only those learn who may read
// there.
func (s *scene) work(agent string) (map[string][]parley.Work, error) {
	runs, err := s.Runs().Live(agent)
	if err != nil {
		return nil, err
	}
	places := map[string]place{}
	work := map[string][]parley.Work{}
	for _, r := range runs {
		where, known := places[r.Conversation]
		if !known {
			where, err = s.conversation(r.Conversation)
			if _, hidden := errors.AsType[unknown](err); err != nil && !hidden {
				return nil, err
			} else if hidden {
				where = place{}
			}
			places[r.Conversation] = where
		}
		one := parley.Work{Run: r.ID, State: r.State, Since: r.CreatedAt, Conversation: where.ID, Channel: where.Name}
		if r.StartedAt != nil {
			one.Since = *r.StartedAt
		}
		work[r.Agent] = append(work[r.Agent], one)
	}
	return work, nil
}

// AgentView shows one participant, and what it is doing.
func (h *Hub) AgentView(ctx context.Context, caller Caller, name string) (view parley.AgentView, err error) {
	err = h.view(ctx, caller, opShowAgent, func(s *scene) error {
		a, err := s.agentToRead(caller, &name)
		if err != nil {
			return err
		}
		view, err = s.agentView(a)
		return err
	})
	return view, h.heldOr(ctx, caller, err, toolQuery, queryArgs{Action: showAgent, Subject: name})
}

func (s *scene) agentView(a parley.Agent) (view parley.AgentView, err error) {
	s.LeaveOut(nil)
	work, err := s.work(a.ID)
	if err != nil {
		return view, err
	}
	p, err := s.presence(a, work[a.ID], true)
	if err != nil {
		return view, err
	}
	view = parley.AgentView{
		Agent: s.show(a), Status: p.Status, Reason: p.Reason, State: p.State, Substate: p.Substate, LastSeen: p.LastSeen, Work: p.Work,
		Awaiting: p.Awaiting,
	}
	if view.Inbox, err = s.Queue().Inbox(a.ID); err != nil {
		return view, err
	}
	health, err := s.Agents().Health(a.ID)
	if err == nil {
		view.Health = &health
	} else if !errors.Is(err, parley.ErrNotFound) {
		return view, err
	}
	if a.Kind != parley.KindAgent || a.ID != s.me.ID && !s.seesAll() {
		return view, nil
	}
	if view.LastHour, err = s.spent(a.ID, time.Hour); err == nil {
		view.LastDay, err = s.spent(a.ID, 24*time.Hour)
	}
	return view, err
}

func (s *scene) spent(id string, in time.Duration) (*parley.Spent, error) {
	spent, err := s.Runs().Spent(id, s.now.Add(-in))
	return &spent, err
}

// status is what a participant is doing, and when it was last heard of. Only those can be away that fetch for
// themselves.
func (s *scene) status(a parley.Agent, liveRuns int, awaits parley.Awaiting) (parley.Status, *time.Time) {
	there, last := s.hub.attendance.look(a.ID, s.now)
	facts := parley.Facts{
		Kind: a.Kind, Away: !there && !a.Dispatched(), LiveRuns: liveRuns, Busy: s.hub.attendance.busy(a.ID, s.now), Stopped: a.Stopped != nil, Paused: a.Paused.Holds(s.now),
		AwaitingApproval: awaits.ApprovalID != "", OpenSubtasks: len(awaits.DelegationIDs),
	}
	if a.SleepingUntil != nil {
		facts.SleepingUntil = *a.SleepingUntil
	}
	return facts.StatusAt(s.now), last
}

// whoWaits are those who wait for what they have delegated, or for an approval.
func (s *scene) whoWaits() (map[string]bool, error) {
	delegated, err := s.Tasks().AwaitedBy()
	if err != nil {
		return nil, err
	}
	held, err := s.Approvals().PendingBy()
	waits := map[string]bool{}
	for id := range delegated {
		waits[id] = true
	}
	for id := range held {
		waits[id] = true
	}
	return waits, err
}

// statusWith is the status of an agent with so many live runs. Who works is working, whatever it waits for.
func (s *scene) statusWith(a parley.Agent, liveRuns int) (parley.Status, error) {
	var waits parley.Awaiting
	if liveRuns == 0 && a.Kind == parley.KindAgent {
		delegated, err := s.Tasks().Awaited(a.ID, 1)
		if err != nil {
			return parley.Status{}, err
		}
		for _, t := range delegated {
			waits.DelegationIDs = append(waits.DelegationIDs, t.ID)
		}
		if err := s.pendingApproval(a.ID, &waits); err != nil {
			return parley.Status{}, err
		}
	}
	status, _ := s.status(a, liveRuns, waits)
	return status, nil
}

// awaiting is what an agent waits for, and how much of it the caller may know. Who is known to wait for nothing is not
// looked up.
func (s *scene) awaiting(a parley.Agent, waits bool) (all, shown parley.Awaiting, err error) {
	if !waits || a.Kind != parley.KindAgent {
		return all, shown, nil
	}
	tasks, err := s.Tasks().Awaited(a.ID, math.MaxInt32)
	if err != nil {
		return all, shown, err
	}
	for _, t := range tasks {
		all.DelegationIDs = append(all.DelegationIDs, t.ID)
		sees, err := s.seesTask(t)
		if err != nil {
			return all, shown, err
		}
		if sees {
			shown.DelegationIDs = append(shown.DelegationIDs, t.ID)
		}
	}
	err = s.pendingApproval(a.ID, &all)
	if s.seesAll() || s.me.ID == a.ID || s.me.ID == a.Manager {
		shown.ApprovalID, shown.Number = all.ApprovalID, all.Number
	}
	return all, shown, err
}
