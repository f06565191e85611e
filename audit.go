package parley

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"
)

// AuditEntry is one line of the append-only record of administrative acts. Each carries the hash
// of the one before it.
type AuditEntry struct {
	Num     int64           `json:"num"`
	At      time.Time       `json:"at"`
	Actor   string          `json:"actor"`
	Act     string          `json:"act"`
	Subject string          `json:"subject"`
	Detail  json.RawMessage `json:"detail,omitempty"`
	Hash    string          `json:"hash"`
}

// Chain is the hash of an entry that follows one with the hash before.
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

// AuditHead is the end of the audit log. Who keeps it elsewhere notices when the log is cut.
type AuditHead struct {
	Num  int64  `json:"num"`
	Hash string `json:"hash"`
}

// AuditReport is what a walk along the whole audit log has found.
type AuditReport struct {
	Entries  int64     `json:"entries"`
	Head     AuditHead `json:"head"`
	Problems []string  `json:"problems,omitempty"`
	Omitted  int       `json:"omitted,omitempty"` // problems that are not listed any more
	OK       bool      `json:"ok"`
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
