package cli

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/parley-hub/parley/internal/plain"
)

// oneLine is a text on one line that does nothing to a terminal but show itself.
func oneLine(text string) string { return strings.Join(strings.Fields(plain.Line(text)), " ") }

// displayWidth is how many columns of a terminal a text takes.
func displayWidth(text string) int { return ansi.StringWidth(text) }

// truncate shortens a text to so many columns.
func truncate(text string, most int) string { return ansi.Truncate(text, most, "…") }
