package tasktree

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"charm.land/lipgloss/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/live"
)

// model shows trees on a screen.
type model struct {
	ctx     context.Context // of the program; its end cancels every call
	source  Source
	options Options
	later   func(time.Duration, tea.Msg) tea.Cmd

	snapshot Snapshot
	lost     error // why the hub cannot be reached
	failure  error // why the view has ended

	loading, again bool // a load is running, and another one is requested
	soon           bool // a load is due in a moment

	top           int // the first line that is shown
	width, height int
}

const (
	refreshInterval = 5 * time.Second        // durations and sleeping agents change without an event
	soonAfter       = 100 * time.Millisecond // changes within this time cause one load
)

func newModel(ctx context.Context, source Source, options Options, first Snapshot) *model {
	return &model{ctx: ctx, source: source, options: options, later: live.Delayer(ctx), snapshot: first, width: 80, height: 24}
}

// Messages to the model besides keys.
type (
	changedMsg  struct{} // something may have changed
	soonMsg     struct{}
	refreshMsg  struct{}
	snapshotMsg struct {
		snapshot Snapshot
		err      error
	}
)

// Init refreshes at once, for changes since the first snapshot, and starts the refresh timer.
func (m *model) Init() tea.Cmd { return tea.Batch(m.refresh(), m.later(refreshInterval, refreshMsg{})) }

// Update handles a message to the model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		return m, m.press(msg.String())
	case changedMsg:
		return m, m.refreshSoon()
	case soonMsg:
		m.soon = false
		return m, m.refresh()
	case refreshMsg:
		return m, tea.Batch(m.refresh(), m.later(refreshInterval, refreshMsg{}))
	case snapshotMsg:
		return m, m.handleSnapshot(msg)
	case live.FollowEnded:
		m.failure = msg.Err
		return m, tea.Quit
	}
	return m, nil
}

// refreshSoon refreshes after a moment, once for all changes until then.
func (m *model) refreshSoon() tea.Cmd {
	if m.soon {
		return nil
	}
	m.soon = true
	return m.later(soonAfter, soonMsg{})
}

// refresh loads a snapshot. Only one load runs at a time.
func (m *model) refresh() tea.Cmd {
	if m.loading {
		m.again = true
		return nil
	}
	m.loading = true
	return func() tea.Msg {
		snapshot, err := m.source.Load(m.ctx)
		return snapshotMsg{snapshot, err}
	}
}

func (m *model) handleSnapshot(msg snapshotMsg) tea.Cmd {
	m.loading = false
	if m.lost = msg.err; msg.err == nil {
		m.snapshot = msg.snapshot
		if msg.snapshot.Ended() {
			return tea.Quit
		}
	}
	if !m.again {
		return nil
	}
	m.again = false
	return m.refreshSoon()
}

func (m *model) press(key string) tea.Cmd {
	switch page := max(m.height-1, 1); key {
	case "q", "esc", "ctrl+c", "ctrl+d":
		return tea.Quit
	case "up", "k":
		m.top--
	case "down", "j":
		m.top++
	case "pgup":
		m.top -= page
	case "pgdown", "space":
		m.top += page
	case "home", "g":
		m.top = 0
	case "end", "G":
		m.top = len(m.snapshot.Tasks)
	}
	return nil
}

// View draws the screen: as much of the trees as fits, and a footer.
func (m *model) View() tea.View {
	options := m.options
	options.Width = m.width
	drawn, room := Draw(m.snapshot, options), max(m.height-1, 0)
	m.top = max(min(m.top, len(drawn)-room), 0)
	var lines []string
	for _, line := range drawn[m.top:min(m.top+room, len(drawn))] {
		text := ansi.Truncate(line.String(), m.width, "…")
		lines = append(lines, taskStyle(line.Task).Render(text))
	}
	for len(lines) < room {
		lines = append(lines, "")
	}
	view := tea.NewView(strings.Join(append(lines, m.footer(len(drawn), room)), "\n"))
	view.AltScreen = true
	view.WindowTitle = "parley task tree"
	return view
}

func (m *model) footer(all, room int) string {
	style, text := lipgloss.NewStyle().Faint(true), "q quits"
	switch {
	case m.lost != nil:
		style, text = lipgloss.NewStyle().Foreground(lipgloss.Red), "connection lost, retrying · q quits"
	case all == 0:
		text = "no open tasks · q quits"
	case all > room:
		text = fmt.Sprintf("%d–%d of %d tasks · ↑↓ moves · q quits", m.top+1, min(m.top+room, all), all)
	}
	return style.Render(ansi.Truncate(text, m.width, "…"))
}

// taskStyle returns the style of a task, in the sixteen colours that every terminal has.
func taskStyle(t parley.TaskView) lipgloss.Style {
	style := lipgloss.NewStyle()
	switch {
	case t.Status == parley.TaskCompleted:
		return style.Foreground(lipgloss.Green)
	case t.Status == parley.TaskFailed, t.Blocked():
		return style.Foreground(lipgloss.Red)
	case t.WaitsOn.Approval != "":
		return style.Foreground(lipgloss.Yellow)
	case t.Status == parley.TaskActive:
		return style
	default:
		return style.Faint(true)
	}
}
