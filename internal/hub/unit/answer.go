package unit

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parley-hub/parley"
)

// Fitting is a runtime's text as it can be posted: without what no database keeps, and no longer than a
// message may be.
func (c *Core) Fitting(text string) string {
	text = strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD"))
	most := c.Config.Limits.Body
	if len(text) <= most {
		return text
	}
	note := cutNote(len(text), most)
	end := max(0, most-len(note))
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return (text[:end] + note)[:min(most, end+len(note))]
}

// FittingWords does the same for a text of the hub's that repeats words of others.
func (c *Core) FittingWords(w parley.Wording) parley.Wording {
	w = w.Map(func(text string) string {
		return strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD")
	})
	w = w.Cut(len(strings.TrimRightFunc(w.Text, unicode.IsSpace)))
	most := c.Config.Limits.Body
	if len(w.Text) <= most {
		return w
	}
	note := cutNote(len(w.Text), most)
	return w.Cut(max(0, most-len(note))).Own(note).Cut(most)
}

func cutNote(size, most int) string {
	return fmt.Sprintf("\n\n[cut: this was %d bytes long, a message has at most %d]", size, most)
}
