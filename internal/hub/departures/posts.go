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

// Channels returns the names of the mapped channels. Layouts other than the Multi-Agent OS have none.
func (d *Search) Channels() []string {
	switch {
	case d.Bridge.Layout != parley.LayoutAgentOS:
		return nil
	case len(d.Bridge.Channels) > 0:
		return d.Bridge.Channels
	default:
		return d.Query.Channels
	}
}

// listPosts lists the messages posted in mapped channels since the cursor.
func (d *Search) listPosts() error {
	begin, err := d.Bridges().Cursor(d.BridgeID)
	if err != nil {
		return err
	}
	at, names := begin, map[string]string{}
	for read := 0; read < postsPerSearch && !d.finished(); {
		page, err := d.Messages().Scan(at, min(departuresPage, postsPerSearch-read))
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
			if err := d.listPost(m, names); err != nil {
				return err
			}
			at = m.Seq
		}
	}
	if d.MayWrite {
		err = d.Bridges().MoveCursor(d.BridgeID, at)
	}
	d.NeedsUpdate = d.NeedsUpdate || !d.MayWrite && at-begin >= postsPerSearch // otherwise each search would read these messages again
	if err != nil || d.finished() {
		return err
	}
	return d.listMissed(at)
}

// listPost lists a message if it belongs in the tree. names caches the directory of each conversation; "" means that there
// is none.
func (d *Search) listPost(m parley.Message, names map[string]string) (err error) {
	name, known := names[m.Conversation]
	if !known {
		if name, err = d.folder(m.Conversation); err != nil {
			return err
		}
		names[m.Conversation] = name
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

// skipPost skips a message whose conversation has no directory. If the message reports the end of a task that was requested in
// this tree, the cursor must be stored: searches for other trees then know that this tree has passed the message.
func (d *Search) skipPost(m parley.Message) error {
	if m.To == "" || m.To == parley.All {
		return nil
	}
	reported, err := trees.ReportedIn(d.Unit, d.Bridge, m.ID, m.To)
	if reported {
		d.needsWrite()
	}
	return err
}

// folder returns the name of the directory of a conversation, or "" if it has none. A private channel has one only if an
// owner has mapped it.
func (d *Search) folder(conversation string) (string, error) {
	c, err := d.Conversations().Find(conversation)
	if err != nil || c.Kind != parley.Channel || !slices.Contains(d.Channels(), c.Name) {
		return "", unit.IgnoreNotFound(err)
	}
	if c.Visibility != parley.Public && !slices.Contains(d.Bridge.Channels, c.Name) {
		return "", nil
	}
	return c.Name, nil
}

// isForTree reports whether a message of a mapped channel belongs in the tree. A message does not belong there if it came from
// the tree, or if the hub wrote it for an agent outside of the tree.
func (d *Search) isForTree(m parley.Message) (bool, error) {
	if m.Type == parley.TypeHeartbeat || m.RedactedAt != nil || m.Damage != nil {
		return false, nil
	}
	if _, err := d.Bridges().FileOfMessage(d.BridgeID, m.ID); !errors.Is(err, parley.ErrNotFound) {
		return false, err
	}
	if m.From == parley.System && m.To != "" && m.To != parley.All && !slices.Contains(d.Bridge.Agents, m.To) {
		return false, nil
	}
	t, found, err := trees.TaskOf(d.Unit, m)
	if err != nil || !found {
		return !found, err
	}
	if t.Message == m.ID && !t.Status.Ended() && d.Bridge.HasAgent(t.Assignee) {
		waits, err := tasks.WaitsForOthers(d.Unit, t)
		return !waits, err // a script that reads the request would begin
	}
	repeated, err := d.repeatsTaskEnd(m, t)
	return !repeated, err
}

// repeatsTaskEnd reports whether a message only repeats what the document that ends its task says.
func (d *Search) repeatsTaskEnd(m parley.Message, t parley.Task) (bool, error) {
	if m.From != t.Assignee || m.ID == t.Callback || t.CallbackTo != m.Conversation {
		return false, nil
	}
	to, _, err := work.FindCallbackRecipient(d.Unit, t)
	return to.Runtime == parley.RuntimeBridge && (m.Source == runs.SourceRun || endsTask(m, t)), err
}

// endsTask reports whether a message ended its task: both happened at the same time.
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
