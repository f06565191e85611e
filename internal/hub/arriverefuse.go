package hub

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
)

// documentNote is the payload of what the hub tells the sender of a document that became no message. It is where a departure
// finds which document it answers.
type documentNote struct {
	Error    *parley.Error `json:"error,omitempty"`
	Document string        `json:"document"`       // its id in the format of the tree
	File     string        `json:"file,omitempty"` // where it was, below the root
	Final    bool          `json:"final"`
}

// typeIncident is the word of agentos for an error.
const typeIncident parley.Type = "incident"

// refuse keeps that a document was refused for good, and tells its sender why. Both happen once, however often the bridge repeats it.
func (s *scene) refuse(b parley.Bridge, l *landing, why *parley.Error) error {
	row := l.row(b.ID, "", s.now)
	if l.Refused != nil { // mended and under the same name it is another document
		row.File.Digest = "refused-" + row.File.Digest
	}
	err := s.Bridges().Arrived(row)
	if errors.Is(err, parley.ErrTaken) {
		return nil
	}
	if err != nil {
		return err
	}
	return s.tellSender(b, l, documentNote{Error: fewIssues(why), Final: true}, refusalWords(l, why))
}

// keepHeld keeps that a document waits for an approval, and tells its sender.
func (s *scene) keepHeld(b parley.Bridge, l *landing, a parley.Approval) error {
	err := s.Bridges().Arrived(l.row(b.ID, "", s.now))
	if errors.Is(err, parley.ErrTaken) {
		return nil
	}
	if err != nil {
		return err
	}
	words := parley.Own("The document ").Quote(l.From, clipped(l.Name)).Own(" waits for an approval: " + a.ShortName() + ".")
	return s.tellSender(b, l, documentNote{}, words)
}

// tellSender tells the sender of a document what has become of it, where it reads: in its inbox, or in the channel of the document.
// Only senders that the bridge lists are told, so that nobody else can have the hub write into a tree.
func (s *scene) tellSender(b parley.Bridge, l *landing, note documentNote, text parley.Wording) error {
	if told, err := s.mayTell(b, l); err != nil || !told {
		return err
	}
	where, err := s.senderReads(b, l)
	if err != nil || where == "" {
		return err
	}
	note.Document, note.File = l.Name, l.Path
	payload, err := json.Marshal(note)
	if err != nil {
		return err
	}
	return s.say(parley.Message{Conversation: where, To: l.From, Type: parley.TypeError, Payload: payload}, s.hub.fittingWords(text))
}

// mayTell reports whether the sender of a document is told what has become of it. What was there before the bridge is nobody's
// concern any more, and an error never causes another.
func (s *scene) mayTell(b parley.Bridge, l *landing) (bool, error) {
	if l.History || !b.Speaks(l.From) || saysFailure(l.Draft) {
		return false, nil
	}
	sender, err := s.Agents().Find(l.From)
	if err != nil || sender.RemovedAt != nil || sender.Kind != parley.KindAgent {
		return false, ignoreNotFound(err)
	}
	id, err := s.inTree(b, l.ReplyTo, cmp.Or(l.Channel, l.From), l.To)
	if err != nil || id == "" {
		return err == nil, err
	}
	answered, err := s.Messages().Get(id)
	return answered.From != parley.System || answered.Type != parley.TypeError, ignoreNotFound(err)
}

// saysFailure reports whether a document is itself an error, in the words of any format.
func saysFailure(d parley.Draft) bool {
	var payload struct{ Status string }
	switch d.Type {
	case parley.TypeError, typeIncident:
		return true
	case parley.TypeResult, parley.TypeResponse:
		return json.Unmarshal(d.Payload, &payload) == nil && payload.Status == "failure"
	default:
		return false
	}
}

// senderReads is the conversation in which the sender of a document finds what the hub says of it, or nothing if there is none. The
// hub makes a channel that it does not have yet: a directory is one.
func (s *scene) senderReads(b parley.Bridge, l *landing) (string, error) {
	if b.Layout != parley.LayoutAgentOS {
		dm, err := s.dm(parley.System, l.From)
		return dm.ID, err
	}
	if !b.Maps(l.Channel) || parley.CheckKnownChannelName(l.Channel) != nil {
		return "", nil
	}
	c, err := s.Conversations().Find(l.Channel)
	if errors.Is(err, parley.ErrNotFound) {
		if parley.CheckNotShortName(l.Channel) != nil {
			return "", nil
		}
		var made place
		made, err = s.create(parley.Conversation{Name: l.Channel, Kind: parley.Channel, Visibility: parley.Public}, []string{l.From})
		return made.ID, err
	}
	if err != nil || c.Kind != parley.Channel || c.Visibility != parley.Public && !slices.Contains(b.Channels, c.Name) {
		return "", err
	}
	return c.ID, nil
}

// mostTold is how many of the issues of a document its sender is told. All of them are beside the refused file.
const mostTold = 20

// fewIssues is an error that fits into a document of any format.
func fewIssues(e *parley.Error) *parley.Error {
	short := *e
	short.Message, short.Suggestion = storable(e.Message), storable(e.Suggestion)
	if e.Validation != nil {
		issues := *e.Validation
		issues.MsgID = storable(issues.MsgID)
		if more := len(issues.Issues) - mostTold; more > 0 {
			issues.Issues = append(slices.Clone(issues.Issues[:mostTold]), fmt.Sprintf("and %d more", more))
		}
		short.Validation = &issues
	}
	return &short
}

// refusalWords say why a document was refused, with all that is wrong with it.
func refusalWords(l *landing, why *parley.Error) parley.Wording {
	short := fewIssues(why)
	reason := short.Plain()
	if short.Validation != nil {
		reason = "it is not valid: " + strings.Join(short.Validation.Issues, "; ")
	}
	w := parley.Own("Error: the document ").Quote(l.From, clipped(l.Name)).Own(" was refused: ").Quote("", reason).Own(missingStop(reason))
	if short.Suggestion != "" {
		w = w.Own(" Hint: ").Quote("", short.Suggestion).Own(missingStop(short.Suggestion))
	}
	return w
}

// documentOf is the id of the document that a message of the hub is about, in the format of a tree, or nothing. An id that the format
// does not allow cannot be named there.
func documentOf(l parley.Layout, m parley.Message) string {
	var note documentNote
	if m.From != parley.System || json.Unmarshal(m.Payload, &note) != nil {
		return ""
	}
	if own, ok := ownNames[l]; ok && l == parley.LayoutInbox && !own.form.MatchString(note.Document) {
		return ""
	}
	return note.Document
}
