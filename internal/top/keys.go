package top

import (
	"cmp"
	"slices"

	tea "charm.land/bubbletea/v2"

	"github.com/parley-hub/parley"
)

// press handles a key.
func (m *Model) press(key string) tea.Cmd {
	m.notice = timedLine{}
	switch key {
	case "q", "ctrl+c", "ctrl+d":
		return tea.Quit
	case "esc":
		if m.detail == nil {
			return tea.Quit
		}
		m.detail = nil
	case "enter":
		return m.toggleDetail()
	case "p":
		return m.pause()
	case "s":
		m.order = (m.order + 1) % order(len(orders))
		m.sort()
	case "up", "k":
		m.move(-1)
	case "down", "j":
		m.move(1)
	case "pgup":
		m.move(-m.sections().agents)
	case "pgdown":
		m.move(m.sections().agents)
	case "home", "g":
		m.move(-len(m.snapshot.Agents))
	case "end", "G":
		m.move(len(m.snapshot.Agents))
	}
	return nil
}

// toggleDetail shows the details of the selected agent, or all agents again.
func (m *Model) toggleDetail() tea.Cmd {
	chosen, ok := m.selectedAgent()
	if m.detail != nil || !ok {
		m.detail = nil
		return nil
	}
	m.detail = &Detail{View: parley.AgentView{Agent: parley.Agent{ID: chosen.ID}}}
	return m.loadDetail(chosen.ID)
}

// pause pauses the selected agent, or resumes it. It asks the hub first, because the status of a working agent does not
// show a pause.
func (m *Model) pause() tea.Cmd {
	chosen, ok := m.selectedAgent()
	if !ok {
		return nil
	}
	return func() tea.Msg {
		detail, err := m.source.Detail(m.ctx, chosen.ID)
		if err != nil {
			return commandMsg{err: err}
		}
		action, done := parley.ActionPause, chosen.ID+" is paused"
		if detail.View.Paused != nil {
			action, done = parley.ActionResume, chosen.ID+" is resumed"
		}
		return commandMsg{done, m.source.Command(m.ctx, chosen.ID, parley.Command{Action: action})}
	}
}

// selectedAgent returns the selected agent.
func (m *Model) selectedAgent() (Agent, bool) {
	if at := m.position(); at >= 0 {
		return m.snapshot.Agents[at], true
	}
	return Agent{}, false
}

// position returns the index of the selected agent. If that agent was removed, the first one is selected.
func (m *Model) position() int {
	at := slices.IndexFunc(m.snapshot.Agents, func(a Agent) bool { return a.ID == m.selected })
	if at < 0 && len(m.snapshot.Agents) > 0 {
		return 0
	}
	return at
}

func (m *Model) move(by int) {
	if m.detail != nil || len(m.snapshot.Agents) == 0 {
		return
	}
	to := min(max(m.position()+by, 0), len(m.snapshot.Agents)-1)
	m.selected = m.snapshot.Agents[to].ID
}

// order is the sort order of agents.
type order int

var orders = []struct {
	name    string
	compare func(a, b Agent) int
}{
	{"status", func(a, b Agent) int { return cmp.Compare(rank(a), rank(b)) }},
	{"name", func(a, b Agent) int { return cmp.Compare(a.ID, b.ID) }},
	{"inbox", func(a, b Agent) int { return cmp.Compare(b.Inbox.Waking+b.Inbox.Work, a.Inbox.Waking+a.Inbox.Work) }},
	{"runs", func(a, b Agent) int { return cmp.Compare(b.LastHour.Runs, a.LastHour.Runs) }},
	{"cost", func(a, b Agent) int { return cmp.Compare(b.LastDay.Cost, a.LastDay.Cost) }},
}

// rank sorts busy agents first, and people last.
func rank(a Agent) int {
	at := slices.Index([]string{
		parley.StatusWorking, parley.StatusAwaitingApproval, parley.StatusAwaitingDelegation, parley.StatusIdle, parley.StatusSleeping,
		parley.StatusOffline,
	}, a.Status)
	if a.Kind != parley.KindAgent {
		return at + 10
	}
	return at
}

func (m *Model) sort() {
	slices.SortStableFunc(m.snapshot.Agents, func(a, b Agent) int {
		return cmp.Or(orders[m.order].compare(a, b), cmp.Compare(a.ID, b.ID))
	})
}
