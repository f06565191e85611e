package tracetree

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/parley-hub/parley"
)

const maxTextShown = 60 // characters of a text

// Mermaid returns a trace as a Mermaid sequence diagram. Each delivery is an arrow, dashed for an answer and crossed
// for a failure, with a note about its states. Each run is a note. No text of a message can break out of its label.
func Mermaid(t parley.Traced) string {
	d := diagram{names: map[string]string{}}
	d.b.WriteString("sequenceDiagram\n")
	for _, m := range t.Items {
		d.name(m.From)
		for _, delivery := range m.Deliveries {
			d.name(delivery.Recipient)
		}
	}
	if t.Cut && len(t.Items) > 0 {
		d.note(t.Items[0].From, CutText(t))
	}
	runs := byTrigger(t)
	for _, r := range runs[otherTrigger] {
		d.note(r.Agent, RunText(r.Run))
	}
	for _, m := range t.Items {
		d.message(m)
		for _, r := range runs[m.ID] {
			d.note(r.Agent, RunText(r.Run))
		}
	}
	return d.b.String()
}

// diagram is a diagram being written. It gives participants names of its own.
type diagram struct {
	b     strings.Builder
	names map[string]string
}

func (d *diagram) name(id string) {
	if d.names[id] == "" {
		d.names[id] = fmt.Sprintf("p%d", len(d.names)+1)
		fmt.Fprintf(&d.b, "    participant %s as %s\n", d.names[id], label(id))
	}
}

func (d *diagram) message(m parley.Shown) {
	text := label(string(m.Type) + " " + shorten(m.Content.Text))
	if len(m.Deliveries) == 0 {
		d.note(m.From, string(m.Type)+" "+shorten(m.Content.Text))
	}
	if m.Approval != nil {
		d.note(m.From, ApprovalText(*m.Approval))
	}
	if m.Ask != nil {
		d.note(m.From, AskText(*m.Ask))
	}
	for _, delivery := range m.Deliveries {
		fmt.Fprintf(&d.b, "    %s%s%s: %s\n", d.names[m.From], arrow(m, delivery), d.names[delivery.Recipient], text)
		d.note(delivery.Recipient, DeliveryText(delivery))
	}
}

// note adds a note over a participant, if the diagram has that participant.
func (d *diagram) note(at, text string) {
	if d.names[at] != "" {
		fmt.Fprintf(&d.b, "    Note over %s: %s\n", d.names[at], label(text))
	}
}

func arrow(m parley.Shown, d parley.Delivery) string {
	failed := d.Failure != nil && !d.Open()
	switch {
	case failed && m.InReplyTo != "":
		return "--x"
	case failed:
		return "-x"
	case m.InReplyTo != "":
		return "-->>"
	default:
		return "->>"
	}
}

func shorten(text string) string {
	if runes := []rune(strings.Join(strings.Fields(text), " ")); len(runes) > maxTextShown {
		return string(runes[:maxTextShown]) + "…"
	}
	return strings.Join(strings.Fields(text), " ")
}

// label escapes a text for Mermaid: everything except letters, digits and a few signs becomes a number. An empty label
// would end the line too early, so it becomes "-".
func label(text string) string {
	var b strings.Builder
	for _, r := range strings.ToValidUTF8(text, "�") {
		switch {
		case unicode.IsLetter(r), unicode.IsDigit(r), unicode.IsMark(r), strings.ContainsRune(" .,!?()_-…", r):
			b.WriteRune(r)
		case unicode.IsControl(r), unicode.IsSpace(r):
			b.WriteByte(' ')
		default:
			fmt.Fprintf(&b, "#%d;", r)
		}
	}
	if clean := strings.TrimSpace(b.String()); clean != "" {
		return clean
	}
	return "-"
}
