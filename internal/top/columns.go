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

// column is one of the table of agents.
type column struct {
	title string
	right bool // its cells end at the same place
	cell  func(a Agent, now time.Time) string
}

// columns are all there are, in the order in which they are shown. rank says which are shown where not all fit: the
// smaller ones.
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

// table is the head and the rows of agents, with as many columns as fit. A width of 0 is any.
func table(agents []Agent, now time.Time, width int) (lines []string) {
	var chosen []column
	for most := len(columns); most > 0; most-- {
		chosen = chosen[:0]
		for _, c := range columns {
			if c.rank < most {
				chosen = append(chosen, c.column)
			}
		}
		// What a row says last may be cut, its head not.
		if lines = tableLines(chosen, agents, now); width == 0 || ansi.StringWidth(lines[0]) <= width {
			return lines
		}
	}
	return lines
}

// tableLines puts the cells of columns under each other.
func tableLines(chosen []column, agents []Agent, now time.Time) []string {
	lines := make([]string, 1+len(agents))
	for i, c := range chosen {
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

// statusText is what somebody is doing, with the reason where there is one.
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

// workOrWaitText is what somebody is at, or waits for.
func workOrWaitText(a Agent, now time.Time) string {
	if len(a.Work) == 0 {
		return AwaitedText(a.Awaiting)
	}
	return workText(a.Work, now)
}

// AwaitedText is what somebody waits for, as far as one may know.
func AwaitedText(w parley.Awaiting) string {
	waits := slices.Clone(w.DelegationIDs)
	if w.ApprovalID != "" {
		waits = append(waits, w.ApprovalName())
	}
	return strings.Join(waits, ", ")
}

// workText is where somebody is at work, and for how long.
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

// formatDuration is a time in one unit.
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

// formatCount is a count, of which 0 says nothing.
func formatCount(n int64) string {
	if n == 0 {
		return ""
	}
	return strconv.FormatInt(n, 10)
}

// formatShort is a large count in few characters.
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
