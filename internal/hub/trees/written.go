package trees

import (
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// ToldIn says that somebody is told something in a channel of a tree though its mail goes elsewhere: how a task has ended that was
// asked for there.
func ToldIn(u *unit.Unit, b parley.Bridge, message, agent string) (bool, error) {
	if b.Layout != parley.LayoutAgentOS || !b.Speaks(agent) {
		return false, nil
	}
	m, err := u.Messages().Get(message)
	if err != nil {
		return false, unit.IgnoreNotFound(err)
	}
	t, found, err := BelongsTo(u, m)
	if err != nil || !found || m.ID != t.Callback {
		return false, err
	}
	_, err = u.Bridges().Came(b.ID, m.InReplyTo)
	return err == nil, unit.IgnoreNotFound(err)
}

// ToldElsewhere says so of any tree into which it is written, or may yet be.
func ToldElsewhere(u *unit.Unit, d parley.Delivery) (told bool, err error) {
	trees, err := Homes(u, d.Recipient)
	for _, b := range trees {
		if err == nil && !told {
			told, err = ToldIn(u, b, d.Message, d.Recipient)
		}
		if err == nil && told {
			told, err = MayCome(u, b, d.Message, d.Seq)
		}
	}
	return told, err
}

// BelongsTo is the task that a message belongs to.
func BelongsTo(u *unit.Unit, m parley.Message) (t parley.Task, found bool, err error) {
	if m.Task == "" {
		return t, false, nil
	}
	t, err = u.Tasks().Get(m.Task)
	return t, err == nil, unit.IgnoreNotFound(err)
}

// MayCome says whether a message is written into the channels of a tree, or may yet be.
func MayCome(u *unit.Unit, b parley.Bridge, message string, seq int64) (bool, error) {
	_, err := u.Bridges().Departure(b.ID, message, "")
	if !errors.Is(err, parley.ErrNotFound) {
		return err == nil, err
	}
	cursor, err := u.Bridges().Cursor(b.ID)
	return cursor < seq, err
}
