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
	ctx    context.Context // of the program; its end cancels every call
	source Source
	now    func() time.Time
	later  func(time.Duration, tea.Msg) tea.Cmd

	snapshot     Snapshot
	messages     rate
	runs         rate
	ended        int64             // runs that have ended since the start of the view
	progress     map[string]string // last line of progress by run
	recentEvents []timedLine
	lost         error     // why the hub cannot be reached
	failure      error     // why the view has ended
	notice       timedLine // the result of the last key

	loading, again bool // a load is running, and another one is requested
	soon           bool // a load is due in a moment

	order    order
	selected string // the id of an agent
	detail   *Detail

	width, height int
	style         style
}

// timedLine is a line of text with its time: a recent event, or the result of a key.
type timedLine struct {
	at   time.Time
	text string
	bad  bool
}

const (
	refreshInterval = 2 * time.Second
	soonAfter       = 200 * time.Millisecond // events within this time cause one load
	maxRecentEvents = 50
)

// New returns a view that begins with a snapshot.
func New(ctx context.Context, source Source, first Snapshot) *Model {
	m := &Model{
		ctx: ctx, source: source, now: time.Now, later: live.Delayer(ctx),
		progress: map[string]string{}, style: newStyle(), width: 80, height: 24,
	}
	m.setSnapshot(first)
	return m
}

// Messages to the model besides keys and events.
type (
	timer       int
	snapshotMsg struct {
		snapshot Snapshot
		err      error
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
	timerRefresh timer = iota
	timerSoon
)

// Init starts the refresh timer.
func (m *Model) Init() tea.Cmd { return m.later(refreshInterval, timerRefresh) }

// Update handles a message to the model.
func (m *Model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
		return m, nil
	case tea.KeyPressMsg:
		return m, m.press(msg.String())
	case parley.Event:
		return m, m.handleEvent(msg)
	case live.FollowEnded:
		m.failure = msg.Err
		return m, tea.Quit
	case timer:
		return m, m.handleTimer(msg)
	default:
		return m, m.handleResult(msg)
	}
}

// handleResult handles the result of a call.
func (m *Model) handleResult(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case snapshotMsg:
		return m.handleSnapshot(msg)
	case detailMsg:
		if msg.err != nil {
			m.showError(msg.err)
		} else if m.detail != nil && m.detail.View.ID == msg.detail.View.ID {
			m.detail = &msg.detail
		}
	case commandMsg:
		if msg.err != nil {
			m.showError(msg.err)
			return nil
		}
		m.notice = timedLine{text: msg.done}
		return m.refresh()
	}
	return nil
}

func (m *Model) handleTimer(what timer) tea.Cmd {
	if what == timerSoon {
		m.soon = false
		return m.refresh()
	}
	return tea.Batch(m.refresh(), m.later(refreshInterval, timerRefresh))
}

// refresh loads a snapshot. Only one load runs at a time.
func (m *Model) refresh() tea.Cmd {
	if m.loading {
		m.again = true
		return nil
	}
	m.loading = true
	load := func() tea.Msg {
		snapshot, err := m.source.Load(m.ctx)
		return snapshotMsg{snapshot, err}
	}
	if m.detail == nil {
		return load
	}
	return tea.Batch(load, m.loadDetail(m.detail.View.ID))
}

// loadDetail loads the details of one agent.
func (m *Model) loadDetail(agent string) tea.Cmd {
	return func() tea.Msg {
		detail, err := m.source.Detail(m.ctx, agent)
		return detailMsg{detail, err}
	}
}

func (m *Model) handleSnapshot(msg snapshotMsg) tea.Cmd {
	m.loading = false
	if m.lost = msg.err; msg.err == nil {
		m.setSnapshot(msg.snapshot)
	}
	if !m.again {
		return nil
	}
	m.again = false
	return m.refreshSoon()
}

// refreshSoon refreshes after a moment, once for all events until then.
func (m *Model) refreshSoon() tea.Cmd {
	if m.soon {
		return nil
	}
	m.soon = true
	return m.later(soonAfter, timerSoon)
}

// setSnapshot makes a snapshot the one that is shown.
func (m *Model) setSnapshot(p Snapshot) {
	p.Agents = slices.DeleteFunc(p.Agents, func(a Agent) bool { return a.Kind == parley.KindSystem })
	m.snapshot = p
	m.messages.add(p.At, p.Status.Messages)
	m.runs.add(p.At, m.ended)
	for id := range m.progress {
		if !slices.ContainsFunc(p.Runs, func(r parley.Run) bool { return r.ID == id }) {
			delete(m.progress, id)
		}
	}
	m.sort()
}

// showError shows an error and its suggestion.
func (m *Model) showError(err error) {
	e := parley.AsError(err)
	text := e.Message
	if e.Suggestion != "" {
		text += " (" + e.Suggestion + ")"
	}
	m.notice = timedLine{text: text, bad: true}
}
