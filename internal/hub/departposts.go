package hub

import (
	"errors"
	"slices"

	"github.com/parley-hub/parley"
)

// channels are the names of those that are mapped.
func (d *departing) channels() []string {
	switch {
	case d.bridge.Layout != parley.LayoutAgentOS:
		return nil
	case len(d.bridge.Channels) > 0:
		return d.bridge.Channels
	default:
		return d.query.Channels
	}
}

// posts lists what was posted in channels that are mapped, from where the last look has ended.
func (d *departing) posts() error {
	begin, err := d.Bridges().Cursor(d.id)
	if err != nil {
		return err
	}
	at, places := begin, map[string]string{}
	for read := 0; read < postsRead && !d.done(); {
		page, err := d.Messages().Scan(at, min(departuresRead, postsRead-read))
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		read += len(page)
		for _, m := range page {
			if d.done() {
				break
			}
			if err := d.publish(m, places); err != nil {
				return err
			}
			at = m.Seq
		}
	}
	if d.writes {
		err = d.Bridges().MoveCursor(d.id, at)
	}
	d.undone = d.undone || !d.writes && at-begin >= postsRead // so that it need not be read again and again
	if err != nil || d.done() {
		return err
	}
	return d.strays(at)
}

// publish lists a message, if it is for the tree. places remembers the channels: those that are not mapped have no name.
func (d *departing) publish(m parley.Message, places map[string]string) (err error) {
	name, known := places[m.Conversation]
	if !known {
		if name, err = d.folder(m.Conversation); err != nil {
			return err
		}
		places[m.Conversation] = name
	}
	if name == "" {
		return d.leaveOut(m)
	}
	if exported, err := d.exports(m); err != nil || !exported || !d.toWrite() {
		return err
	}
	row, err := d.name(m, "", name)
	if err != nil {
		return err
	}
	return d.add(row, m, parley.Delivery{})
}

// leaveOut passes a message by that has no directory. If it tells the end of a task that was asked for here, the cursor must show it:
// who is told has it elsewhere then.
func (d *departing) leaveOut(m parley.Message) error {
	if m.To == "" || m.To == parley.All {
		return nil
	}
	told, err := d.toldIn(d.bridge, m.ID, m.To)
	if told {
		d.toWrite()
	}
	return err
}

// folder is the name of a conversation that has a directory in the tree, or nothing. A private channel has one only where an
// owner has named it.
func (d *departing) folder(conversation string) (string, error) {
	c, err := d.Conversations().Find(conversation)
	if err != nil || c.Kind != parley.Channel || !slices.Contains(d.channels(), c.Name) {
		return "", ignoreNotFound(err)
	}
	if c.Visibility != parley.Public && !slices.Contains(d.bridge.Channels, c.Name) {
		return "", nil
	}
	return c.Name, nil
}

// exports says whether a message of a mapped channel is for the tree: it did not come from there, and what the hub itself says
// there is for nobody else.
func (d *departing) exports(m parley.Message) (bool, error) {
	if m.Type == parley.TypeHeartbeat || m.RedactedAt != nil || m.Damage != nil {
		return false, nil
	}
	if _, err := d.Bridges().Came(d.id, m.ID); !errors.Is(err, parley.ErrNotFound) {
		return false, err
	}
	if m.From == parley.System && m.To != "" && m.To != parley.All && !slices.Contains(d.bridge.Agents, m.To) {
		return false, nil
	}
	t, found, err := d.belongsTo(m)
	if err != nil || !found {
		return !found, err
	}
	if t.Message == m.ID && !t.Status.Ended() && d.bridge.Speaks(t.Assignee) {
		waits, err := d.waitsForOthers(t)
		return !waits, err // whoever reads it would begin
	}
	repeated, err := d.saidAtEnd(m, t)
	return !repeated, err
}

// saidAtEnd says that a message only says of a task what the document says, or will say there, by which it ends.
func (d *departing) saidAtEnd(m parley.Message, t parley.Task) (bool, error) {
	if m.From != t.Assignee || m.ID == t.Callback || t.CallbackTo != m.Conversation {
		return false, nil
	}
	to, _, err := d.calledBack(t)
	return to.Runtime == parley.RuntimeBridge && (m.Source == sourceRun || endsTask(m, t)), err
}

// belongsTo is the task that a message belongs to.
func (s *scene) belongsTo(m parley.Message) (t parley.Task, found bool, err error) {
	if m.Task == "" {
		return t, false, nil
	}
	t, err = s.Tasks().Get(m.Task)
	return t, err == nil, ignoreNotFound(err)
}

// endsTask says whether a message is the one by which its task has ended: both happen at once.
func endsTask(m parley.Message, t parley.Task) bool {
	if m.ID == t.Callback {
		return true
	}
	switch m.Type {
	case parley.TypeResponse, parley.TypeResult, parley.TypeError, typeTaskResult:
		return m.From == t.Assignee && t.EndedAt != nil && t.EndedAt.Equal(m.CreatedAt)
	default:
		return false
	}
}
