// Package presence holds what agents do now: present or away, working or waiting, paused, asleep or stopped, within their
// budgets; and the state summaries.
package presence

import (
	"encoding/json"
	"errors"
	"math"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/local"
	"github.com/parley-hub/parley/internal/hub/policy"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Service is the use cases of this package.
type Service struct {
	*unit.Core
}

// New makes the use cases on the core of a hub.
func New(core *unit.Core) *Service {
	return &Service{Core: core}
}

// FindPresence returns the presence of a participant as the caller may see it. work is what it is doing; waits is false if it is known to
// wait for nothing.
func FindPresence(u *unit.Unit, a parley.Agent, work []parley.Work, waits bool) (parley.Presence, error) {
	all, shown, err := awaiting(u, a, waits)
	if err != nil {
		return parley.Presence{}, err
	}
	status, last, err := Status(u, a, len(work), all)
	if err != nil {
		return parley.Presence{}, err
	}
	p := parley.Presence{
		ID: a.ID, Name: a.Name, Kind: a.Kind, Access: a.Access, Role: a.Role, Runtime: a.Runtime,
		Status: status.Status, Reason: status.Reason, Note: haltReason(u, a), LastSeen: last, Work: work, Awaiting: shown,
	}
	p.State, p.Substate = status.State()
	if a.Asleep(u.Now) {
		p.SleepingUntil = a.SleepingUntil
	}
	if p.Reason != "" {
		return p, nil
	}
	over, err := FindExcesses(u, a)
	if len(over) > 0 {
		p.Reason, p.Note = parley.ReasonOverBudget, over[0].Says
	}
	return p, err
}

// haltReason returns the reason given for stopping or pausing an agent, or nothing.
func haltReason(u *unit.Unit, a parley.Agent) string {
	switch {
	case a.Stopped != nil:
		return a.Stopped.Reason
	case a.Paused.InForce(u.Now):
		return a.Paused.Reason
	default:
		return ""
	}
}

// FindWork returns the live runs of all agents, or of one agent, by agent. It leaves out the conversation of a run that the caller may not
// read.
func FindWork(u *unit.Unit, agent string) (map[string][]parley.Work, error) {
	runs, err := u.Runs().Live(agent)
	if err != nil {
		return nil, err
	}
	places := map[string]conversations.Place{}
	work := map[string][]parley.Work{}
	for _, r := range runs {
		conv, known := places[r.Conversation]
		if !known {
			conv, err = conversations.Conversation(u, r.Conversation)
			if _, hidden := errors.AsType[unit.Unknown](err); err != nil && !hidden {
				return nil, err
			} else if hidden {
				conv = conversations.Place{}
			}
			places[r.Conversation] = conv
		}
		item := parley.Work{Run: r.ID, State: r.State, Since: r.CreatedAt, Conversation: conv.ID, Channel: conv.Name}
		if r.StartedAt != nil {
			item.Since = *r.StartedAt
		}
		work[r.Agent] = append(work[r.Agent], item)
	}
	return work, nil
}

// ViewAgent returns an agent with its state, as the caller may see it.
func ViewAgent(u *unit.Unit, a parley.Agent) (view parley.AgentView, err error) {
	u.SkipUnreadable(nil)
	work, err := FindWork(u, a.ID)
	if err != nil {
		return view, err
	}
	p, err := FindPresence(u, a, work[a.ID], true)
	if err != nil {
		return view, err
	}
	view = parley.AgentView{
		Agent: agents.Show(u, a), Status: p.Status, Reason: p.Reason, State: p.State, Substate: p.Substate, LastSeen: p.LastSeen, Work: p.Work,
		Awaiting: p.Awaiting,
	}
	if view.Inbox, err = u.Queue().Inbox(a.ID); err != nil {
		return view, err
	}
	health, err := u.Agents().Health(a.ID)
	if err == nil {
		view.Health = &health
	} else if !errors.Is(err, parley.ErrNotFound) {
		return view, err
	}
	if a.Kind != parley.KindAgent || a.ID != u.Me.ID && !u.SeesAll() {
		return view, nil
	}
	if view.LastHour, err = spent(u, a.ID, time.Hour); err == nil {
		view.LastDay, err = spent(u, a.ID, 24*time.Hour)
	}
	return view, err
}

// spent returns what the runs of an agent have used within a time.
func spent(u *unit.Unit, id string, in time.Duration) (*parley.Spent, error) {
	spent, err := u.Runs().Spent(id, u.Now.Add(-in))
	return &spent, err
}

// isPresent reports whether an agent that the hub does not run is present, and when the hub last heard from it. The agent has called
// lately, or has an open session, or works on a message that it took: it holds the lease, and has not been silent for longer than
// MaxSilence.
func isPresent(u *unit.Unit, a parley.Agent) (present bool, last *time.Time, err error) {
	present, last = u.Core.Attendance.StateOf(a.ID, u.Now)
	if present || a.Kind != parley.KindAgent || a.Dispatched() || last != nil && u.Now.Sub(*last) >= MaxSilence(u.Core) {
		return present, last, nil
	}
	holders, err := deliveries.Holders(u)
	return holders[a.ID], last, err
}

// MaxSilence is how long an agent without a session may work on what it took, without a call, until it is away. Leases can be longer, but
// the agent may have ended.
func MaxSilence(core *unit.Core) time.Duration {
	return max(deliveries.DefaultLease, core.Config.Asks.Wait)
}

// Status returns what a participant is doing and when the hub last heard from it. An agent that the hub runs is never away.
func Status(u *unit.Unit, a parley.Agent, liveRuns int, awaits parley.Awaiting) (parley.Status, *time.Time, error) {
	present, last, err := isPresent(u, a)
	facts := parley.Facts{
		Kind: a.Kind, Away: !present && !a.Dispatched(), LiveRuns: liveRuns, Busy: u.Core.Attendance.Busy(a.ID, u.Now), Stopped: a.Stopped != nil, Paused: a.Paused.InForce(u.Now),
		AwaitingApproval: awaits.ApprovalID != "", OpenSubtasks: len(awaits.DelegationIDs),
	}
	if a.SleepingUntil != nil {
		facts.SleepingUntil = *a.SleepingUntil
	}
	return facts.StatusAt(u.Now), last, err
}

// FindWaiting returns the agents that wait for a task they delegated, or for an approval.
func FindWaiting(u *unit.Unit) (map[string]bool, error) {
	delegated, err := u.Tasks().CountAwaited()
	if err != nil {
		return nil, err
	}
	held, err := u.Approvals().OldestPending()
	waits := map[string]bool{}
	for id := range delegated {
		waits[id] = true
	}
	for id := range held {
		waits[id] = true
	}
	return waits, err
}

// StatusWith returns the status of an agent with this many live runs. An agent with live runs is working, so the hub does not look up
// what it waits for.
func StatusWith(u *unit.Unit, a parley.Agent, liveRuns int) (parley.Status, error) {
	var waits parley.Awaiting
	if liveRuns == 0 && a.Kind == parley.KindAgent {
		delegated, err := u.Tasks().Awaited(a.ID, 1)
		if err != nil {
			return parley.Status{}, err
		}
		for _, t := range delegated {
			waits.DelegationIDs = append(waits.DelegationIDs, t.ID)
		}
		if err := policy.PendingApproval(u, a.ID, &waits); err != nil {
			return parley.Status{}, err
		}
	}
	status, _, err := Status(u, a, liveRuns, waits)
	return status, err
}

// awaiting returns what an agent waits for, and the part of it that the caller may see. With waits false it looks nothing up.
func awaiting(u *unit.Unit, a parley.Agent, waits bool) (all, shown parley.Awaiting, err error) {
	if !waits || a.Kind != parley.KindAgent {
		return all, shown, nil
	}
	awaited, err := u.Tasks().Awaited(a.ID, math.MaxInt32)
	if err != nil {
		return all, shown, err
	}
	for _, t := range awaited {
		all.DelegationIDs = append(all.DelegationIDs, t.ID)
		sees, err := tasks.SeesTask(u, t)
		if err != nil {
			return all, shown, err
		}
		if sees {
			shown.DelegationIDs = append(shown.DelegationIDs, t.ID)
		}
	}
	err = policy.PendingApproval(u, a.ID, &all)
	if u.SeesAll() || u.Me.ID == a.ID || u.Me.ID == a.Manager {
		shown.ApprovalID, shown.Number = all.ApprovalID, all.Number
	}
	return all, shown, err
}

// Attend counts an agent as present, like an agent with an open session, until leave is called. Calling leave again has no effect.
func (s *Service) Attend(agent string) (leave func()) {
	a := s.Attendance
	a.Mu.Lock()
	defer a.Mu.Unlock()
	entry := a.Of(agent)
	entry.Sessions++
	a.Note(entry, s.Now())
	return sync.OnceFunc(func() {
		a.Mu.Lock()
		defer a.Mu.Unlock()
		entry.Sessions--
		if entry.LastSign = s.Now(); entry.Sessions > 0 {
			return
		}
		entry.Until = entry.LastSign.Add(local.LeaveGrace)
		time.AfterFunc(local.LeaveGrace, func() { local.Signal(a.Wake) })
	})
}

// IsPresentCaller reports whether the caller is an agent that makes the call itself.
func IsPresentCaller(u *unit.Unit, caller unit.Caller) bool {
	return u.Me.Kind == parley.KindAgent && caller.By == ""
}

// NoteHeard notes that the caller is present now.
func NoteHeard(u *unit.Unit, caller unit.Caller) {
	switch {
	case !IsPresentCaller(u, caller):
	case u.Me.Dispatched():
		u.Core.Attendance.Glimpsed(u.Me.ID, u.Core.Now())
	default:
		u.Core.Attendance.Heard(u.Me.ID, u.Core.Now())
	}
}

// NotePresence writes an event with the presence of an agent, and returns whether the agent is present. For a removed agent it writes
// nothing.
func NotePresence(u *unit.Unit, id string) (present bool, err error) {
	a, err := u.Agents().Find(id)
	if errors.Is(err, parley.ErrNotFound) || err == nil && a.RemovedAt != nil {
		present, _ = u.Core.Attendance.StateOf(id, u.Now)
		return present, nil
	}
	if err != nil {
		return false, err
	}
	if present, _, err = isPresent(u, a); err != nil {
		return present, err
	}
	live, err := u.Runs().Live(a.ID)
	if err != nil {
		return present, err
	}
	return present, NotePresenceOf(u, a, len(live))
}

// NotePresenceOf writes an event with the presence of an agent that has this many live runs.
func NotePresenceOf(u *unit.Unit, a parley.Agent, live int) error {
	status, err := StatusWith(u, a, live)
	if err != nil {
		return err
	}
	data, err := json.Marshal(struct {
		Status string `json:"status"`
		Reason string `json:"reason,omitempty"`
		Note   string `json:"note,omitempty"`
	}{status.Status, status.Reason, haltReason(u, a)})
	u.NoteChangedAgent(a.ID)
	u.Note(parley.Event{Kind: parley.EventAgentPresence, Agent: a.ID, Data: data})
	return err
}
