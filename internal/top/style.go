package top

import (
	"charm.land/lipgloss/v2"

	"github.com/parley-hub/parley"
)

// style has the looks of the screen, in the sixteen colours that every terminal has.
type style struct {
	title, faint, good, busy, bad, head, chosen lipgloss.Style
}

func newStyle() style {
	plain := lipgloss.NewStyle()
	return style{
		title: plain.Bold(true), faint: plain.Faint(true), good: plain.Foreground(lipgloss.Green),
		busy: plain.Foreground(lipgloss.Yellow), bad: plain.Foreground(lipgloss.Red), head: plain.Bold(true),
		chosen: plain.Reverse(true),
	}
}

// of returns the style of a status.
func (s style) of(status string) lipgloss.Style {
	switch status {
	case parley.StatusOffline, parley.StatusSleeping:
		return s.faint
	case parley.StatusIdle:
		return s.good
	default:
		return s.busy
	}
}
