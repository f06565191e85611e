package departures

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// addDeparture adds a departure to the list with everything that its document needs.
func (d *Search) addDeparture(row storage.DepartureRow, m parley.Message, delivery parley.Delivery) (err error) {
	out := parley.Departure{
		ID: strconv.FormatInt(row.Num, 10), Name: row.Name, Message: m, Recipient: row.Recipient,
		Sequence: delivery.PairSeq, Wakes: delivery.Waking, Final: isFinal(m), ToTier: d.agentsInTree[row.Recipient].Tier,
	}
	if row.Recipient == "" {
		out.Channel = row.Folder
	}
	if out.ReplyTo, err = d.replyName(m, row.Recipient); err != nil {
		return err
	}
	from, err := d.Agents().Find(m.From)
	if err != nil {
		return err
	}
	out.FromTier = from.Tier
	t, found, err := trees.BelongsTo(d.Unit, m)
	if err != nil {
		return err
	}
	if found && (t.Message == m.ID || endsTask(m, t)) {
		out.Task = &t
	}
	out.ByRun, err = d.isByRun(m, out.Task)
	d.Found = append(d.Found, out)
	return err
}

// isByRun reports whether a run of the sender wrote a message: the run posted it, or the run ended the task whose end it
// reports.
func (d *Search) isByRun(m parley.Message, ends *parley.Task) (bool, error) {
	_, err := d.Runs().PostedBy(m.ID)
	if !errors.Is(err, parley.ErrNotFound) {
		return err == nil, err
	}
	if d.Bridge.Layout != parley.LayoutAgentOS || ends == nil || ends.EndedAt == nil || m.ID != ends.Callback || m.From != ends.Assignee {
		return false, nil
	}
	runs, err := d.Runs().WokenBy(ends.Message, ends.Assignee)
	return slices.ContainsFunc(runs, func(r parley.Run) bool { return r.EndedAt != nil && r.EndedAt.Equal(*ends.EndedAt) }), unit.IgnoreNotFound(err)
}

// isFinal reports whether an error says that there are no further attempts. Errors of the hub say so in their payload.
func isFinal(m parley.Message) bool {
	if m.Type != parley.TypeError {
		return false
	}
	said := struct {
		Final bool `json:"final"`
	}{m.From != parley.System}
	return json.Unmarshal(m.Payload, &said) != nil || said.Final
}

// replyName returns the name in the tree of the message that m answers, or "". It is the name of the file that the message
// came from or departed as; otherwise the name that its sender uses.
func (d *Search) replyName(m parley.Message, recipient string) (string, error) {
	if m.InReplyTo == "" {
		return documentOf(d.Bridge.Layout, m), nil
	}
	file, err := d.Bridges().Came(d.BridgeID, m.InReplyTo)
	if !errors.Is(err, parley.ErrNotFound) {
		return file.Name, err
	}
	for _, to := range []string{recipient, m.From} {
		if d.Bridge.Layout == parley.LayoutAgentOS {
			to = ""
		}
		row, err := d.Bridges().Departure(d.BridgeID, m.InReplyTo, to)
		if !errors.Is(err, parley.ErrNotFound) {
			return row.Name, err
		}
	}
	return d.senderName(m.InReplyTo)
}

// senderName returns the name that the sender uses for a message that was never in the tree: the id of its document. In a
// blackboard it is otherwise the hub's own id, because commands read that tree too.
func (d *Search) senderName(id string) (string, error) {
	m, err := d.Messages().Get(id)
	name := documentName(d.Bridge.Layout, m)
	if name == "" && d.Bridge.Layout == parley.LayoutBlackboard {
		name = id
	}
	return name, unit.IgnoreNotFound(err)
}

// documentOf returns the id of the document that a message of the hub is about, or "" if there is none or the layout does
// not allow such an id.
func documentOf(l parley.Layout, m parley.Message) string {
	var note trees.DocumentNote
	if m.From != parley.System || json.Unmarshal(m.Payload, &note) != nil {
		return ""
	}
	if own, ok := documentNames[l]; ok && l == parley.LayoutInbox && !own.form.MatchString(note.Document) {
		return ""
	}
	return note.Document
}
