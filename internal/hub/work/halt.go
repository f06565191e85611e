package work

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// EndHalts ends what is due for one agent: its pause, its sleep, or the time that a stop leaves to its runs.
func EndHalts(u *unit.Unit, id string) error {
	a, err := u.Agents().Find(id)
	if err != nil || a.RemovedAt != nil {
		return err
	}
	if a.Stopped != nil && a.Stopped.Until != nil && !a.Stopped.Until.After(u.Now) {
		if err := cancelAll(u, a, *a.Stopped); err != nil {
			return err
		}
	}
	before := a
	if a.Paused != nil && !a.Paused.InForce(u.Now) {
		a.Paused = nil
	}
	if a.SleepingUntil != nil && !a.Asleep(u.Now) {
		a.SleepingUntil = nil
	}
	if a.Paused == before.Paused && a.SleepingUntil == before.SleepingUntil {
		return nil
	}
	return presence.ChangeHalt(u, a)
}

// cancelAll cancels the runs of a stopped agent.
func cancelAll(u *unit.Unit, a parley.Agent, why parley.Halt) error {
	live, err := u.Runs().Live(a.ID)
	reason := runs.StopOf(a.ID)
	if why.Reason != "" {
		reason += ": " + why.Reason
	}
	for i := range live {
		if err == nil && live[i].Cancel == "" {
			err = runs.Cancel(u, &live[i], reason)
		}
	}
	return err
}
