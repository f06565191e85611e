package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"time"

	"github.com/parley-hub/parley"
)

// sessionTotals stores the usage of client sessions, one file for each session in a directory of the agent. Some clients report
// only the usage of the whole session with each run.
type sessionTotals struct{ dir string }

const totalsKept = 24 * time.Hour // longer than a session can be resumed

// since returns the usage of a run: the total of its session minus the stored total. It then stores the total. If the total has
// grown by less than the usage that the run reports, the client has reported the total of the run, not of the session. If the
// total cannot be stored, the usage of the next run is too large, which is the safer mistake.
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

// forget removes the totals that were last written before a time.
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

func (plan *runPlan) totals() sessionTotals {
	return sessionTotals{filepath.Join(plan.request.Dir, "usage")}
}
