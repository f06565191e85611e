package dialect

import (
	"encoding/json"
	"math"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/schema"
)

// setIf sets a member where that is due.
func (o *object) setIf(due bool, key string, value any) {
	if due {
		o.set(key, value)
	}
}

// setInnerIf sets a member of a member where that is due.
func (o *object) setInnerIf(due bool, key, inner string, value any) {
	if due {
		o.setInner(key, inner, value)
	}
}

// readNames reads who a document is from, and to whom.
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

// parseTime is a time that a document may give, or nil.
func parseTime(text string) *time.Time {
	at, err := schema.ParseTime(text)
	if err != nil {
		return nil
	}
	return &at
}

// ParseTime reads a time as documents have it: with an offset, or without one in UTC.
func ParseTime(text string) (time.Time, error) { return schema.ParseTime(text) }

// equalTimes compares times as the hub keeps them.
func equalTimes(a, b time.Time) bool {
	return a.Truncate(time.Millisecond).Equal(b.Truncate(time.Millisecond))
}

// equalPriorities takes one that was not given for the default.
func equalPriorities(a, b parley.Priority) bool { return a.String() == b.String() }

func equalOptionalTimes(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return equalTimes(*a, *b)
}

// deadlineText is the deadline as it is written: as its sender wrote it, with the offset, where the payload has it in any format.
func (v contents) deadlineText() string {
	payload := parseObject(v.Payload)
	for _, text := range []string{payload.text("deadline"), payload.object("context").text("deadline")} {
		if equalOptionalTimes(parseTime(text), v.Deadline) {
			return text
		}
	}
	return formatTime(*v.Deadline)
}

// fraction is a member that is a number, or nil.
func (o object) fraction(key string) (n *float64) {
	if json.Unmarshal(o.raw(key), &n) != nil {
		return nil
	}
	return n
}

// count is a member that is a whole number and not below 0, or nil.
func (o object) count(key string) (n *int64) {
	if json.Unmarshal(o.raw(key), &n) != nil || n != nil && *n < 0 {
		return nil
	}
	return n
}

// roundToHundredth rounds to a hundredth: a part of a hundred that was computed is 65, and not 65.00000000000001.
func roundToHundredth(n float64) float64 { return math.Round(n*100) / 100 }
