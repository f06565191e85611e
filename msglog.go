package parley

import (
	"slices"
	"time"
)

// LogLine is one line of the message log, in the format of ClawOS. It never contains the text of a message.
type LogLine struct {
	Timestamp time.Time `json:"timestamp"`
	Level     string    `json:"level"` // info, warn, error
	MsgID     string    `json:"msgId"`
	TraceID   string    `json:"traceId"`
	From      string    `json:"from"`
	To        string    `json:"to"` // the recipient, or the conversation if the message has no recipient
	Type      Type      `json:"type"`
	LatencyMS int64     `json:"latencyMs"` // since the message was sent
	Status    string    `json:"status"`    // sent, delivered, processed, failed
}

// LogStatuses returns the statuses in the message log.
func LogStatuses() []string { return []string{"sent", "delivered", "processed", "failed"} }

// LogFilter selects lines of the message log. The zero value selects all.
type LogFilter struct {
	Trace  string // the id of a trace in any spelling, or of a message
	Agent  string // the id of the sender or the recipient
	Status string
	Since  time.Time
	Limit  int // the largest number of lines; the newest lines count
}

// Check returns what is wrong with a filter, or nil.
func (f LogFilter) Check() error {
	if f.Status != "" && !slices.Contains(LogStatuses(), f.Status) {
		return Errorf(BadInput, "unknown status %q of the message log", clip(f.Status)).Suggest("use sent, delivered, processed or failed")
	}
	return CheckTrace(f.Trace)
}

// Selects reports whether the filter selects a line.
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
