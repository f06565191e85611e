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

// status is the state of a bridge.
type status struct {
	imported, exported, rejected, evicted atomic.Int64
	firstLookDone                         atomic.Bool // the first look has found the folders, and what in them is history

	added time.Time // when the bridge was

	mu         sync.Mutex
	scanned    time.Time
	waiting    int64
	troubles   map[string]string // what does not get on, by what it is
	lastLine   time.Time         // when the last line on a long import was
	lastCounts [2]int64          // and what it said
}

// trouble records or clears a problem of one part and reports whether there is one. The end of the bridge is none.
func (s *status) trouble(of string, err error) bool {
	if errors.Is(err, context.Canceled) {
		return true
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		delete(s.troubles, of)
		return false
	}
	if s.troubles == nil {
		s.troubles = map[string]string{}
	}
	s.troubles[of] = oneLine(err.Error())
	return true
}

// noteLook records a scan of the tree.
func (s *status) noteLook(waiting int64) parley.BridgeStatus {
	s.mu.Lock()
	s.scanned, s.waiting = time.Now(), waiting
	s.mu.Unlock()
	return s.view()
}

func (s *status) view() parley.BridgeStatus {
	s.mu.Lock()
	defer s.mu.Unlock()
	v := parley.BridgeStatus{
		Running: true, Added: s.added, Looked: s.firstLookDone.Load(), Imported: s.imported.Load(), Exported: s.exported.Load(), Rejected: s.rejected.Load(), Evicted: s.evicted.Load(),
		Waiting: s.waiting, Trouble: s.firstTroubles(),
	}
	if !s.scanned.IsZero() {
		at := s.scanned
		v.ScannedAt = &at
	}
	return v
}

// firstTroubles returns the first problems as one text.
func (s *status) firstTroubles() string {
	const shown = 3
	of := slices.Sorted(maps.Keys(s.troubles))
	var all []string
	for _, name := range of[:min(shown, len(of))] {
		all = append(all, s.troubles[name])
	}
	text := strings.Join(slices.Compact(all), "; ")
	if more := len(of) - shown; more > 0 {
		text += "; and " + strconv.Itoa(more) + " more"
	}
	return text
}

// progressDue reports, about once a second, whether to log the progress of a long import.
func (s *status) progressDue(now time.Time, imported, waiting int64) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.lastLine.IsZero() {
		s.lastLine = now // the first is said when it has taken a second
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
	e.Log.Info("imported "+thousands(imported)+", "+thousands(waiting)+" wait", "bridge", e.id)
	if e.Progress != nil {
		e.Progress(imported, waiting)
	}
}

// thousands writes a number as people read it.
func thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
