package unit

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

// WithoutKeys returns a JSON object without the named members and without null values, or nil if nothing is left.
func WithoutKeys(payload json.RawMessage, members ...string) json.RawMessage {
	fields := map[string]json.RawMessage{}
	if json.Unmarshal(payload, &fields) != nil {
		return nil
	}
	maps.DeleteFunc(fields, func(key string, value json.RawMessage) bool {
		return slices.Contains(members, key) || string(value) == "null"
	})
	if len(fields) == 0 {
		return nil
	}
	rest, err := json.Marshal(fields)
	if err != nil {
		return nil // cannot happen: the values were just decoded
	}
	return rest
}

// AsWords returns a JSON value as text: a string as it is, the "message" or "text" of an object, and any other value as
// JSON.
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

// Clipped returns a text without space around it, in a form that can be stored.
func Clipped(text string) string { return Storable(strings.TrimSpace(text)) }

// Listed joins up to eight items with commas, and marks that there are more.
func Listed(items []string) string {
	const shown = 8
	if len(items) > shown {
		return strings.Join(items[:shown], ", ") + " …"
	}
	return strings.Join(items, ", ")
}

// Storable returns the beginning of a text of a failed program, without bytes that a database cannot store.
func Storable(text string) string {
	return strings.ToValidUTF8(strings.ReplaceAll(text[:min(len(text), maxReason)], "\x00", ""), "")
}

// maxReason is how many bytes of a text Storable keeps.
const maxReason = 4 << 10

// Shortened returns at most 80 characters of a text that a caller sent, so that it does not fill an error.
func Shortened(text string) string {
	if r := []rune(text); len(r) > 80 {
		return string(r[:80]) + "…"
	}
	return text
}

// MissingStop returns a full stop if a text does not end with a mark, and else "".
func MissingStop(text string) string {
	if strings.HasSuffix(text, ".") || strings.HasSuffix(text, "!") || strings.HasSuffix(text, "?") || strings.HasSuffix(text, "…") {
		return ""
	}
	return "."
}

// Fitting returns a runtime's text as it can be posted: without bytes that a database cannot store, and cut to the longest
// allowed message.
func (c *Core) Fitting(text string) string {
	text = strings.TrimSpace(strings.ToValidUTF8(strings.ReplaceAll(text, "\x00", ""), "\uFFFD"))
	limit := c.Config.Limits.Body
	if len(text) <= limit {
		return text
	}
	note := cutNote(len(text), limit)
	end := max(0, limit-len(note))
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return (text[:end] + note)[:min(limit, end+len(note))]
}

// FittingWords does the same for a text of the hub that quotes others.
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

// cutNote returns the note at the end of a text that was cut.
func cutNote(size, most int) string {
	return fmt.Sprintf("\n\n[cut: this was %d bytes long, a message has at most %d]", size, most)
}

// SetDefault sets a field that has its zero value.
func SetDefault[T comparable](field *T, value T) {
	var zero T
	if *field == zero {
		*field = value
	}
}

// Clamp returns n, but at most most, or otherwise if n is not positive.
func Clamp(n, otherwise, most int) int {
	if n <= 0 {
		return otherwise
	}
	return min(n, most)
}

// After returns a pointer to the time d after now, to the millisecond.
func After(now time.Time, d time.Duration) *time.Time {
	t := now.Add(d).Truncate(time.Millisecond)
	return &t
}

// NewID returns a new id, which sorts by time.
func NewID() string {
	id, err := uuid.NewV7()
	if err != nil {
		panic("hub: the system has no randomness: " + err.Error())
	}
	return id.String()
}

// SortBySeq sorts messages by their place in the order.
func SortBySeq(list []parley.Message) {
	slices.SortFunc(list, func(a, b parley.Message) int { return cmp.Compare(a.Seq, b.Seq) })
}

// ConversationKey returns the name in a #name, in lower case.
func ConversationKey(ref string) string { return strings.ToLower(strings.TrimPrefix(ref, "#")) }

// BridgeNames returns the ids of all bridges.
func BridgeNames(tx storage.Tx) (names []string, err error) {
	all, err := tx.Bridges().List()
	for _, b := range all {
		names = append(names, b.ID)
	}
	return names, err
}
