package bridge

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-hub/parley"
)

// status has the counts and problems of a bridge, for its reports to the hub.
type status struct {
	imported, exported, rejected, evicted atomic.Int64
	firstScanDone                         atomic.Bool // the first scan has found the folders, and which files in them are history

	added time.Time // when the bridge was added

	mu         sync.Mutex
	scanned    time.Time
	waiting    int64
	problems   map[string]string // the current problem of each part
	lastLine   time.Time         // when the progress of a long import was last logged
	lastCounts [2]int64          // the counts in that line
}

// setProblem records the problem of one part, or clears it if err is nil. It returns true if there is an error. It does not record
// context.Canceled, because the bridge is then ending.
func (s *status) setProblem(part string, err error) bool {
	if errors.Is(err, context.Canceled) {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		delete(s.problems, part)
		return false
	}
	if s.problems == nil {
		s.problems = map[string]string{}
	}
	s.problems[part] = oneLine(err.Error())
	return true
}

// noteScan records a scan of the tree.
func (s *status) noteScan(waiting int64) parley.BridgeStatus {
	s.mu.Lock()
	s.scanned, s.waiting = time.Now(), waiting
	s.mu.Unlock()
	return s.view()
}

func (s *status) view() parley.BridgeStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := parley.BridgeStatus{
		Running: true, Added: s.added, Looked: s.firstScanDone.Load(), Imported: s.imported.Load(), Exported: s.exported.Load(), Rejected: s.rejected.Load(), Evicted: s.evicted.Load(),
		Waiting: s.waiting, Trouble: s.firstProblems(),
	}
	if !s.scanned.IsZero() {
		at := s.scanned
		v.ScannedAt = &at
	}
	return v
}

// firstProblems returns the first problems as one text.
func (s *status) firstProblems() string {
	const shown = 3
	parts := slices.Sorted(maps.Keys(s.problems))
	var all []string
	for _, name := range parts[:min(shown, len(parts))] {
		all = append(all, s.problems[name])
	}
	text := strings.Join(slices.Compact(all), "; ")
	if more := len(parts) - shown; more > 0 {
		text += "; and " + strconv.Itoa(more) + " more"
	}
	return text
}

// progressDue reports, about once a second, whether to log the progress of a long import.
func (s *status) progressDue(now time.Time, imported, waiting int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lastLine.IsZero() {
		s.lastLine = now // the first line comes after a second
	}
	if at := [2]int64{imported, waiting}; now.Sub(s.lastLine) < time.Second || at == s.lastCounts {
		return false
	}
	s.lastLine, s.lastCounts = now, [2]int64{imported, waiting}
	return true
}

// progress logs the progress of a long import.
func (e *engine) progress() {
	waiting := e.pendingFiles()
	if waiting == 0 {
		e.status.mu.Lock()
		e.status.lastLine = time.Time{}
		e.status.mu.Unlock()
		return
	}
	imported := e.status.imported.Load()
	if !e.status.progressDue(time.Now(), imported, waiting) {
		return
	}
	e.Log.Info("imported "+thousands(imported)+" files, "+thousands(waiting)+" to go", "bridge", e.id)
	if e.Progress != nil {
		e.Progress(imported, waiting)
	}
}

// thousands formats a number with commas.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
