package top

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/plain"
)

// column is a column of the table of agents.
type column struct {
	title string
	right bool // aligns its cells to the right
	cell  func(a Agent, now time.Time) string
}

// columns are all columns, in the order in which they are shown. If not all fit, those with the smallest ranks are
// shown.
var columns = []struct {
	column
	rank int
}{
	{column{"AGENT", false, func(a Agent, _ time.Time) string { return a.ID }}, 0},
	{column{"STATUS", false, func(a Agent, now time.Time) string { return statusText(a.Presence, now) }}, 1},
	{column{"INBOX", true, func(a Agent, _ time.Time) string { return strconv.Itoa(a.Inbox.Waking + a.Inbox.Work) }}, 2},
	{column{"LIVE", true, func(a Agent, _ time.Time) string { return formatCount(int64(len(a.Work))) }}, 3},
	{column{"RUNS/H", true, func(a Agent, _ time.Time) string { return formatCount(int64(a.LastHour.Runs)) }}, 5},
	{column{"TOKENS/D", true, func(a Agent, _ time.Time) string { return formatShort(a.LastDay.InputTokens + a.LastDay.OutputTokens) }}, 6},
	{column{"COST/D", true, func(a Agent, _ time.Time) string { return formatDollars(a.LastDay.Cost) }}, 7},
	{column{"SEEN", true, func(a Agent, now time.Time) string { return formatSince(a.LastSeen, now) }}, 8},
	{column{"RUNTIME", false, func(a Agent, _ time.Time) string { return a.Runtime }}, 9},
	{column{"WORKS ON", false, workOrWaitText}, 4},
}

const gap = 2 // columns of space between two

// table returns the heading and the rows of agents, with as many columns as fit. A width of 0 is unlimited.
func table(agents []Agent, now time.Time, width int) (lines []string) {
	var shown []column
	for count := len(columns); count > 0; count-- {
		shown = shown[:0]
		for _, c := range columns {
			if c.rank < count {
				shown = append(shown, c.column)
			}
		}
		// The last column may be cut, but not its heading.
		if lines = tableLines(shown, agents, now); width == 0 || ansi.StringWidth(lines[0]) <= width {
			return lines
		}
	}
	return lines
}

// tableLines aligns the cells of columns.
func tableLines(shown []column, agents []Agent, now time.Time) []string {
	lines := make([]string, 1+len(agents))
	for i, c := range shown {
		cells := []string{c.title}
		for _, a := range agents {
			cells = append(cells, plain.Line(c.cell(a, now)))
		}
		widest := 0
		for _, cell := range cells {
			widest = max(widest, ansi.StringWidth(cell))
		}
		for row, cell := range cells {
			space := strings.Repeat(" ", widest-ansi.StringWidth(cell))
			if c.right {
				cell = space + cell
			} else {
				cell += space
			}
			if i > 0 {
				cell = strings.Repeat(" ", gap) + cell
			}
			lines[row] += cell
		}
	}
	for i := range lines {
		lines[i] = strings.TrimRight(lines[i], " ")
	}
	return lines
}

// statusText returns a status, with its reason if it has one.
func statusText(p parley.Presence, now time.Time) string {
	words := strings.ReplaceAll(p.Status, "_", " ")
	if p.Reason != "" {
		words += " (" + p.Reason + ")"
	}
	if p.Status == parley.StatusSleeping && p.SleepingUntil != nil {
		words += " " + formatDuration(p.SleepingUntil.Sub(now))
	}
	return words
}

// workOrWaitText returns what an agent works on, or what it waits for.
func workOrWaitText(a Agent, now time.Time) string {
	if len(a.Work) == 0 {
		return AwaitedText(a.Awaiting)
	}
	return workText(a.Work, now)
}

// AwaitedText returns what an agent waits for, as far as the caller may know.
func AwaitedText(w parley.Awaiting) string {
	waits := slices.Clone(w.DelegationIDs)
	if w.ApprovalID != "" {
		waits = append(waits, w.ApprovalName())
	}
	return strings.Join(waits, ", ")
}

// workText returns where an agent works, and for how long.
func workText(list []parley.Work, now time.Time) string {
	var parts []string
	for _, w := range list {
		where := "elsewhere"
		if w.Channel != "" {
			where = "#" + w.Channel
		} else if w.Conversation != "" {
			where = "direct"
		}
		parts = append(parts, where+" "+formatDuration(now.Sub(w.Since)))
	}
	return strings.Join(parts, ", ")
}

func formatSince(t *time.Time, now time.Time) string {
	if t == nil {
		return ""
	}
	return formatDuration(now.Sub(*t))
}

// formatDuration formats a duration in one unit.
func formatDuration(d time.Duration) string {
	switch d = max(d, 0); {
	case d >= 48*time.Hour:
		return fmt.Sprintf("%dd", d/(24*time.Hour))
	case d >= time.Hour:
		return fmt.Sprintf("%dh", d/time.Hour)
	case d >= time.Minute:
		return fmt.Sprintf("%dm", d/time.Minute)
	default:
		return fmt.Sprintf("%ds", d/time.Second)
	}
}

// formatCount formats a count, and returns nothing for 0.
func formatCount(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// formatShort formats a large count in few characters.
func formatShort(n int64) string {
	switch {
	case n >= 1e6:
		return fmt.Sprintf("%.1fM", float64(n)/1e6)
	case n >= 1e4:
		return fmt.Sprintf("%.0fk", float64(n)/1e3)
	default:
		return formatCount(n)
	}
}

func formatDollars(amount float64) string {
	if amount == 0 {
		return ""
	}
	return fmt.Sprintf("$%.2f", amount)
}
