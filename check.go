package parley

import (
	"fmt"
	"strings"
)

// maxProblems is how many problems a report lists at most.
const maxProblems = 100

// CheckReport is the result of a check of all stored data.
type CheckReport struct {
	Messages  int64    `json:"messages"`
	Artifacts int64    `json:"artifacts"`
	Audited   int64    `json:"audited"`
	Problems  []string `json:"problems,omitempty"`
	Omitted   int      `json:"omitted,omitempty"` // how many further problems are not listed
}

// Add adds a problem to the report. Beyond maxProblems it only counts the problem.
func (r *CheckReport) Add(format string, args ...any) {
	if len(r.Problems) >= maxProblems {
		r.Omitted++
		return
	}
	r.Problems = append(r.Problems, fmt.Sprintf(format, args...))
}

// Err returns nil if the check found no problems, else an error that names the first problems.
func (r CheckReport) Err() error {
	if len(r.Problems) == 0 {
		return nil
	}
	const named = 5
	shown := r.Problems[:min(named, len(r.Problems))]
	more := ""
	if n := len(r.Problems) - len(shown) + r.Omitted; n > 0 {
		more = fmt.Sprintf("; and %d more", n)
	}
	return Errorf(Internal, "stored data is damaged: %s%s", strings.Join(shown, "; "), more).
		Suggest("restore the newest backup, or store the listed data again")
}
