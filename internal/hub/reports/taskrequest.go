package reports

import (
	"cmp"
	"encoding/json"
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

// Repetition says in the metadata of a request that the hub repeats which one it was at first.
type Repetition struct {
	Repeats string `json:"repeats,omitempty"`
}

// FirstRequest is the message that a task was first asked for with, if there was one and it is kept.
func FirstRequest(u *unit.Unit, t parley.Task) (m parley.Message, err error) {
	if t.Message == "" {
		return m, nil
	}
	if m, err = u.Messages().Get(t.Message); err == nil && m.From == parley.System {
		var said Repetition
		_ = json.Unmarshal(m.Metadata, &said) // which may have been redacted
		m, err = u.Messages().Get(cmp.Or(said.Repeats, m.InReplyTo))
	}
	if err != nil {
		return parley.Message{}, unit.IgnoreNotFound(err)
	}
	return m, nil
}

// SourceResult is the source of the messages by which requesters learn how what they delegated has ended.
const SourceResult = "delegation_result"

// HopsTo is how many automatic messages in a row have led to a task.
func HopsTo(u *unit.Unit, t parley.Task) (int, error) {
	m, err := u.Messages().Get(t.Message)
	if t.Message == "" || errors.Is(err, parley.ErrNotFound) {
		return 0, nil
	}
	return m.Hops, err
}

// GivenFor is the task that a run of the delivery was given.
func GivenFor(u *unit.Unit, d parley.Delivery) (task string, err error) {
	runs, err := u.Runs().WokenBy(d.Message, d.Recipient)
	for _, r := range runs {
		if r.Task != "" {
			task = r.Task
		}
	}
	return task, err
}
