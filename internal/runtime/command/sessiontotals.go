package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/parley-hub/parley"
)

// sessionTotals are what sessions have used so far, one file each in a directory of the agent's. They are needed for
// clients that report the whole session's usage with every run of it.
type sessionTotals struct{ dir string }

const totalsKept = 24 * time.Hour // longer than a session is resumed

// since returns what a run has used of a session's total, and keeps the total. A total that has not grown by what
// the run says it used is not of the whole session, but of the run. One that cannot be kept makes the next run
// look too expensive, which is the safer mistake.
func (t sessionTotals) since(session string, total, run parley.Usage) parley.Usage {
	if session == "" {
		return total
	}
	file := filepath.Join(t.dir, session+".json")
	var before parley.Usage
	if text, err := os.ReadFile(file); err == nil {
		_ = json.Unmarshal(text, &before)
	}
	if text, err := json.Marshal(total); err == nil && os.MkdirAll(t.dir, 0o700) == nil {
		_ = os.WriteFile(file, text, 0o600)
	}
	t.forget(time.Now().Add(-totalsKept))
	used := total.Plus(parley.Usage{InputTokens: -before.InputTokens, OutputTokens: -before.OutputTokens, Cost: -before.Cost})
	if used.InputTokens < run.InputTokens || used.OutputTokens < run.OutputTokens || used.Cost < 0 {
		return total
	}
	return used
}

// forget removes the totals of sessions that nobody resumes any more.
func (t sessionTotals) forget(before time.Time) {
	entries, err := os.ReadDir(t.dir)
	if err != nil {
		return
	}
	for _, entry := range entries {
		if info, err := entry.Info(); err == nil && info.ModTime().Before(before) {
			_ = os.Remove(filepath.Join(t.dir, entry.Name()))
		}
	}
}

func (t *runPlan) totals() sessionTotals { return sessionTotals{filepath.Join(t.job.Dir, "usage")} }
