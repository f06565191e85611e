package arrivals

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/trees"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// RecordRefusal records that a document was refused for good, and tells its sender. A repeated call does nothing.
func RecordRefusal(u *unit.Unit, b parley.Bridge, doc *Document, cause *parley.Error) error {
	row := doc.row(b.ID, "", u.Now)
	if doc.Refused != nil { // a corrected file under the same name is another document
		row.File.Digest = "refused-" + row.File.Digest
	}
	err := trees.SaveFile(u.Tx, row)
	if errors.Is(err, parley.ErrTaken) {
		return nil
	}
	if err != nil {
		return err
	}
	return tellSender(u, b, doc, trees.DocumentNote{Error: shortenedError(cause), Final: true}, refusalWords(doc, cause))
}

// RecordHeld records that a document is pending approval, and tells its sender.
func RecordHeld(u *unit.Unit, b parley.Bridge, doc *Document, a parley.Approval) error {
	err := trees.SaveFile(u.Tx, doc.row(b.ID, "", u.Now))
	if errors.Is(err, parley.ErrTaken) {
		return nil
	}
	if err != nil {
		return err
	}
	words := parley.Own("The document ").Quote(doc.From, unit.Clipped(doc.Name)).Own(" waits for an approval: " + a.ShortName() + ".")
	return tellSender(u, b, doc, trees.DocumentNote{}, words)
}

// tellSender tells the sender of a document what became of the document: in the sender's inbox, or in the channel of the
// document. It tells only senders that the bridge lists, so that nobody else can make the hub write into a tree.
func tellSender(u *unit.Unit, b parley.Bridge, doc *Document, note trees.DocumentNote, text parley.Wording) error {
	if may, err := mayTellSender(u, b, doc); err != nil || !may {
		return err
	}
	where, err := senderConversation(u, b, doc)
	if err != nil || where == "" {
		return err
	}
	note.Document, note.File = doc.Name, doc.Path
	payload, err := json.Marshal(note)
	if err != nil {
		return err
	}
	return messages.PostError(u, parley.Message{Conversation: where, To: doc.From, Type: parley.TypeError, Payload: payload}, u.Core.FittingWords(text))
}

// mayTellSender reports whether to tell the sender what became of a document. It returns false for history, for an error, and for
// an answer to an error, so that no error causes another one.
func mayTellSender(u *unit.Unit, b parley.Bridge, doc *Document) (bool, error) {
	if doc.History || !b.HasAgent(doc.From) || saysFailure(doc.Draft) {
		return false, nil
	}
	sender, err := u.Agents().Find(doc.From)
	if err != nil || sender.RemovedAt != nil || sender.Kind != parley.KindAgent {
		return false, unit.IgnoreNotFound(err)
	}
	id, err := messageInTree(u, b, doc.ReplyTo, cmp.Or(doc.Channel, doc.From), doc.To)
	if err != nil || id == "" {
		return err == nil, err
	}
	answered, err := u.Messages().Get(id)
	return answered.From != parley.System || answered.Type != parley.TypeError, unit.IgnoreNotFound(err)
}

// saysFailure reports whether a document is itself an error, in any format.
func saysFailure(d parley.Draft) bool {
	var payload struct{ Status string }
	switch d.Type {
	case parley.TypeError, trees.TypeIncident:
		return true
	case parley.TypeResult, parley.TypeResponse:
		return json.Unmarshal(d.Payload, &payload) == nil && payload.Status == "failure"
	default:
		return false
	}
}

// senderConversation returns the conversation in which the sender reads messages of the hub, or "". It creates a missing
// channel, because its directory exists.
func senderConversation(u *unit.Unit, b parley.Bridge, doc *Document) (string, error) {
	if b.Layout != parley.LayoutAgentOS {
		dm, err := conversations.Dm(u, parley.System, doc.From)
		return dm.ID, err
	}
	if !b.HasChannel(doc.Channel) || parley.CheckKnownChannelName(doc.Channel) != nil {
		return "", nil
	}
	c, err := u.Conversations().Find(doc.Channel)
	if errors.Is(err, parley.ErrNotFound) {
		if parley.CheckNotShortName(doc.Channel) != nil {
			return "", nil
		}
		var made conversations.Place
		made, err = conversations.Create(u, parley.Conversation{Name: doc.Channel, Kind: parley.Channel, Visibility: parley.Public}, []string{doc.From})
		return made.ID, err
	}
	if err != nil || c.Kind != parley.Channel || c.Visibility != parley.Public && !slices.Contains(b.Channels, c.Name) {
		return "", err
	}
	return c.ID, nil
}

// shortenedError returns an error that fits into a document of any format.
func shortenedError(e *parley.Error) *parley.Error {
	short := *e
	short.Message, short.Suggestion = unit.Storable(e.Message), unit.Storable(e.Suggestion)
	if e.Validation != nil {
		issues := *e.Validation
		issues.MsgID = unit.Storable(issues.MsgID)
		if more := len(issues.Issues) - trees.MaxReportedIssues; more > 0 {
			issues.Issues = append(slices.Clone(issues.Issues[:trees.MaxReportedIssues]), fmt.Sprintf("and %d more", more))
		}
		short.Validation = &issues
	}
	return &short
}

// refusalWords returns the text that tells a sender why its document was refused.
func refusalWords(doc *Document, cause *parley.Error) parley.Wording {
	short := shortenedError(cause)
	reason := short.Plain()
	if short.Validation != nil {
		reason = "it is not valid: " + strings.Join(short.Validation.Issues, "; ")
	}
	w := parley.Own("Error: the document ").Quote(doc.From, unit.Clipped(doc.Name)).Own(" was refused: ").Quote("", reason).Own(unit.MissingStop(reason))
	if short.Suggestion != "" {
		w = w.Own(" Hint: ").Quote("", short.Suggestion).Own(unit.MissingStop(short.Suggestion))
	}
	return w
}
