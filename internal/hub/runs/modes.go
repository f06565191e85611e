package runs

import (
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// RunOf is the live run that has a delivery, if one does.
func RunOf(u *unit.Unit, d parley.Delivery) (r parley.Run, has bool, err error) {
	if d.Lease == "" || d.Lease != d.Run {
		return r, false, nil
	}
	return Lives(u, d.Run)
}

// Lives is the run of a name, if there is one and it has not ended.
func Lives(u *unit.Unit, run string) (r parley.Run, lives bool, err error) {
	r, err = u.Runs().Get(run)
	if errors.Is(err, parley.ErrNotFound) {
		return r, false, nil
	}
	return r, err == nil && r.State.Live(), err
}
