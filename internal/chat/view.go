package chat

import (
	"fmt"
	"strings"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/plain"
)

const (
	prompt       = "› "
	maxInputRows = 6  // rows of the input box
	fullHeight   = 12 // on a lower screen, some lines are omitted
	hint         = "Enter sends · Alt+Enter new line · Tab completes · /help"
	shortHint    = "/help · Tab completes"
	narrowBorder = 60
)

// View draws the screen.
func (m *Model) View() tea.View {
	input, cursor := m.drawInput()
	height := m.bodyHeight()
	rows := m.rows()
	last := max(len(rows)-m.scroll, 0)
	shown := rows[max(last-height, 0):last]
	lines := append(m.header(), make([]string, max(height-len(shown), 0))...)
	lines = append(lines, shown...)
	lines = append(lines, m.ruleLine(m.statusLine()))
	cursor.Y += len(lines)
	lines = append(lines, input...)
	if m.height >= fullHeight {
		lines = append(lines, m.style.faint.Render(m.fit(m.hintLine())))
	}
	view := tea.NewView(strings.Join(lines, "\n"))
	view.AltScreen = true
	view.Cursor = cursor
	view.WindowTitle = "parley " + plain.Line(m.conversation.Title)
	return view
}

func (m *Model) hintLine() string {
	if m.width < narrowBorder {
		return shortHint
	}
	return hint
}

// header returns the top lines: the title and the members.
func (m *Model) header() []string {
	title := m.style.title.Render(plain.Line(m.conversation.Title))
	if topic := plain.Line(m.conversation.View.Topic); topic != "" {
		title += m.style.faint.Render(" · " + topic)
	}
	lines := []string{m.fit(title)}
	if m.height >= fullHeight {
		lines = append(lines, m.fit(m.presenceLine()), m.ruleLine(""))
	}
	return lines
}

func (m *Model) presenceLine() string {
	var parts []string
	for _, p := range m.conversation.Present {
		parts = append(parts, m.style.dot(p)+" "+plain.Line(p.ID)+m.style.faint.Render(" "+plain.Line(participantStatus(p, m.now()))))
	}
	if len(parts) == 0 {
		return m.style.faint.Render("nobody else is here")
	}
	return strings.Join(parts, m.style.faint.Render(" · "))
}

// statusLine returns what the user should know now, if anything.
func (m *Model) statusLine() string {
	switch {
	case len(m.completion.words) > 1:
		return strings.Join(m.completion.words, " ")
	case m.lost:
		return "connection lost, retrying"
	case m.older.busy:
		return "fetching older messages"
	case m.scroll > 0:
		return fmt.Sprintf("%d more lines below, Ctrl+End goes there", m.scroll)
	default:
		return ""
	}
}

// ruleLine returns a line across the screen with a text in it.
func (m *Model) ruleLine(text string) string {
	if text != "" {
		text = "── " + text + " "
	}
	text = ansi.Truncate(text, m.width, "…")
	return m.style.faint.Render(text + strings.Repeat("─", max(m.width-ansi.StringWidth(text), 0)))
}

func (m *Model) fit(line string) string { return ansi.Truncate(line, m.width, "…") }

func (m *Model) inputWidth() int { return max(m.width-ansi.StringWidth(prompt), 2) }

// bodyHeight returns the number of rows for messages.
func (m *Model) bodyHeight() int {
	input := min(len(m.input.layOut(m.inputWidth()).rows), maxInputRows)
	others := 2 // title, rule
	if m.height >= fullHeight {
		others += 3 // presence, rule, hint
	}
	return max(m.height-others-input, 1)
}

// drawInput draws the visible part of the input box, and returns the position of the cursor in it.
func (m *Model) drawInput() ([]string, *tea.Cursor) {
	laid := m.input.layOut(m.inputWidth())
	at := laid.spots[m.input.cursor]
	first := max(min(at.row-maxInputRows/2, len(laid.rows)-maxInputRows), 0)
	var lines []string
	for i, row := range laid.rows[first:min(first+maxInputRows, len(laid.rows))] {
		mark := strings.Repeat(" ", ansi.StringWidth(prompt))
		if first+i == 0 {
			mark = m.style.prompt.Render(prompt)
		}
		lines = append(lines, mark+row)
	}
	cursor := tea.NewCursor(at.column+ansi.StringWidth(prompt), at.row-first)
	cursor.Blink = false
	return lines, cursor
}

// rows returns the rows of all messages, notices and unsent messages.
func (m *Model) rows() []string {
	var (
		rows    []string
		above   previousMessage
		notices = m.notices
	)
	flush := func(upTo int64) {
		for ; len(notices) > 0 && notices[0].after <= upTo; notices = notices[1:] {
			rows = append(rows, m.drawNotice(notices[0])...)
			above.apart = true
		}
	}
	for _, message := range m.timeline.messages {
		flush(message.Seq - 1)
		rows = append(rows, m.drawMessage(message, above)...)
		above = previousMessage{message: message}
	}
	flush(m.timeline.newest())
	for _, l := range m.outbox.messages {
		message := parley.Message{From: m.conversation.Me, CreatedAt: l.at, Content: l.draft.Content, InReplyTo: l.draft.InReplyTo, Type: parley.TypeChat}
		rows = append(rows, m.draw(message, above, "sending", m.style.faint)...)
		above = previousMessage{message: message}
	}
	return rows
}
