package work

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// EndRun ends a run: its token is gone, with what it holds open, and its agent may start another.
func EndRun(u *unit.Unit, r *parley.Run, to parley.RunState, edit func(*parley.Run)) error {
	if err := runs.Step(u, r, to, edit); err != nil {
		return err
	}
	u.Wake(r.Agent)
	if err := freeWaits(u, *r); err != nil {
		return err
	}
	if err := lastRunEnded(u, *r); err != nil {
		return err
	}
	if err := passTurns(u, *r); err != nil {
		return err
	}
	if err := runs.EraseToken(u, *r); err != nil {
		return err
	}
	live, err := u.Runs().Live(r.Agent)
	if err != nil || len(live) > 0 {
		return err
	}
	a, err := u.Agents().Find(r.Agent)
	if err != nil || a.RemovedAt != nil {
		return err
	}
	return presence.NotePresenceOf(u, a, 0)
}
