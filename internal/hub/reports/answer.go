package reports

import (
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// AnswersWhat is the message that the answer of a run replies to: the newest that woke it, or, where that is the hub's,
// what the hub's is about: the message that began the task, or led to the call that was held. None if it was not kept
// that long.
func AnswersWhat(u *unit.Unit, r parley.Run) (newest parley.Message, err error) {
	n := len(r.Triggers)
	if n == 0 {
		return newest, nil
	}
	newest, err = u.Messages().Get(r.Triggers[n-1])
	if err != nil || newest.From != parley.System {
		return newest, unit.IgnoreNotFound(err)
	}
	candidates := []string{newest.InReplyTo}
	if t, err := u.Tasks().Get(r.Task); err == nil {
		candidates = []string{t.Message, newest.InReplyTo}
	} else if !errors.Is(err, parley.ErrNotFound) {
		return newest, err
	}
	for _, id := range candidates {
		m, err := u.Messages().Get(id)
		if err == nil && m.Conversation == r.Conversation {
			return m, nil
		}
		if err = unit.IgnoreNotFound(err); err != nil {
			return newest, err
		}
	}
	return newest, nil
}
