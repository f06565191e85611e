package presence

import (
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/local"
	"github.com/parley-hub/parley/internal/hub/unit"
)

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
	present, _ = u.Core.Attendance.StateOf(id, u.Now)
	a, err := u.Agents().Find(id)
	if errors.Is(err, parley.ErrNotFound) || err == nil && a.RemovedAt != nil {
		return present, nil
	}
	if err != nil {
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
