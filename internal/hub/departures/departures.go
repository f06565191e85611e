// Package departures holds messages that leave for a directory tree: which, under which name, and what became of each file.
//
// A search first runs in a view. It looks for departures that have a name and no report yet, and then for new messages. Only new
// messages need an update, which gives each departure its name and, for channels, moves the cursor of the bridge. So the hub
// stores a name before the bridge writes the file, and a bridge that was killed in between gets the same name again. An agent
// that lives in several trees gets its mail in one of them: the first tree, by the id of the bridge, that has inboxes.
//
// The state of a delivery follows its file. When the file exists, the delivery is delivered; in a channel it is acked. When the
// recipient has removed the file, the delivery is seen. When the file could not be written, the delivery has failed; when the
// file made room for others, it is evicted. In both cases the hub tells the sender. Departures have no leases, so a delivery does
// not become pending again after a time. Paused and stopped agents get no files that would wake them; sleeping agents get only
// asks.
//
// When a task ends that an agent in a tree has requested, the tree gets one message from the assignee, in reply to the request.
// It gets neither the answer of the run nor the usual callback.
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
	t, found, err := trees.TaskOf(d.Unit, m)
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
func (d *Search) isByRun(m parley.Message, ended *parley.Task) (bool, error) {
	_, err := d.Runs().PostedBy(m.ID)
	if !errors.Is(err, parley.ErrNotFound) {
		return err == nil, err
	}
	if d.Bridge.Layout != parley.LayoutAgentOS || ended == nil || ended.EndedAt == nil || m.ID != ended.Callback || m.From != ended.Assignee {
		return false, nil
	}
	runs, err := d.Runs().WokenBy(ended.Message, ended.Assignee)
	return slices.ContainsFunc(runs, func(r parley.Run) bool { return r.EndedAt != nil && r.EndedAt.Equal(*ended.EndedAt) }), unit.IgnoreNotFound(err)
}

// isFinal reports whether an error says that there are no further attempts. An error of the hub says so in its payload; an error
// of a participant is final unless its payload says otherwise.
func isFinal(m parley.Message) bool {
	if m.Type != parley.TypeError {
		return false
	}
	payload := struct {
		Final bool `json:"final"`
	}{m.From != parley.System}
	return json.Unmarshal(m.Payload, &payload) != nil || payload.Final
}

// replyName returns the name in the tree of the message that m answers, or "". That is the name of the file that the message came
// from or was written to, and otherwise the name that its sender uses.
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

// senderName returns the name that the sender uses for a message that was never in the tree: the id of its document, or "". In a
// blackboard, a message without a document has the id of the hub, because commands show it there too.
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
		return 0, parley.Errorf(parley.BadInput, "%q is not a departure", id).Suggest("use an id from the list of departures")
	}
	return num, nil
}

// setState moves a departure to another state. It is the only function that changes the state. E003 if the step is not
// allowed.
func setState(u *unit.Unit, row *storage.DepartureRow, to parley.DepartureState) error {
	if !row.State.May(to) {
		return parley.Errorf(parley.BadInput, "departure %d is %s and cannot become %s", row.Num, row.State, to).
			Because(parley.Conflict).Suggest("check its present state")
	}
	row.State, row.At = to, u.Now
	return u.Bridges().PutDeparture(*row)
}
