package chat

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/plain"
)

// drawnMessage caches the rows of a message, with everything on which they depend.
type drawnMessage struct {
	delivery string
	above    string // id of the message above it
	apart    bool
	rows     []string
}

// previousMessage is the message above another one. They are apart if a notice is between them.
type previousMessage struct {
	message parley.Message
	apart   bool
}

const (
	indent     = "  "
	headingGap = 5 * time.Minute // messages of one sender within this time share a heading
	quoteWidth = 60              // columns of the quoted message
	shortID    = 12
)

// drawMessage returns the rows of a message, from the cache if they are up to date.
func (m *Model) drawMessage(message parley.Message, above previousMessage) []string {
	delivery, style := "", m.style.faint
	if message.From == m.conversation.Me {
		var bad bool
		if delivery, bad = m.deliveries.summary(message.ID); bad {
			style = m.style.bad
		}
	}
	kept, ok := m.cache[message.ID]
	if ok && kept.delivery == delivery && kept.above == above.message.ID && kept.apart == above.apart {
		return kept.rows
	}
	rows := m.draw(message, above, delivery, style)
	m.cache[message.ID] = drawnMessage{delivery, above.message.ID, above.apart, rows}
	return rows
}

func (m *Model) draw(message parley.Message, above previousMessage, delivery string, style lipgloss.Style) (rows []string) {
	const day = "Monday 2 January 2006"
	at := message.CreatedAt.In(m.now().Location())
	before := above.message.CreatedAt.In(at.Location())
	newDay := at.Format(day) != before.Format(day)
	switch {
	case newDay:
		rows = append(rows, m.ruleLine(at.Format(day)), m.heading(message, at))
	case above.apart, above.message.From != message.From, above.message.Type != message.Type, at.Sub(before) > headingGap, message.InReplyTo != "":
		rows = append(rows, "", m.heading(message, at))
	}
	for line := range strings.SplitSeq(m.text(message), "\n") {
		rows = append(rows, indent+line)
	}
	return m.attach(rows, delivery, style)
}

// heading returns the sender, the time and the type of a message, and the message that it answers.
func (m *Model) heading(message parley.Message, at time.Time) string {
	line := m.style.name(message.From).Render(plain.Line(message.From)) + m.style.faint.Render(" "+at.Format("15:04"))
	if message.Type != parley.TypeChat {
		line += m.style.faint.Render(" " + plain.Line(string(message.Type)))
	}
	if message.InReplyTo != "" {
		line += m.style.faint.Render(" ↳ " + m.quote(message.InReplyTo))
	}
	return m.fit(line)
}

// quote returns the beginning of the message that is answered.
func (m *Model) quote(id string) string {
	answered, ok := m.timeline.find(id)
	if !ok {
		return "an earlier message"
	}
	return plain.Line(answered.From) + ": " + ansi.Truncate(plain.Line(answered.Content.Text), quoteWidth, "…")
}

// text returns the content of a message, broken into lines.
func (m *Model) text(message parley.Message) string {
	var parts []string
	add := func(text string, style lipgloss.Style) {
		if text == "" {
			return
		}
		for line := range m.wrap(text, "") {
			parts = append(parts, style.Render(line))
		}
	}
	body := m.style.text
	switch {
	case message.RedactedAt != nil:
		add("this message was redacted", m.style.faint)
	case message.Type == parley.TypeError:
		body = m.style.bad
	}
	content := message.Content
	if message.From == parley.System {
		parts = append(parts, m.hubText(message, body)...)
	} else {
		add(strings.TrimRight(content.Text, "\n"), body)
	}
	add(strings.TrimRight(content.Code, "\n"), m.style.code)
	for _, a := range content.Artifacts {
		add(artifact(a), m.style.faint)
	}
	if content.Text == "" && content.Code == "" {
		add(string(message.Payload), m.style.code)
	}
	return strings.Join(parts, "\n")
}

// hubText returns a message of the hub, broken into lines. Each row with words of others has a mark, also after a line
// break.
func (m *Model) hubText(message parley.Message, style lipgloss.Style) (rows []string) {
	const mark = "| "
	for line := range strings.SplitSeq(strings.TrimSuffix(messageText(message), "\n"), "\n") {
		before := ""
		if words, quoted := strings.CutPrefix(line+" ", mark); quoted {
			before, line = mark, words
		}
		for row := range m.wrap(strings.TrimRight(line, " "), before) {
			rows = append(rows, style.Render(before+row))
		}
	}
	return rows
}

// wrap replaces control characters and breaks a text into rows that leave room for the indent and for before.
func (m *Model) wrap(text, before string) iter.Seq[string] {
	width := max(m.width-len(indent)-len(before), 2)
	text = ansi.Wrap(plain.Text(text), width, "")
	return strings.SplitSeq(ansi.Hardwrap(text, width, true), "\n") // Wrap lets wide characters exceed the width
}

func artifact(a parley.Artifact) string {
	if a.Path != "" {
		return "[file " + plain.Line(a.Path) + "]"
	}
	return fmt.Sprintf("[artifact %s, %d bytes, %.*s…]", plain.Line(a.Name), a.Size, shortID, plain.Line(a.SHA256))
}

// attach puts the delivery state of a message to the right of its last row, or below it.
func (m *Model) attach(rows []string, delivery string, style lipgloss.Style) []string {
	if delivery == "" {
		return rows
	}
	last := len(rows) - 1
	if gap := m.width - ansi.StringWidth(rows[last]) - ansi.StringWidth(delivery); gap >= 2 {
		rows[last] += strings.Repeat(" ", gap) + style.Render(delivery)
		return rows
	}
	delivery = ansi.Truncate(delivery, m.width, "…")
	return append(rows, strings.Repeat(" ", m.width-ansi.StringWidth(delivery))+style.Render(delivery))
}

func (m *Model) drawNotice(n notice) (rows []string) {
	style := m.style.notice
	if n.bad {
		style = m.style.bad
	}
	for line := range m.wrap(n.text, "") {
		rows = append(rows, style.Render("· "+line))
	}
	return rows
}
