// Package departures holds messages that leave for a directory tree: which, under which name, and what became of each file.
//
// The hub first looks in a view whether a message is to be written into the tree: departures that have a name and no report yet,
// then new ones. Only for new ones it starts an update, which gives each its name; for channels it moves the cursor of the bridge
// in the same step. So a name is stored before its file is written, and a bridge that is killed in between gets the same name
// again. An agent that lives in several trees has its mail in one of them: the first, by id, that has inboxes.
//
// The delivery follows its file. The file is in place: delivered (in a channel: acked). The file is gone: seen. A file that
// cannot be written, or that made room for others, ends the delivery in a failure, and the sender is told. Departures have no
// lease: nothing comes back by itself. Paused and stopped agents get no files that would wake them. Sleeping agents get asks.
//
// The end of a task that an agent in a tree requested is one message from the assignee, in reply to the request. The answer of
// the run and the usual callback are not written besides.
package departures

import (
	"encoding/json"
	"errors"
	"slices"
	"strconv"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
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
	file, err := d.Bridges().FileOfMessage(d.BridgeID, m.InReplyTo)
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

// ParseID parses the id of a departure. E003 if it is no number.
func ParseID(id string) (int64, error) {
	num, err := strconv.ParseInt(id, 10, 64)
	if err != nil || num < 0 {
		return 0, parley.Errorf(parley.BadInput, "%q is no departure", id).Suggest("name one as it was given")
	}
	return num, nil
}

// stepDeparture moves a departure to another state. It is the only function that changes the state. E003 if the step is not
// allowed.
func stepDeparture(u *unit.Unit, row *storage.DepartureRow, to parley.DepartureState) error {
	if !row.State.May(to) {
		return parley.Errorf(parley.BadInput, "departure %d is %s and cannot become %s", row.Num, row.State, to).
			Because(parley.Conflict).Suggest("look at what has become of it")
	}
	row.State, row.At = to, u.Now
	return u.Bridges().PutDeparture(*row)
}
