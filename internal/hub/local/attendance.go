// Package local holds what one process of the hub remembers and no database does: who attends, which agents have something to
// take, who waits for a change, and what live runs say. It is lost with the process.
package local

import (
	"sync"
	"time"

	"github.com/parley-hub/parley"
)

// Attendance is which agents are present, as far as this process knows: agents that called lately, and agents with an open
// session. The hub stores only that an agent came or left, not every call.
type Attendance struct {
	Mu     sync.Mutex
	agents map[string]*agentEntry
	Wake   chan struct{} // signalled when an agent comes or leaves
}

type agentEntry struct {
	LastSign  time.Time
	Until     time.Time // the end of its presence, unless it calls again
	Sessions  int
	working   bool // the agent reported that it works; ends with its presence
	announced bool // an event announced that it is present
	busy      bool // an event announced that it works
}

// NewAttendance returns an attendance without agents.
func NewAttendance() *Attendance {
	return &Attendance{agents: map[string]*agentEntry{}, Wake: make(chan struct{}, 1)}
}

// Of returns the entry of an agent, and makes one if there is none. The caller holds a.Mu.
func (a *Attendance) Of(agent string) *agentEntry {
	entry, known := a.agents[agent]
	if !known {
		entry = &agentEntry{}
		a.agents[agent] = entry
	}
	return entry
}

// Heard notes a call that an agent made itself.
func (a *Attendance) Heard(agent string, now time.Time) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	a.Note(a.Of(agent), now)
}

// Glimpsed notes a sign of an agent that the hub runs. It does not make the agent present, because such an agent is present
// without calls.
func (a *Attendance) Glimpsed(agent string, now time.Time) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	a.Of(agent).LastSign = now
}

// Note does what Heard does for an entry that was found. The caller holds a.Mu.
func (a *Attendance) Note(entry *agentEntry, now time.Time) {
	entry.LastSign, entry.Until = now, now.Add(parley.AwayAfter)
	if !entry.announced {
		Signal(a.Wake)
	}
}

// HeardFor notes a sign of an agent at a time, after which the agent is present for a while. It ignores a sign whose time
// ends before the known one.
func (a *Attendance) HeardFor(agent string, at time.Time, length time.Duration) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	entry := a.Of(agent)
	if until := at.Add(length); until.After(entry.Until) {
		entry.LastSign, entry.Until = at, until
	}
	if !entry.announced {
		Signal(a.Wake)
	}
}

// SetWorking notes whether an agent reports that it works.
func (a *Attendance) SetWorking(agent string, working bool) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	entry := a.Of(agent)
	if entry.working = working; entry.working != entry.busy {
		Signal(a.Wake)
	}
}

// Busy reports whether an agent is present and reported that it works.
func (a *Attendance) Busy(agent string, now time.Time) bool {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	entry, known := a.agents[agent]
	return known && entry.isBusy(now)
}

// isBusy reports whether the agent is present and reported that it works. The caller holds the lock.
func (entry *agentEntry) isBusy(now time.Time) bool { return entry.working && entry.present(now) }

// Left notes that an agent reported its end.
func (a *Attendance) Left(agent string, now time.Time) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	entry := a.Of(agent)
	if entry.working = false; entry.Until.After(now) {
		entry.Until = now
		Signal(a.Wake)
	}
}

// present reports whether the agent is present. The caller holds the lock.
func (entry *agentEntry) present(now time.Time) bool {
	return entry.Sessions > 0 || now.Before(entry.Until)
}

// StateOf reports whether an agent is present, and when it last called. The time is nil if the agent never called.
func (a *Attendance) StateOf(agent string, now time.Time) (present bool, last *time.Time) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	entry, known := a.agents[agent]
	if !known {
		return false, nil
	}
	lastSign := entry.LastSign
	if entry.Sessions > 0 {
		lastSign = now
	}
	return entry.present(now), &lastSign
}

// Attends reports whether an agent has an open session.
func (a *Attendance) Attends(agent string) bool {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	entry, known := a.agents[agent]
	return known && entry.Sessions > 0
}

// Forget removes the entry of an agent whose id another agent has taken.
func (a *Attendance) Forget(agent string) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	delete(a.agents, agent)
}

// Changes returns the agents whose presence or work differs from what was announced.
func (a *Attendance) Changes(now time.Time) (changed []string) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	for id, entry := range a.agents {
		if entry.present(now) != entry.announced || entry.isBusy(now) != entry.busy {
			changed = append(changed, id)
		}
	}
	return changed
}

// Silent reports whether an agent was announced as present, has no open session, and has not called for too long to be present by its
// calls alone, but for less than a limit.
func (a *Attendance) Silent(agent string, now time.Time, limit time.Duration) bool {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	entry, known := a.agents[agent]
	return known && entry.announced && !entry.busy && !entry.present(now) && now.Sub(entry.LastSign) < limit
}

// Announce notes what an event announced about an agent.
func (a *Attendance) Announce(agent string, announced Announced) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	entry := a.Of(agent)
	entry.announced, entry.busy = announced.Present, announced.Busy
}

// Announced is what an event says about the presence of an agent.
type Announced struct{ Present, Busy bool }

// LeaveGrace is how long an agent stays present after its last session ended. It is long enough to open another session, and
// shorter than the second within which others must see that the agent left.
const LeaveGrace = 750 * time.Millisecond
