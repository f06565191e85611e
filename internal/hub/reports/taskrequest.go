package reports

import (
	"cmp"
	"encoding/json"
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// FindAnswered returns the message that the answer of a run replies to: the newest message that woke it. If that is the hub's, it
// returns the message that began the task or that led to the held call. It returns an empty message if the message was erased.
func FindAnswered(u *unit.Unit, r parley.Run) (newest parley.Message, err error) {
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

// Repetition is the metadata of a request that the hub repeats. It names the first request.
type Repetition struct {
	Repeats string `json:"repeats,omitempty"`
}

// FindFirstRequest returns the message that first asked for a task. It returns an empty message if there was none or it was
// erased.
func FindFirstRequest(u *unit.Unit, t parley.Task) (m parley.Message, err error) {
	if t.Message == "" {
		return m, nil
	}
	if m, err = u.Messages().Get(t.Message); err == nil && m.From == parley.System {
		var repetition Repetition
		_ = json.Unmarshal(m.Metadata, &repetition) // it may be redacted
		m, err = u.Messages().Get(cmp.Or(repetition.Repeats, m.InReplyTo))
	}
	if err != nil {
		return parley.Message{}, unit.IgnoreNotFound(err)
	}
	return m, nil
}

// SourceResult is the source of the messages that tell a requester how its task has ended.
const SourceResult = "delegation_result"

// CountHops returns how many automatic messages in a row have led to a task.
func CountHops(u *unit.Unit, t parley.Task) (int, error) {
	m, err := u.Messages().Get(t.Message)
	if t.Message == "" || errors.Is(err, parley.ErrNotFound) {
		return 0, nil
	}
	return m.Hops, err
}

// FindGivenTask returns the task of the run that got a delivery, or "".
func FindGivenTask(u *unit.Unit, d parley.Delivery) (task string, err error) {
	runs, err := u.Runs().WokenBy(d.Message, d.Recipient)
	for _, r := range runs {
		if r.Task != "" {
			task = r.Task
		}
	}
	return task, err
}
