package reports

import (
	"cmp"
	"encoding/json"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

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
