package dialect

import (
	"encoding/json"
	"math"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/schema"
)

// setIf sets a member if a condition holds.
func (o *object) setIf(condition bool, key string, value any) {
	if condition {
		o.set(key, value)
	}
}

// setInnerIf sets a member of a member if a condition holds.
func (o *object) setInnerIf(condition bool, key, inner string, value any) {
	if condition {
		o.setInner(key, inner, value)
	}
}

// readNames reads the sender and the recipient of a document.
func (v *contents) readNames(d Dialect, from, to string) {
	var warning string
	v.from, warning = AgentID(d, from)
	v.warn(warning)
	v.To, warning = recipient(d, to)
	v.warn(warning)
}

func (v *contents) warn(sentence string) {
	if sentence != "" {
		v.warnings = append(v.warnings, sentence)
	}
}

// optionalTime returns an optional time of a document, or nil.
func optionalTime(text string) *time.Time {
	at, err := schema.ParseTime(text)
	if err != nil {
		return nil
	}
	return &at
}

// ParseTime parses a time with an offset. A time without an offset is in UTC.
func ParseTime(text string) (time.Time, error) { return schema.ParseTime(text) }

// equalTimes compares times as the hub keeps them: in milliseconds.
func equalTimes(a, b time.Time) bool {
	return a.Truncate(time.Millisecond).Equal(b.Truncate(time.Millisecond))
}

// equalPriorities compares priorities. A missing priority equals the default.
func equalPriorities(a, b parley.Priority) bool { return a.String() == b.String() }

func equalOptionalTimes(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return equalTimes(*a, *b)
}

// deadlineText returns the deadline as text. If the payload has the same deadline, it returns the text of the sender, with its
// offset.
func (v contents) deadlineText() string {
	payload := parseObject(v.Payload)
	for _, text := range []string{payload.text("deadline"), payload.object("context").text("deadline")} {
		if equalOptionalTimes(optionalTime(text), v.Deadline) {
			return text
		}
	}
	return formatTime(*v.Deadline)
}

// fraction returns a member that is a number, or nil.
func (o object) fraction(key string) (n *float64) {
	if json.Unmarshal(o.raw(key), &n) != nil {
		return nil
	}
	return n
}

// count returns a member that is a whole number of at least 0, or nil.
func (o object) count(key string) (n *int64) {
	if json.Unmarshal(o.raw(key), &n) != nil || n != nil && *n < 0 {
		return nil
	}
	return n
}

// roundToHundredth rounds to a hundredth, so that a computed percentage is 65 and not 65.00000000000001.
func roundToHundredth(n float64) float64 { return math.Round(n*100) / 100 }
