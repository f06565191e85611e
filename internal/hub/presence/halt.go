package presence

import (
	"context"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// LookAgain makes the next sweep look: another process on the same database may have halted somebody.
func LookAgain(_ context.Context, core *unit.Core) error {
	core.Halts.Expect([]time.Time{{}})
	return nil
}

// Ends are the moments at which something is due for an agent.
func Ends(a parley.Agent, busy bool) (moments []time.Time) {
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

// ChangeHalt writes what has become of an agent, tells those who follow, and whoever starts its runs.
func ChangeHalt(u *unit.Unit, a parley.Agent) error {
	a.UpdatedAt = u.Now
	if err := agents.SaveRow(u.Tx, a); err != nil {
		return err
	}
	u.HaltUntil(Ends(a, true)...)
	u.Wake(a.ID)
	u.Note(parley.Event{Kind: parley.EventAgentChanged, Agent: a.ID})
	_, err := NotePresence(u, a.ID)
	return err
}

// MayStart says whether a run of an agent may start now, and else why not. For an ask mayAnswer says it.
func MayStart(u *unit.Unit, a parley.Agent) (why string, ok bool, err error) {
	if a.Asleep(u.Now) && a.RemovedAt == nil && !a.Halted(u.Now) {
		return "sleeping", false, nil
	}
	return MayAnswer(u, a)
}

// MayAnswer says whether a run of an agent may start now that answers an ask, and else why not. Sleep does not hold
// it up.
func MayAnswer(u *unit.Unit, a parley.Agent) (why string, ok bool, err error) {
	switch {
	case a.RemovedAt != nil:
		return "removed", false, nil
	case a.Stopped != nil:
		return "stopped", false, nil
	case a.Paused.Holds(u.Now):
		return "paused", false, nil
	}
	why, err = overspent(u, a)
	return why, why == "" && err == nil, err
}

// LongestSleep keeps a mistake in a date from putting an agent to sleep for ever.
const LongestSleep = 366 * 24 * time.Hour
