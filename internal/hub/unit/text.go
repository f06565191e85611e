package unit

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/parley-hub/parley"
)

// Beside is what a payload says beside some members, or nothing. What is null says nothing.
func Beside(payload json.RawMessage, members ...string) json.RawMessage {
	all := map[string]json.RawMessage{}
	if json.Unmarshal(payload, &all) != nil {
		return nil
	}
	maps.DeleteFunc(all, func(key string, value json.RawMessage) bool {
		return slices.Contains(members, key) || string(value) == "null"
	})
	if len(all) == 0 {
		return nil
	}
	rest, err := json.Marshal(all)
	if err != nil {
		return nil // it was read before
	}
	return rest
}

// AsWords is a JSON value as a text: a string, what an object gives as its message, or else the value itself.
func AsWords(raw json.RawMessage) string {
	var (
		text   string
		object map[string]any
	)
	switch {
	case json.Unmarshal(raw, &text) == nil:
		return text
	case json.Unmarshal(raw, &object) == nil && len(object) == 0:
		return ""
	}
	for _, key := range []string{"message", "text"} {
		if text, ok := object[key].(string); ok && text != "" {
			return text
		}
	}
	return string(raw)
}

// Clipped is as much of a text as is kept of what is said in passing.
func Clipped(text string) string { return Storable(strings.TrimSpace(text)) }

// Listed is a few words in a row.
func Listed(items []string) string {
	const shown = 8
	if len(items) > shown {
		return strings.Join(items[:shown], ", ") + " …"
	}
	return strings.Join(items, ", ")
}

// Storable is a text from whatever has failed, without what cannot be stored of it.
func Storable(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text[:min(len(text), maxReason)], "\x00", ""), "")
}

const maxReason = 4 << 10

// Shortened keeps what a caller sent from filling an error.
func Shortened(text string) string {
	if r := []rune(text); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return text
}

// MissingStop is a full stop if the text does not end with one.
func MissingStop(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, "…") {
		return ""
	}
	return "."
}

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
