package presence

import (
	"context"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// RecheckHalts makes the next sweep check all agents, because another process on the same database may have halted one.
func RecheckHalts(_ context.Context, core *unit.Core) error {
	core.Halts.Expect([]time.Time{{}})
	return nil
}

// DueTimes returns the times at which a pause, a sleep or a stop of an agent is due to end. The end of a stop is only due while the agent
// is busy: then its runs are cancelled.
func DueTimes(a parley.Agent, busy bool) (moments []time.Time) {
	if a.RemovedAt != nil {
		return nil
	}
	if a.Paused != nil && a.Paused.Until != nil {
		moments = append(moments, *a.Paused.Until)
	}
	if a.SleepingUntil != nil {
		moments = append(moments, *a.SleepingUntil)
	}
	if a.Stopped != nil && a.Stopped.Until != nil && busy {
		moments = append(moments, *a.Stopped.Until)
	}
	return moments
}

// ChangeHalt stores an agent that was paused, resumed, stopped, started, put to sleep or woken. It writes the events and wakes the
// dispatcher of the agent.
func ChangeHalt(u *unit.Unit, a parley.Agent) error {
	a.UpdatedAt = u.Now
	if err := agents.Save(u.Tx, a); err != nil {
		return err
	}
	u.HaltUntil(DueTimes(a, true)...)
	u.Wake(a.ID)
	u.Note(parley.Event{Kind: parley.EventAgentChanged, Agent: a.ID})
	_, err := NotePresence(u, a.ID)
	return err
}

// MayStart reports whether a run of an agent may start now, and why not. MayAnswer decides for a run that answers an ask.
func MayStart(u *unit.Unit, a parley.Agent) (reason string, ok bool, err error) {
	if a.Asleep(u.Now) && a.RemovedAt == nil && !a.Halted(u.Now) {
		return "sleeping", false, nil
	}
	return MayAnswer(u, a)
}

// MayAnswer reports whether a run of an agent that answers an ask may start now, and why not. A sleeping agent may.
func MayAnswer(u *unit.Unit, a parley.Agent) (reason string, ok bool, err error) {
	switch {
	case a.RemovedAt != nil:
		return "removed", false, nil
	case a.Stopped != nil:
		return "stopped", false, nil
	case a.Paused.InForce(u.Now):
		return "paused", false, nil
	}
	reason, err = overspent(u, a)
	return reason, reason == "" && err == nil, err
}

// MaxSleep bounds how long an agent can sleep, so that a mistyped date does not put it to sleep for ever.
const MaxSleep = 366 * 24 * time.Hour
