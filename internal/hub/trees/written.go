package trees

import (
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// ToldIn reports whether the hub writes a message for an agent into a channel of a tree although the agent's mail goes
// elsewhere. That is so for the outcome of a task that was requested in the tree.
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

// ToldElsewhere reports whether such a message is written, or will be, into any tree of its recipient.
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

// BelongsTo returns the task that a message belongs to, and whether there is one.
func BelongsTo(u *unit.Unit, m parley.Message) (t parley.Task, found bool, err error) {
	if m.Task == "" {
		return t, false, nil
	}
	t, err = u.Tasks().Get(m.Task)
	return t, err == nil, unit.IgnoreNotFound(err)
}

// MayCome reports whether a message was written into the channels of a tree, or may still be.
func MayCome(u *unit.Unit, b parley.Bridge, message string, seq int64) (bool, error) {
	_, err := u.Bridges().Departure(b.ID, message, "")
	if !errors.Is(err, parley.ErrNotFound) {
		return err == nil, err
	}
	cursor, err := u.Bridges().Cursor(b.ID)
	return cursor < seq, err
}
