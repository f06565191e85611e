package parley

import (
	"slices"
	"time"
)

// LogLine is one line of the message log, in the form of S1. It never has what a message says.
type LogLine struct {
	Timestamp time.Time `json:"timestamp"`
	Level     string    `json:"level"` // info, warn, error
	MsgID     string    `json:"msgId"`
	TraceID   string    `json:"traceId"`
	From      string    `json:"from"`
	To        string    `json:"to"` // the recipient, or the conversation where nobody in particular is meant
	Type      Type      `json:"type"`
	LatencyMS int64     `json:"latencyMs"` // since it was sent
	Status    string    `json:"status"`    // sent, delivered, processed, failed
}

// LogStatuses are what can have become of a message in the message log.
func LogStatuses() []string { return []string{"sent", "delivered", "processed", "failed"} }

// LogFilter selects lines of the message log. The zero value selects all.
type LogFilter struct {
	Trace  string // the id of a trace in any spelling, or of a message
	Agent  string // the id of who sent it, or whom it is for
	Status string
	Since  time.Time
	Limit  int // the newest so many
}

// Check says what is wrong with a filter, or nil.
func (f LogFilter) Check() error {
	if f.Status != "" && !slices.Contains(LogStatuses(), f.Status) {
		return Errorf(BadInput, "no line of the message log says %q", clip(f.Status)).Suggest("use sent, delivered, processed or failed")
	}
	return CheckTrace(f.Trace)
}

// Selects says whether a line is among those the filter selects.
func (f LogFilter) Selects(l LogLine) bool {
	switch {
	case f.Trace != "" && l.MsgID != f.Trace && TraceKey(l.TraceID) != TraceKey(f.Trace):
		return false
	case f.Agent != "" && l.From != f.Agent && l.To != f.Agent:
		return false
	case f.Status != "" && l.Status != f.Status:
		return false
	default:
		return !l.Timestamp.Before(f.Since)
	}
}
