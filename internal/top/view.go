package top

import (
	"fmt"
	"strings"
	"time"

	tea "charm.land/bubbletea/v2"
	"github.com/charmbracelet/x/ansi"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/plain"
)

const (
	hint       = "q quits · ↑↓ selects · Enter shows more · p pauses or resumes · s sorts by "
	shortHint  = "q · ↑↓ · Enter · p pause · s "
	detailHint = "Esc goes back · q quits · p pauses or resumes"
)

// View draws the screen.
func (m *Model) View() tea.View {
	lines := m.header()
	if m.detail != nil {
		lines = append(lines, m.drawDetail(m.height-len(lines)-1)...)
	} else {
		lines = append(lines, m.body()...)
	}
	for len(lines) < m.height-1 {
		lines = append(lines, "")
	}
	lines = append(lines[:max(m.height-1, 0)], m.footer())
	view := tea.NewView(strings.Join(lines, "\n"))
	view.AltScreen = true
	view.WindowTitle = "parley top"
	return view
}

// header returns the top lines: the hub, its counts and rates, and its alerts.
func (m *Model) header() []string {
	s := m.snapshot.Status
	title := m.style.title.Render("parley top") + m.style.faint.Render(" · "+plain.Line(m.snapshot.Hub)+" · "+m.snapshot.At.Local().Format(time.TimeOnly))
	if m.lost != nil {
		title = m.style.title.Render("parley top") + m.style.bad.Render(" · connection lost, retrying")
	}
	counts := fmt.Sprintf("%d live · %d open deliveries", len(m.snapshot.Runs), s.OpenDeliveries)
	if s.DeadLetters > 0 {
		counts += " · " + m.style.bad.Render(fmt.Sprintf("%d dead letters", s.DeadLetters))
	}
	counts += fmt.Sprintf(" · %.1f messages/s · %.1f runs/s", m.messages.perSecond(), m.runs.perSecond())
	lines := []string{m.fit(title), m.fit(counts)}
	for _, alert := range parley.GroupAlerts(s.Alerts) {
		lines = append(lines, m.fit(m.style.bad.Render(plain.Line(alert.Message))))
	}
	return lines
}

// sectionRows is the number of rows of each section of the screen, without its heading.
type sectionRows struct{ agents, stuck, runs, events int }

// sections distributes the rows. Agents get the rows that the other sections leave, but at least a third.
func (m *Model) sections() sectionRows {
	left := m.height - len(m.header()) - 2 // the heading of the table, the footer of the screen
	p := sectionRows{stuck: min(len(m.snapshot.Stuck), left/4), runs: min(len(m.snapshot.Runs), left/3), events: min(len(m.recentEvents), left/4)}
	for _, rows := range []*int{&p.stuck, &p.runs, &p.events} {
		if *rows > 0 {
			left-- // its heading
		}
		left -= *rows
	}
	p.agents = max(min(left, len(m.snapshot.Agents)), 1)
	return p
}

func (m *Model) body() []string {
	p := m.sections()
	lines := m.drawAgents(p.agents)
	if p.stuck > 0 {
		lines = append(lines, m.ruleLine("stuck"))
		for _, task := range m.snapshot.Stuck[:p.stuck] {
			lines = append(lines, m.style.bad.Render(m.fit(stuckText(task))))
		}
	}
	if p.runs > 0 {
		lines = append(lines, m.ruleLine("live runs"))
		for _, run := range m.snapshot.Runs[:p.runs] {
			lines = append(lines, m.drawRun(run))
		}
	}
	if p.events > 0 {
		lines = append(lines, m.ruleLine("recent events"))
		for _, one := range m.recentEvents[len(m.recentEvents)-p.events:] {
			lines = append(lines, m.drawLine(one))
		}
	}
	return lines
}

// drawAgents draws the visible part of the table, which always has the selected agent.
func (m *Model) drawAgents(rows int) []string {
	drawn := table(m.snapshot.Agents, m.now(), m.width)
	lines := []string{m.style.head.Render(m.fit(drawn[0]))}
	at := m.position()
	first := max(min(at-rows/2, len(m.snapshot.Agents)-rows), 0)
	for i := first; i < min(first+rows, len(m.snapshot.Agents)); i++ {
		text, style := m.fit(drawn[i+1]), m.style.of(m.snapshot.Agents[i].Status)
		if i == at {
			text += strings.Repeat(" ", max(m.width-ansi.StringWidth(text), 0))
			style = m.style.chosen
		}
		lines = append(lines, style.Render(text))
	}
	return lines
}

// stuckText describes a task that cannot continue: its assignee, its title and its blockers.
func stuckText(t parley.TaskView) string {
	return plain.Line(fmt.Sprintf("%s %s %q blocked: %s", t.ID, t.Assignee, t.Title, strings.Join(t.Progress.Blockers, ", ")))
}

// drawRun draws a live run: its agent, its conversation, its duration and its progress.
func (m *Model) drawRun(r parley.Run) string {
	text := fmt.Sprintf("%s %s %s %s", r.ShortName(), r.Agent, formatDuration(m.now().Sub(r.CreatedAt)), r.State)
	if title := m.snapshot.Titles[r.Conversation]; title != "" {
		text += " " + title
	}
	says := m.style.faint.Render(plain.Line(m.progress[r.ID]))
	return m.fit(plain.Line(text) + "  " + says)
}

func (m *Model) drawLine(l timedLine) string {
	text := plain.Line(l.text)
	if l.bad {
		text = m.style.bad.Render(text)
	}
	return m.fit(m.style.faint.Render(l.at.Local().Format(time.TimeOnly)) + " " + text)
}

func (m *Model) footer() string {
	switch {
	case m.notice.text != "" && m.notice.bad:
		return m.style.bad.Render(m.fit(plain.Line(m.notice.text)))
	case m.notice.text != "":
		return m.fit(plain.Line(m.notice.text))
	case m.detail != nil:
		return m.style.faint.Render(m.fit(detailHint))
	}
	text := hint
	if ansi.StringWidth(hint)+8 > m.width {
		text = shortHint
	}
	return m.style.faint.Render(m.fit(text + orders[m.order].name))
}

// ruleLine returns a line across the screen with a text in it.
func (m *Model) ruleLine(text string) string {
	text = ansi.Truncate("── "+text+" ", m.width, "…")
	return m.style.faint.Render(text + strings.Repeat("─", max(m.width-ansi.StringWidth(text), 0)))
}

func (m *Model) fit(line string) string { return ansi.Truncate(line, m.width, "…") }
