package chat

import (
	"hash/fnv"
	"image/color"

	"charm.land/lipgloss/v2"

	"github.com/parley-hub/parley"
)

// style has the looks of the screen. It uses the sixteen colours that every terminal has and its user has chosen.
type style struct {
	title, faint, text, code, notice, bad, prompt lipgloss.Style
	names                                         []lipgloss.Style
}

func newStyle() style {
	plain := lipgloss.NewStyle()
	s := style{
		title: plain.Bold(true), faint: plain.Faint(true), text: plain, code: plain.Foreground(lipgloss.Cyan),
		notice: plain.Foreground(lipgloss.Blue), bad: plain.Foreground(lipgloss.Red), prompt: plain.Bold(true),
	}
	for _, colour := range []color.Color{
		lipgloss.Green, lipgloss.Yellow, lipgloss.Magenta, lipgloss.Cyan,
		lipgloss.BrightGreen, lipgloss.BrightYellow, lipgloss.BrightMagenta, lipgloss.BrightCyan,
	} {
		s.names = append(s.names, plain.Bold(true).Foreground(colour))
	}
	return s
}

// name returns the style of a participant's name, which is always the same.
func (s style) name(id string) lipgloss.Style {
	if id == parley.System {
		return s.bad
	}
	hash := fnv.New32a()
	_, _ = hash.Write([]byte(id))
	return s.names[hash.Sum32()%uint32(len(s.names))]
}

// dot returns the mark before a participant that shows its status.
func (s style) dot(p parley.Presence) string {
	switch p.Status {
	case parley.StatusOffline:
		return s.faint.Render("○")
	case parley.StatusSleeping:
		return s.faint.Render("◌")
	case parley.StatusIdle:
		return lipgloss.NewStyle().Foreground(lipgloss.Green).Render("●")
	default:
		return lipgloss.NewStyle().Foreground(lipgloss.Yellow).Render("●")
	}
}
