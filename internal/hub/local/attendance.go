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
	Heard     time.Time
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
	one, known := a.agents[agent]
	if !known {
		one = &agentEntry{}
		a.agents[agent] = one
	}
	return one
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
	a.Of(agent).Heard = now
}

// Note does what Heard does for an entry that was found. The caller holds a.Mu.
func (a *Attendance) Note(one *agentEntry, now time.Time) {
	one.Heard, one.Until = now, now.Add(parley.AwayAfter)
	if !one.announced {
		Signal(a.Wake)
	}
}

// HeardFor notes a sign of an agent at a time, after which the agent is present for a while. It ignores a sign whose time
// ends before the known one.
func (a *Attendance) HeardFor(agent string, at time.Time, length time.Duration) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	one := a.Of(agent)
	if until := at.Add(length); until.After(one.Until) {
		one.Heard, one.Until = at, until
	}
	if !one.announced {
		Signal(a.Wake)
	}
}

// Works notes whether an agent reports that it works.
func (a *Attendance) Works(agent string, working bool) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	one := a.Of(agent)
	if one.working = working; one.working != one.busy {
		Signal(a.Wake)
	}
}

// Busy reports whether an agent is present and reported that it works.
func (a *Attendance) Busy(agent string, now time.Time) bool {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	one, known := a.agents[agent]
	return known && one.isBusy(now)
}

// isBusy reports whether the agent is present and reported that it works. The caller holds the lock.
func (one *agentEntry) isBusy(now time.Time) bool { return one.working && one.present(now) }

// Left notes that an agent reported its end.
func (a *Attendance) Left(agent string, now time.Time) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	one := a.Of(agent)
	if one.working = false; one.Until.After(now) {
		one.Until = now
		Signal(a.Wake)
	}
}

// present reports whether the agent is present. The caller holds the lock.
func (one *agentEntry) present(now time.Time) bool {
	return one.Sessions > 0 || now.Before(one.Until)
}

// Look reports whether an agent is present, and when it last called. The time is nil if the agent never called.
func (a *Attendance) Look(agent string, now time.Time) (there bool, last *time.Time) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	one, known := a.agents[agent]
	if !known {
		return false, nil
	}
	heard := one.Heard
	if one.Sessions > 0 {
		heard = now
	}
	return one.present(now), &heard
}

// Attends reports whether an agent has an open session.
func (a *Attendance) Attends(agent string) bool {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	one, known := a.agents[agent]
	return known && one.Sessions > 0
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
	for id, one := range a.agents {
		if one.present(now) != one.announced || one.isBusy(now) != one.busy {
			changed = append(changed, id)
		}
	}
	return changed
}

// Announce notes what an event announced about an agent.
func (a *Attendance) Announce(agent string, was Announced) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	one := a.Of(agent)
	one.announced, one.busy = was.There, was.Busy
}

// Announced is what an event says about the presence of an agent.
type Announced struct{ There, Busy bool }

// LeaveGrace is how long an agent stays present after its last session ended. It is long enough to open another session, and
// shorter than the second within which others must see that the agent left.
const LeaveGrace = 750 * time.Millisecond
