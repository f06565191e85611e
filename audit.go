package parley

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// AuditEntry is one line of the append-only record of administrative acts. Each entry contains the hash of the entry before it.
type AuditEntry struct {
	Num     int64           `json:"num" doc:"Its number, without gaps."`
	At      time.Time       `json:"at" doc:"When."`
	Actor   string          `json:"actor" doc:"The participant that did it."`
	Act     string          `json:"act" doc:"What was done."`
	Subject string          `json:"subject" doc:"The participant or thing that was changed."`
	Detail  json.RawMessage `json:"detail,omitempty" doc:"Details of the change."`
	Hash    string          `json:"hash" doc:"The SHA-256 of this entry and the one before."`
}

// Chain returns the hash of an entry. before is the hash of the previous entry.
func (e AuditEntry) Chain(before string) string {
	c := make(canonical, 0, 256)
	c.add("parley-audit-1")
	c.add(before)
	c.num(e.Num)
	c.time(&e.At)
	c.add(e.Actor)
	c.add(e.Act)
	c.add(e.Subject)
	c.add(string(e.Detail))
	sum := sha256.Sum256(c)
	return hex.EncodeToString(sum[:])
}

// AuditHead is the end of the audit log. A copy of it outside the database shows when the log was cut.
type AuditHead struct {
	Num  int64  `json:"num" doc:"The number of the last entry."`
	Hash string `json:"hash" doc:"The hash of the last entry."`
}

// AuditReport is the result of a check of the whole audit log.
type AuditReport struct {
	Entries  int64     `json:"entries" doc:"How many entries the log has."`
	Head     AuditHead `json:"head" doc:"The end of the log."`
	Problems []string  `json:"problems,omitempty" doc:"What is wrong."`
	Omitted  int       `json:"omitted,omitempty" doc:"How many further problems are not listed."`
	OK       bool      `json:"ok" doc:"Whether nothing is wrong."`
}

// Add notes a problem.
func (r *AuditReport) Add(format string, args ...any) {
	r.OK = false
	if len(r.Problems) >= maxProblems {
		r.Omitted++
		return
	}
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}
