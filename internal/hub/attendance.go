package hub

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"github.com/parley-hub/parley"
)

// attendance is which agents are there, as far as this process knows: those that have called lately, and
// those that have a session open. Only coming and going is written down, not every call.
type attendance struct {
	mu     sync.Mutex
	agents map[string]*attendant
	wake   chan struct{} // somebody has come, or left a while ago
}

type attendant struct {
	heard     time.Time
	until     time.Time // as long as it is silent, it counts as there
	sessions  int
	working   bool // it says so itself, as long as it is there
	announced bool // whoever follows the events knows that it is there
	busy      bool // and that it works
}

func newAttendance() *attendance {
	return &attendance{agents: map[string]*attendant{}, wake: make(chan struct{}, 1)}
}

func (a *attendance) of(agent string) *attendant {
	one, known := a.agents[agent]
	if !known {
		one = &attendant{}
		a.agents[agent] = one
	}
	return one
}

// heard notes a call that an agent has made itself.
func (a *attendance) heard(agent string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.note(a.of(agent), now)
}

// glimpsed is heard for an agent that the hub runs: it need not call to be there.
func (a *attendance) glimpsed(agent string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.of(agent).heard = now
}

// note is heard for one that is known. a.mu is held.
func (a *attendance) note(one *attendant, now time.Time) {
	one.heard, one.until = now, now.Add(parley.AwayAfter)
	if !one.announced {
		signal(a.wake)
	}
}

// heardFor notes a sign of an agent, after which it counts as there for a while. An older sign than is known says nothing.
func (a *attendance) heardFor(agent string, at time.Time, length time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.of(agent)
	if until := at.Add(length); until.After(one.until) {
		one.heard, one.until = at, until
	}
	if !one.announced {
		signal(a.wake)
	}
}

// works notes whether an agent says that it works.
func (a *attendance) works(agent string, working bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.of(agent)
	if one.working = working; one.working != one.busy {
		signal(a.wake)
	}
}

// busy says whether an agent is there and says that it works.
func (a *attendance) busy(agent string, now time.Time) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, known := a.agents[agent]
	return known && one.isBusy(now)
}

// isBusy says so of one that is known. The lock of the attendance is held.
func (one *attendant) isBusy(now time.Time) bool { return one.working && one.there(now) }

// left notes that an agent has said it is gone.
func (a *attendance) left(agent string, now time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.of(agent)
	if one.working = false; one.until.After(now) {
		one.until = now
		signal(a.wake)
	}
}

// there says whether an agent is there. The lock of the attendance is held.
func (one *attendant) there(now time.Time) bool {
	return one.sessions > 0 || now.Before(one.until)
}

// look is whether an agent is there, and when it was last heard of, if it was.
func (a *attendance) look(agent string, now time.Time) (there bool, last *time.Time) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, known := a.agents[agent]
	if !known {
		return false, nil
	}
	heard := one.heard
	if one.sessions > 0 {
		heard = now
	}
	return one.there(now), &heard
}

// attends says whether an agent has a session open.
func (a *attendance) attends(agent string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	one, known := a.agents[agent]
	return known && one.sessions > 0
}

// forget drops what is known of an agent whose id another has taken.
func (a *attendance) forget(agent string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	delete(a.agents, agent)
}

// changes are those who have come or gone since it was announced.
func (a *attendance) changes(now time.Time) (changed []string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for id, one := range a.agents {
		if one.there(now) != one.announced || one.isBusy(now) != one.busy {
			changed = append(changed, id)
		}
	}
	return changed
}

// announce notes what was announced of an agent.
func (a *attendance) announce(agent string, was announced) {
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.of(agent)
	one.announced, one.busy = was.there, was.busy
}

// announced is what those who follow the events are told of an agent.
type announced struct{ there, busy bool }

// Attend counts an agent as there until leave is called, as one with an open session is. leave may be
// called again, to no effect.
func (h *Hub) Attend(agent string) (leave func()) {
	a := h.attendance
	a.mu.Lock()
	defer a.mu.Unlock()
	one := a.of(agent)
	one.sessions++
	a.note(one, h.now())
	return sync.OnceFunc(func() {
		a.mu.Lock()
		defer a.mu.Unlock()
		one.sessions--
		if one.heard = h.now(); one.sessions > 0 {
			return
		}
		one.until = one.heard.Add(leaveGrace)
		time.AfterFunc(leaveGrace, func() { signal(a.wake) })
	})
}

// leaveGrace is how long an agent still counts as there when its last session has ended: enough to open
// another, and less than the second within which others must know.
const leaveGrace = 750 * time.Millisecond

// attends says that the caller is an agent, and calls itself.
func (s *scene) attends(caller Caller) bool { return s.me.Kind == parley.KindAgent && caller.By == "" }

// heard notes that the caller was here.
func (s *scene) heard(caller Caller) {
	switch {
	case !s.attends(caller):
	case s.me.Dispatched():
		s.hub.attendance.glimpsed(s.me.ID, s.hub.now())
	default:
		s.hub.attendance.heard(s.me.ID, s.hub.now())
	}
}

// announceArrivals writes down at once who has come, or left.
func (h *Hub) announceArrivals(ctx context.Context, started func()) {
	started()
	for {
		select {
		case <-ctx.Done():
			return
		case <-h.attendance.wake:
			if err := h.SweepAttendance(ctx); err != nil && ctx.Err() == nil {
				h.config.Log.Error("who has come or left could not be written down, will try again", "error", err)
			}
		}
	}
}

// SweepAttendance writes an event for each agent that has come, or was silent for too long.
func (h *Hub) SweepAttendance(ctx context.Context) error {
	h.announcing.Lock()
	defer h.announcing.Unlock()
	changed := h.attendance.changes(h.now())
	if len(changed) == 0 {
		return nil
	}
	told := map[string]announced{}
	err := h.write(ctx, theHub, opItself, func(s *scene) error {
		for _, id := range changed {
			now, err := s.notePresence(id)
			if err != nil {
				return err
			}
			told[id] = announced{there: now, busy: h.attendance.busy(id, s.now)}
			if !now {
				err = s.wentAway(id)
			}
			if err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for id, now := range told {
		h.attendance.announce(id, now)
	}
	return nil
}

// notePresence writes the event and says whether the agent is there. Of one that was removed nobody is told.
func (s *scene) notePresence(id string) (there bool, err error) {
	there, _ = s.hub.attendance.look(id, s.now)
	a, err := s.Agents().Find(id)
	if errors.Is(err, parley.ErrNotFound) || err == nil && a.RemovedAt != nil {
		return there, nil
	}
	if err != nil {
		return there, err
	}
	live, err := s.Runs().Live(a.ID)
	if err != nil {
		return there, err
	}
	return there, s.notePresenceOf(a, len(live))
}

// notePresenceOf writes the event for an agent with so many live runs.
func (s *scene) notePresenceOf(a parley.Agent, live int) error {
	status, err := s.statusWith(a, live)
	if err != nil {
		return err
	}
	data, err := json.Marshal(struct {
		Status string `json:"status"`
		Reason string `json:"reason,omitempty"`
		Note   string `json:"note,omitempty"`
	}{status.Status, status.Reason, s.haltNote(a)})
	s.stir(a.ID)
	s.note(parley.Event{Kind: parley.EventAgentPresence, Agent: a.ID, Data: data})
	return err
}
