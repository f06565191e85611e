package post

import (
	"errors"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// enterRun finds the run that posts, if one does, and returns what an earlier attempt of it has posted by
// the same call. E003, conflict, if the run is over.
func enterRun(u *unit.Unit, p *Posting) (first parley.Receipt, found bool, err error) {
	if p.Run == "" {
		return first, false, nil
	}
	r, err := runs.OwnRun(u, p.Run)
	if err != nil {
		return first, false, err
	}
	p.By = &r
	return Repeated(u, r, p.Call)
}

// Repeated returns what an earlier attempt of a run has posted by the same call, and notes it as this run's.
// A call that was made twice is repeated twice.
func Repeated(u *unit.Unit, r parley.Run, call string) (first parley.Receipt, found bool, err error) {
	mine, err := u.Runs().Posts(r.ID)
	if err != nil {
		return first, false, err
	}
	earlier, err := runs.Earlier(u, r)
	for _, other := range earlier {
		posts, postsErr := u.Runs().Posts(other.ID)
		if err = errors.Join(err, postsErr); err != nil {
			return first, false, err
		}
		for _, p := range posts {
			if p.Digest != call || slices.Contains(mine, p) {
				continue
			}
			first, err = receiptOf(u, p.Message)
			if _, hidden := errors.AsType[unit.Unknown](err); hidden {
				continue // it is gone, or cannot be read any more
			}
			if err == nil {
				err = runs.NotePost(u.Tx, r.ID, p)
			}
			return first, true, err
		}
	}
	return first, false, err
}
