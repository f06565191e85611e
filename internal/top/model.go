package top

import (
	"context"
	"slices"
	"time"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/live"
)

// Model is the view on a screen.
type Model struct {
	ctx    context.Context // of the program: its end ends every call
	source Source
	now    func() time.Time
	later  func(time.Duration, tea.Msg) tea.Cmd

	picture  Picture
	messages rate
	runs     rate
	ended    int64             // runs that have ended since the view was opened
	says     map[string]string // the last line of live runs
	news     []line
	lost     error // why the hub cannot be reached
	failure  error // why the view has ended
	notice   line  // what came of the last key

	looking, again bool // a look is under way, and another is wanted
	soon           bool // one is due in a moment

	order    order
	selected string // the id of an agent
	detail   *Detail

	width, height int
	style         style
}

// line is something that has happened.
type line struct {
	at   time.Time
	text string
	bad  bool
}

const (
	lookInterval = 2 * time.Second
	soonAfter    = 200 * time.Millisecond // what happens at once is looked at together
	mostNews     = 50
)

// New makes a view that begins with a picture.
func New(ctx context.Context, source Source, first Picture) *Model {
	m := &Model{
		ctx: ctx, source: source, now: time.Now, later: live.Later(ctx),
		says: map[string]string{}, style: newStyle(), width: 80, height: 24,
	}
	m.take(first)
	return m
}

// What the model is told beside keys and events.
type (
	due     int
	lookMsg struct {
		picture Picture
		err     error
	}
	detailMsg struct {
		detail Detail
		err    error
	}
	commandMsg struct {
		done string
		err  error
	}
)

const (
	dueLook due = iota
	dueSoon
)

// Init begins to look again and again.
func (m *Model) Init() tea.Cmd { return m.later(lookInterval, dueLook) }

// Update takes in what has happened.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		return m, nil
	case tea.KeyPressMsg:
		return m, m.press(msg.String())
	case parley.Event:
		return m, m.hear(msg)
	case live.Ended:
		m.failure = msg.Err
		return m, tea.Quit
	case due:
		return m, m.fallDue(msg)
	default:
		return m, m.answer(msg)
	}
}

// answer takes in the outcome of a call.
func (m *Model) answer(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case lookMsg:
		return m.looked(msg)
	case detailMsg:
		if msg.err != nil {
			m.complain(msg.err)
		} else if m.detail != nil && m.detail.View.ID == msg.detail.View.ID {
			m.detail = &msg.detail
		}
	case commandMsg:
		if msg.err != nil {
			m.complain(msg.err)
			return nil
		}
		m.notice = line{text: msg.done}
		return m.look()
	}
	return nil
}

func (m *Model) fallDue(what due) tea.Cmd {
	if what == dueSoon {
		m.soon = false
		return m.look()
	}
	return tea.Batch(m.look(), m.later(lookInterval, dueLook))
}

// look asks how everything is, once at a time.
func (m *Model) look() tea.Cmd {
	if m.looking {
		m.again = true
		return nil
	}
	m.looking = true
	look := func() tea.Msg {
		picture, err := m.source.Look(m.ctx)
		return lookMsg{picture, err}
	}
	if m.detail == nil {
		return look
	}
	return tea.Batch(look, m.lookCloser(m.detail.View.ID))
}

// lookCloser asks for more of one agent.
func (m *Model) lookCloser(agent string) tea.Cmd {
	return func() tea.Msg {
		detail, err := m.source.Detail(m.ctx, agent)
		return detailMsg{detail, err}
	}
}

func (m *Model) looked(msg lookMsg) tea.Cmd {
	m.looking = false
	if m.lost = msg.err; msg.err == nil {
		m.take(msg.picture)
	}
	if !m.again {
		return nil
	}
	m.again = false
	return m.lookSoon()
}

// lookSoon looks in a moment, together with what else happens until then.
func (m *Model) lookSoon() tea.Cmd {
	if m.soon {
		return nil
	}
	m.soon = true
	return m.later(soonAfter, dueSoon)
}

// take makes a picture the one that is shown.
func (m *Model) take(p Picture) {
	p.Agents = slices.DeleteFunc(p.Agents, func(a Agent) bool { return a.Kind == parley.KindSystem })
	m.picture = p
	m.messages.add(p.At, p.Status.Messages)
	m.runs.add(p.At, m.ended)
	for id := range m.says {
		if !slices.ContainsFunc(p.Runs, func(r parley.Run) bool { return r.ID == id }) {
			delete(m.says, id)
		}
	}
	m.sort()
}

// complain says what went wrong, and what to do.
func (m *Model) complain(err error) {
	e := parley.AsError(err)
	text := e.Message
	if e.Suggestion != "" {
		text += " (" + e.Suggestion + ")"
	}
	m.notice = line{text: text, bad: true}
}
