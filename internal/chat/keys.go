package chat

import (
	"strings"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-hub/parley"
)

// press handles a key.
func (m *Model) press(k tea.KeyPressMsg) tea.Cmd {
	key := k.String()
	if key != "tab" && key != "shift+tab" {
		m.completion = completion{}
	}
	switch key {
	case "ctrl+c", "ctrl+d":
		return tea.Quit
	case "enter":
		return m.enter()
	case "tab":
		m.complete(1)
	case "shift+tab":
		m.complete(-1)
	case "pgup", "pgdown", "ctrl+home", "ctrl+end":
		return m.scrollPage(key)
	case "up", "ctrl+p":
		if !m.input.vertical(-1, m.inputWidth()) {
			m.history.previous(&m.input)
		}
	case "down", "ctrl+n":
		if !m.input.vertical(1, m.inputWidth()) {
			m.history.next(&m.input)
		}
	default:
		m.input.key(k)
	}
	return nil
}

// scrollPage scrolls the messages by a page. At the first message, it loads older ones.
func (m *Model) scrollPage(key string) tea.Cmd {
	page := max(m.bodyHeight()-1, 1)
	top := max(len(m.rows())-m.bodyHeight(), 0)
	switch key {
	case "pgup":
		m.scroll = min(m.scroll+page, top)
	case "ctrl+home":
		m.scroll = top
	case "pgdown":
		m.scroll = max(m.scroll-page, 0)
	case "ctrl+end":
		m.scroll = 0
	}
	if m.scroll == top && (key == "pgup" || key == "ctrl+home") {
		return m.pullOlder()
	}
	return m.markRead()
}

// enter runs a command, or sends a message.
func (m *Model) enter() tea.Cmd {
	text := strings.TrimSpace(m.input.String())
	if text == "" {
		return nil
	}
	m.history.add(text)
	m.input.set("")
	m.scroll = 0
	command, isCommand := strings.CutPrefix(text, "/")
	switch {
	case !isCommand:
		return m.post(parley.Draft{Content: parley.Content{Text: text}})
	case strings.HasPrefix(command, "/"): // a text that starts with a slash
		return m.post(parley.Draft{Content: parley.Content{Text: command}})
	default:
		return m.runCommand(command)
	}
}

func (m *Model) post(draft parley.Draft) tea.Cmd {
	m.outbox.add(draft, m.now())
	return m.send()
}

// inputHistory keeps earlier input.
type inputHistory struct {
	typed []string
	depth int    // how far back the text in the box is; 0 is the unsent text
	draft string // the unsent text
}

func (r *inputHistory) add(text string) {
	r.typed = append(r.typed, text)
	r.depth, r.draft = 0, ""
}

func (r *inputHistory) previous(e *editor) {
	if r.depth == len(r.typed) {
		return
	}
	if r.depth == 0 {
		r.draft = e.String()
	}
	r.depth++
	e.set(r.typed[len(r.typed)-r.depth])
}

func (r *inputHistory) next(e *editor) {
	switch r.depth {
	case 0:
		return
	case 1:
		e.set(r.draft)
	default:
		e.set(r.typed[len(r.typed)-r.depth+1])
	}
	r.depth--
}
