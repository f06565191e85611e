package runs

import (
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// OwnRun finds a live run of the caller's own.
func OwnRun(u *unit.Unit, id string) (parley.Run, error) {
	r, err := LiveRun(u, id)
	if err == nil && r.Agent != u.Me.ID {
		err = parley.Errorf(parley.NotPermitted, "run %s is not one of %s", r.ID, u.Me.ID).Suggest("use the token of the run")
	}
	return r, err
}

// Earlier are the runs that the same messages have woken before, oldest first: earlier attempts.
func Earlier(u *unit.Unit, r parley.Run) ([]parley.Run, error) {
	var list []parley.Run
	known := map[string]bool{r.ID: true}
	for _, message := range r.Triggers {
		runs, err := u.Runs().WokenBy(message, r.Agent)
		if err != nil {
			return nil, err
		}
		for _, other := range runs {
			if !known[other.ID] && !other.State.Live() {
				known[other.ID] = true
				list = append(list, other)
			}
		}
	}
	return list, nil
}

// Said are the messages that a run and its earlier attempts have posted, in order.
func Said(u *unit.Unit, r parley.Run) ([]parley.Message, error) {
	runs, err := Earlier(u, r)
	if err != nil {
		return nil, err
	}
	return PostedBy(u, append(runs, r)...)
}

// PostedBy are the messages that runs have posted and that are still there, in order.
func PostedBy(u *unit.Unit, runs ...parley.Run) ([]parley.Message, error) {
	var ids []string
	for _, r := range runs {
		posts, err := u.Runs().Posts(r.ID)
		if err != nil {
			return nil, err
		}
		for _, p := range posts {
			if !slices.Contains(ids, p.Message) {
				ids = append(ids, p.Message)
			}
		}
	}
	return Messages(u, ids)
}

// Messages returns those of some messages that there are, in order, however large they are.
func Messages(u *unit.Unit, ids []string) (list []parley.Message, err error) {
	for left := ids; len(left) > 0; {
		part, err := u.Messages().GetAll(left)
		if err != nil || len(part) == 0 {
			return list, err
		}
		list = append(list, part...)
		left = slices.DeleteFunc(slices.Clone(left), func(id string) bool {
			return slices.ContainsFunc(part, func(m parley.Message) bool { return m.ID == id })
		})
	}
	unit.SortBySeq(list)
	return list, nil
}
