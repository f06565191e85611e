package dialect

import (
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

// putIf sets a member of a member where that is due.
func (o *object) putIf(due bool, key, inner string, value any) {
	if due {
		o.put(key, inner, value)
	}
}

// readNames reads who a document is from, and to whom.
func (v *view) readNames(d Dialect, from, to string) {
	var warning string
	v.from, warning = AgentID(d, from)
	v.warn(warning)
	v.To, warning = recipient(d, to)
	v.warn(warning)
}

func (v *view) warn(sentence string) {
	if sentence != "" {
		v.warnings = append(v.warnings, sentence)
	}
}

// moment is a time that a document may give, or nil.
func moment(text string) *time.Time {
	at, err := schema.Moment(text)
	if err != nil {
		return nil
	}
	return &at
}

// sameMoment compares times as the hub keeps them.
func sameMoment(a, b time.Time) bool {
	return a.Truncate(time.Millisecond).Equal(b.Truncate(time.Millisecond))
}

// samePriority takes one that was not given for the default.
func samePriority(a, b parley.Priority) bool { return a.String() == b.String() }

func sameTime(a, b *time.Time) bool {
	if a == nil || b == nil {
		return a == b
	}
	return sameMoment(*a, *b)
}
