package runs

import (
	"errors"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Earlier returns the ended runs that the same messages woke, oldest first. These are the earlier attempts.
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

// PostsOfAttempts returns the messages that a run and its earlier attempts posted, in order.
func PostsOfAttempts(u *unit.Unit, r parley.Run) ([]parley.Message, error) {
	runs, err := Earlier(u, r)
	if err != nil {
		return nil, err
	}
	return PostsOf(u, append(runs, r)...)
}

// PostsOf returns the messages that runs posted, in order, without deleted ones.
func PostsOf(u *unit.Unit, runs ...parley.Run) ([]parley.Message, error) {
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

// Messages returns messages by id, in order, without missing ones. It reads as often as needed, because one read has a limit
// of bytes.
func Messages(u *unit.Unit, ids []string) (list []parley.Message, err error) {
	for remaining := ids; len(remaining) > 0; {
		part, err := u.Messages().GetAll(remaining)
		if err != nil || len(part) == 0 {
			return list, err
		}
		list = append(list, part...)
		remaining = slices.DeleteFunc(slices.Clone(remaining), func(id string) bool {
			return slices.ContainsFunc(part, func(m parley.Message) bool { return m.ID == id })
		})
	}
	unit.SortBySeq(list)
	return list, nil
}

// Chain returns how many runs in a row woke each other before a message. For a message that no run posted, it returns the hops of
// the message.
func Chain(u *unit.Unit, m parley.Message) (int, error) {
	by, err := u.Runs().PostedBy(m.ID)
	switch {
	case err == nil:
		return by.Chain + 1, nil
	case errors.Is(err, parley.ErrNotFound):
		return m.Hops, nil // 0 for a message of a person
	default:
		return 0, err
	}
}
