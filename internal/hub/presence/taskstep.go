package presence

import (
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// SumUpTasks says once of each agent whose tasks have changed how it stands, and what it is doing now where that is
// not for a run to say.
func SumUpTasks(u *unit.Unit) error {
	slices.Sort(u.Retasked)
	agents := slices.Compact(u.Retasked)
	u.Retasked = nil
	for _, id := range agents {
		a, err := u.Agents().Find(id)
		if err != nil {
			return err
		}
		if a.Kind != parley.KindAgent || a.RemovedAt != nil {
			continue
		}
		if err := summarize(u, a); err != nil {
			return err
		}
		live, err := u.Runs().Live(a.ID)
		if err == nil && len(live) == 0 {
			err = NotePresenceOf(u, a, 0)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
