package runs

import (
	"errors"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

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

// Chain is how many automatic messages in a row have led to one.
func Chain(u *unit.Unit, m parley.Message) (int, error) {
	by, err := u.Runs().PostedBy(m.ID)
	switch {
	case err == nil:
		return by.Chain + 1, nil
	case errors.Is(err, parley.ErrNotFound):
		return m.Hops, nil // a person's has none
	default:
		return 0, err
	}
}
