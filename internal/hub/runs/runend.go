package runs

import (
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// StoppedWith reports whether a run was cancelled because its agent was stopped. The asks of such a run go on, because the
// agent continues with its queue when it is started again.
func StoppedWith(r parley.Run) bool { return strings.HasPrefix(r.Cancel, StopOf(r.Agent)) }

func WasCancelled(r parley.Run) *parley.Error {
	return parley.Errorf(parley.Unavailable, "%s%sthe run was cancelled: %s", r.Agent, deliveries.DidNot, r.Cancel).
		Suggest("send it again if it is still wanted")
}

// Cancel says that a run is to end. Whoever is at it looks.
func Cancel(u *unit.Unit, r *parley.Run, reason string) error {
	after := *r
	after.Cancel = reason
	if err := KeepRun(u, r, after); err != nil {
		return err
	}
	u.Wake(r.Agent)
	return NoteRun(u, *r)
}
