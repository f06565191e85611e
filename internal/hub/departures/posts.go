package departures

import (
	"errors"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/post"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// Channels are the names of those that are mapped.
func (d *Departing) Channels() []string {
	switch {
	case d.Bridge.Layout != parley.LayoutAgentOS:
		return nil
	case len(d.Bridge.Channels) > 0:
		return d.Bridge.Channels
	default:
		return d.Query.Channels
	}
}

// listPosts lists what was posted in channels that are mapped, from where the last look has ended.
func (d *Departing) listPosts() error {
	begin, err := d.Bridges().Cursor(d.Id)
	if err != nil {
		return err
	}
	at, places := begin, map[string]string{}
	for read := 0; read < postsPerLook && !d.finished(); {
		page, err := d.Messages().Scan(at, min(departuresPage, postsPerLook-read))
		if err != nil {
			return err
		}
		if len(page) == 0 {
			break
		}
		read += len(page)
		for _, m := range page {
			if d.finished() {
				break
			}
			if err := d.listPost(m, places); err != nil {
				return err
			}
			at = m.Seq
		}
	}
	if d.Writes {
		err = d.Bridges().MoveCursor(d.Id, at)
	}
	d.Undone = d.Undone || !d.Writes && at-begin >= postsPerLook // so that it need not be read again and again
	if err != nil || d.finished() {
		return err
	}
	return d.listMissed(at)
}

// listPost lists a message, if it is for the tree. places remembers the channels: those that are not mapped have no name.
func (d *Departing) listPost(m parley.Message, places map[string]string) (err error) {
	name, known := places[m.Conversation]
	if !known {
		if name, err = d.folder(m.Conversation); err != nil {
			return err
		}
		places[m.Conversation] = name
	}
	if name == "" {
		return d.skipPost(m)
	}
	if exported, err := d.isForTree(m); err != nil || !exported || !d.needsWrite() {
		return err
	}
	row, err := d.insertDeparture(m, "", name)
	if err != nil {
		return err
	}
	return d.addDeparture(row, m, parley.Delivery{})
}

// skipPost passes a message by that has no directory. If it tells the end of a task that was asked for here, the cursor must show it:
// who is told has it elsewhere then.
func (d *Departing) skipPost(m parley.Message) error {
	if m.To == "" || m.To == parley.All {
		return nil
	}
	told, err := trees.ToldIn(d.Unit, d.Bridge, m.ID, m.To)
	if told {
		d.needsWrite()
	}
	return err
}

// folder is the name of a conversation that has a directory in the tree, or nothing. A private channel has one only where an
// owner has named it.
func (d *Departing) folder(conversation string) (string, error) {
	c, err := d.Conversations().Find(conversation)
	if err != nil || c.Kind != parley.Channel || !slices.Contains(d.Channels(), c.Name) {
		return "", unit.IgnoreNotFound(err)
	}
	if c.Visibility != parley.Public && !slices.Contains(d.Bridge.Channels, c.Name) {
		return "", nil
	}
	return c.Name, nil
}

// isForTree says whether a message of a mapped channel is for the tree: it did not come from there, and what the hub itself says
// there is for nobody else.
func (d *Departing) isForTree(m parley.Message) (bool, error) {
	if m.Type == parley.TypeHeartbeat || m.RedactedAt != nil || m.Damage != nil {
		return false, nil
	}
	if _, err := d.Bridges().Came(d.Id, m.ID); !errors.Is(err, parley.ErrNotFound) {
		return false, err
	}
	if m.From == parley.System && m.To != "" && m.To != parley.All && !slices.Contains(d.Bridge.Agents, m.To) {
		return false, nil
	}
	t, found, err := trees.BelongsTo(d.Unit, m)
	if err != nil || !found {
		return !found, err
	}
	if t.Message == m.ID && !t.Status.Ended() && d.Bridge.Speaks(t.Assignee) {
		waits, err := tasks.WaitsForOthers(d.Unit, t)
		return !waits, err // whoever reads it would begin
	}
	repeated, err := d.repeatsTaskEnd(m, t)
	return !repeated, err
}

// repeatsTaskEnd says that a message only says of a task what the document says, or will say there, by which it ends.
func (d *Departing) repeatsTaskEnd(m parley.Message, t parley.Task) (bool, error) {
	if m.From != t.Assignee || m.ID == t.Callback || t.CallbackTo != m.Conversation {
		return false, nil
	}
	to, _, err := work.CalledBack(d.Unit, t)
	return to.Runtime == parley.RuntimeBridge && (m.Source == runs.SourceRun || endsTask(m, t)), err
}

// endsTask says whether a message is the one by which its task has ended: both happen at once.
func endsTask(m parley.Message, t parley.Task) bool {
	if m.ID == t.Callback {
		return true
	}
	switch m.Type {
	case parley.TypeResponse, parley.TypeResult, parley.TypeError, post.TypeTaskResult:
		return m.From == t.Assignee && t.EndedAt != nil && t.EndedAt.Equal(m.CreatedAt)
	default:
		return false
	}
}
