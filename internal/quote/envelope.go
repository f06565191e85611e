package quote

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// Person is what an envelope shows of a participant.
type Person struct {
	Name string
	Kind parley.Kind
	Role string
}

// Participants are the participants in messages, and the reader of the messages.
type Participants struct {
	Self  string // the id of the reader
	Known map[string]Person
	// Names are the short names of messages that the messages may answer, by id.
	Names map[string]string
}

// NamesOf returns the short names of messages, by id.
func NamesOf(messages []parley.Message) map[string]string {
	names := make(map[string]string, len(messages))
	for _, m := range messages {
		names[m.ID] = m.ShortName()
	}
	return names
}

// Describe names a participant: its unique id, and its name.
func (p Participants) Describe(id string) string {
	if id == p.Self {
		return Word(id) + " (you)"
	}
	person, known := p.Known[id]
	if !known {
		return Word(id) + " (unknown)"
	}
	who := Word(id)
	if person.Name != "" && person.Name != id {
		who += " " + Inline(person.Name)
	}
	kind := Word(string(person.Kind))
	if person.Role != "" {
		kind += ", role " + Inline(person.Role)
	}
	return who + " (" + kind + ")"
}

// Message returns a message in its envelope.
func (p Participants) Message(m parley.Message) string { return p.Envelope(m, body(m, 0)) }

// ShortMessage returns a message in an envelope of about limit bytes. It says how much it left out in the middle.
func (p Participants) ShortMessage(m parley.Message, limit int) string {
	whole := p.Message(m)
	if len(whole) <= limit {
		return whole
	}
	return p.Envelope(m, body(m, max(1, limit-len(p.Envelope(m, "")))))
}

// Envelope puts quoted lines into the envelope of a message.
func (p Participants) Envelope(m parley.Message, quoted string) string {
	var head strings.Builder
	fmt.Fprintf(&head, "--- message %s from %s, %s, %s", Word(m.ShortName()), p.Describe(m.From), Time(m.CreatedAt), Word(string(m.Type)))
	if m.To != "" {
		fmt.Fprintf(&head, ", to %s", Word(m.To))
	}
	if m.InReplyTo != "" {
		fmt.Fprintf(&head, ", in reply to %s", Word(cmp.Or(p.Names[m.InReplyTo], m.InReplyTo)))
	}
	if m.Deadline != nil {
		fmt.Fprintf(&head, ", answer due %s", Time(*m.Deadline))
	}
	return head.String() + " ---\n" + quoted + "--- end ---\n"
}

// Time formats a time for models.
func Time(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// part is a part of a message's content.
type part struct {
	label string
	words parley.Wording
	marks int // number of marks before words of the sender
}

// body returns the whole content of a message. With a limit, it cuts each part to its share. In the hub's own messages,
// only the text has words of the hub; everything else may come from others.
func body(m parley.Message, limit int) string {
	if m.RedactedAt != nil {
		return "(redacted)\n"
	}
	marks := 1
	if m.From == parley.System {
		marks = 2
	}
	parts := []part{
		{"", m.Wording(), 1},
		{"code:\n", parley.Own(m.Content.Code), marks},
		{"payload:\n", parley.Own(string(m.Payload)), marks},
		{"artifacts:\n", parley.Own(artifacts(m.Content.Artifacts)), marks},
	}
	total := 0
	for i := range parts {
		parts[i].words = parts[i].words.Map(Clean)
		total += blockSize(parts[i].words.Text, parts[i].marks)
	}
	var out strings.Builder
	for _, p := range parts {
		if p.words.Text == "" {
			continue
		}
		out.WriteString(p.label)
		share := 0
		if limit > 0 {
			share = max(1, limit*blockSize(p.words.Text, p.marks)/total)
		}
		out.WriteString(render(p.words, p.marks, share))
	}
	return out.String()
}

func artifacts(list []parley.Artifact) string {
	lines := make([]string, 0, len(list))
	for _, a := range list {
		if a.SHA256 == "" {
			lines = append(lines, "file "+Inline(a.Path))
			continue
		}
		lines = append(lines, fmt.Sprintf("%s (%s, %d bytes, sha256 %s)", Inline(a.Name), Inline(a.MediaType), a.Size, Word(a.SHA256)))
	}
	return strings.Join(lines, "\n")
}

// Fit returns the newest messages that fit into limit bytes, oldest first, and the number of older ones that do not fit.
func (p Participants) Fit(messages []parley.Message, limit int) (shown []string, left int) {
	for i, m := range slices.Backward(messages) {
		text := p.Message(m)
		if limit -= len(text); limit < 0 {
			left = i + 1
			break
		}
		shown = append(shown, text)
	}
	slices.Reverse(shown)
	return shown, left
}
