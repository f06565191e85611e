package local

import (
	"sync"
	"time"

	"github.com/parley-hub/parley"
)

// Attendance is which agents are there, as far as this process knows: those that have called lately, and
// those that have a session open. Only coming and going is written down, not every call.
type Attendance struct {
	Mu     sync.Mutex
	agents map[string]*attendant
	Wake   chan struct{} // somebody has come, or left a while ago
}

type attendant struct {
	Heard     time.Time
	Until     time.Time // as long as it is silent, it counts as there
	Sessions  int
	working   bool // it says so itself, as long as it is there
	announced bool // whoever follows the events knows that it is there
	busy      bool // and that it works
}

func NewAttendance() *Attendance {
	return &Attendance{agents: map[string]*attendant{}, Wake: make(chan struct{}, 1)}
}

func (a *Attendance) Of(agent string) *attendant {
	one, known := a.agents[agent]
	if !known {
		one = &attendant{}
		a.agents[agent] = one
	}
	return one
}

// Heard notes a call that an agent has made itself.
func (a *Attendance) Heard(agent string, now time.Time) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	a.Note(a.Of(agent), now)
}

// Glimpsed is heard for an agent that the hub runs: it need not call to be there.
func (a *Attendance) Glimpsed(agent string, now time.Time) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	a.Of(agent).Heard = now
}

// Note is heard for one that is known. a.mu is held.
func (a *Attendance) Note(one *attendant, now time.Time) {
	one.Heard, one.Until = now, now.Add(parley.AwayAfter)
	if !one.announced {
		Signal(a.Wake)
	}
}

// HeardFor notes a sign of an agent, after which it counts as there for a while. An older sign than is known says nothing.
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

// Works notes whether an agent says that it works.
func (a *Attendance) Works(agent string, working bool) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	one := a.Of(agent)
	if one.working = working; one.working != one.busy {
		Signal(a.Wake)
	}
}

// Busy says whether an agent is there and says that it works.
func (a *Attendance) Busy(agent string, now time.Time) bool {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	one, known := a.agents[agent]
	return known && one.isBusy(now)
}

// isBusy says so of one that is known. The lock of the attendance is held.
func (one *attendant) isBusy(now time.Time) bool { return one.working && one.there(now) }

// Left notes that an agent has said it is gone.
func (a *Attendance) Left(agent string, now time.Time) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	one := a.Of(agent)
	if one.working = false; one.Until.After(now) {
		one.Until = now
		Signal(a.Wake)
	}
}

// there says whether an agent is there. The lock of the attendance is held.
func (one *attendant) there(now time.Time) bool {
	return one.Sessions > 0 || now.Before(one.Until)
}

// Look is whether an agent is there, and when it was last heard of, if it was.
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
	return one.there(now), &heard
}

// Attends says whether an agent has a session open.
func (a *Attendance) Attends(agent string) bool {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	one, known := a.agents[agent]
	return known && one.Sessions > 0
}

// Forget drops what is known of an agent whose id another has taken.
func (a *Attendance) Forget(agent string) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	delete(a.agents, agent)
}

// Changes are those who have come or gone since it was announced.
func (a *Attendance) Changes(now time.Time) (changed []string) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	for id, one := range a.agents {
		if one.there(now) != one.announced || one.isBusy(now) != one.busy {
			changed = append(changed, id)
		}
	}
	return changed
}

// Announce notes what was announced of an agent.
func (a *Attendance) Announce(agent string, was Announced) {
	a.Mu.Lock()
	defer a.Mu.Unlock()
	one := a.Of(agent)
	one.announced, one.busy = was.There, was.Busy
}

// Announced is what those who follow the events are told of an agent.
type Announced struct{ There, Busy bool }

// LeaveGrace is how long an agent still counts as there when its last session has ended: enough to open
// another, and less than the second within which others must know.
const LeaveGrace = 750 * time.Millisecond
