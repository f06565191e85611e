package cli

import (
	"strings"

	"github.com/charmbracelet/x/ansi"

	"github.com/parley-hub/parley/internal/plain"
)

// oneLine returns a text on one line, without control characters.
func oneLine(text string) string { return strings.Join(strings.Fields(plain.Line(text)), " ") }

// displayWidth returns how many columns of a terminal a text takes.
func displayWidth(text string) int { return ansi.StringWidth(text) }

// truncate shortens a text to a number of columns.
func truncate(text string, width int) string { return ansi.Truncate(text, width, "…") }
