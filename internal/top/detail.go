package top

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/plain"
)

const labels = 10 // width of the names of fields

// drawDetail draws the details of one agent in a number of rows.
func (m *Model) drawDetail(rows int) []string {
	v := m.detail.View
	lines := []string{m.ruleLine(plain.Line(v.ID))}
	if v.UUID == "" {
		return append(lines, "…")
	}
	for _, field := range m.fields(v) {
		if field[1] != "" {
			lines = append(lines, m.fit(m.style.faint.Render(fmt.Sprintf("%-*s", labels, field[0]))+plain.Line(field[1])))
		}
	}
	if len(m.detail.Runs) > 0 {
		lines = append(lines, m.ruleLine("runs"))
	}
	for _, run := range m.detail.Runs {
		lines = append(lines, m.drawEndedRun(run))
	}
	return lines[:min(len(lines), max(rows, 0))]
}

func (m *Model) fields(v parley.AgentView) [][2]string {
	now := m.now()
	return [][2]string{
		{"name", v.Name},
		{"role", v.Role},
		{"status", statusText(parley.Presence{Status: v.Status, Reason: v.Reason, SleepingUntil: v.SleepingUntil}, now)},
		{"halted", haltText(v)},
		{"works on", workText(v.Work, now)},
		{"awaits", AwaitedText(v.Awaiting)},
		{"runtime", v.Runtime},
		{"inbox", fmt.Sprintf("%d waking, %d quiet", v.Inbox.Waking+v.Inbox.Work, v.Inbox.Quiet)},
		{"last hour", spentText(v.LastHour, v.Budget.RunsPerHour)},
		{"last day", spentText(v.LastDay, 0) + capsText(v.Budget)},
		{"health", healthText(v.Health, now)},
		{"last seen", formatSince(v.LastSeen, now)},
	}
}

// haltText returns by whom and why an agent was stopped or paused.
func haltText(v parley.AgentView) string {
	state, halt := "stopped", v.Stopped
	if halt == nil {
		state, halt = "paused", v.Paused
	}
	if halt == nil {
		return ""
	}
	return strings.TrimSuffix(state+" by "+halt.By+": "+halt.Reason, ": ")
}

func spentText(s *parley.Spent, limit int) string {
	if s == nil {
		return ""
	}
	text := fmt.Sprintf("%d runs", s.Runs)
	if limit > 0 {
		text += fmt.Sprintf(" of %d", limit)
	}
	if used := formatShort(s.InputTokens + s.OutputTokens); used != "" {
		text += ", " + used + " tokens"
	}
	if s.Cost > 0 {
		text += ", " + formatDollars(s.Cost)
	}
	return text
}

// capsText returns the caps of an agent for a day.
func capsText(b parley.Budget) (text string) {
	if b.TokensPerDay > 0 {
		text += " of " + formatShort(b.TokensPerDay) + " tokens"
	}
	if b.CostPerDay > 0 {
		text += " of " + formatDollars(b.CostPerDay)
	}
	return text
}

func healthText(h *parley.Health, now time.Time) string {
	if h == nil {
		return ""
	}
	return h.Health + ", " + formatDuration(now.Sub(h.At)) + " ago"
}

// drawEndedRun draws a run on one line: its start, its state, its duration and its failure.
func (m *Model) drawEndedRun(r parley.Run) string {
	text := r.CreatedAt.Local().Format(time.TimeOnly) + " " + r.ShortName() + " " + string(r.State)
	if r.StartedAt != nil && r.EndedAt != nil {
		text += " " + r.EndedAt.Sub(*r.StartedAt).Round(10*time.Millisecond).String()
	}
	text += failureText(r.Failure)
	if says := m.progress[r.ID]; says != "" {
		text += "  " + says
	}
	return ansi.Truncate(plain.Line(text), m.width, "…")
}
