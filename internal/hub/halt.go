package hub

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/parley-hub/parley"
)

// halts knows when something is next due for agents that are paused, stopped or asleep, so that nobody
// looks at all of them all the time.
type halts struct {
	mu  sync.Mutex
	due time.Time // 0: look at once
}

// never is when nothing is due.
var never = time.Unix(1<<40, 0)

// expect notes moments at which something will be due.
func (o *halts) expect(moments []time.Time) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, t := range moments {
		if t.Before(o.due) {
			o.due = t
		}
	}
}

// begin says whether it is time to look, and notes that somebody does.
func (o *halts) begin(now time.Time) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if now.Before(o.due) {
		return false
	}
	o.due = never
	return true
}

// lookAgain makes the next sweep look: another process on the same database may have halted somebody.
func (h *Hub) lookAgain(_ context.Context) error {
	h.halts.expect([]time.Time{{}})
	return nil
}

// SweepHalts ends the pauses and the sleep whose time has come, and cancels what agents that were stopped are
// still at.
func (h *Hub) SweepHalts(ctx context.Context) error {
	if !h.halts.begin(h.now()) {
		return nil
	}
	due, next, err := h.dueHalts(ctx)
	if err == nil && len(due) > 0 {
		err = h.write(ctx, theHub, opItself, func(s *scene) (err error) {
			for _, id := range due {
				err = errors.Join(err, s.endHalts(id))
			}
			return err
		})
	}
	if err != nil {
		next = append(next, time.Time{}) // again
	}
	h.halts.expect(next)
	return err
}

// dueHalts are the agents for which something is due, and when it will be for others.
func (h *Hub) dueHalts(ctx context.Context) (due []string, next []time.Time, err error) {
	err = h.view(ctx, theHub, opItself, func(s *scene) error {
		list, err := s.Agents().List()
		if err != nil {
			return err
		}
		busy, err := s.Runs().Counts()
		for _, a := range list {
			now := false
			for _, t := range ends(a, busy[a.ID] > 0) {
				if t.After(s.now) {
					next = append(next, t)
				} else {
					now = true
				}
			}
			if now {
				due = append(due, a.ID)
			}
		}
		return err
	})
	return due, next, err
}

// ends are the moments at which something is due for an agent.
func ends(a parley.Agent, busy bool) (moments []time.Time) {
	if a.RemovedAt != nil {
		return nil
	}
	if a.Paused != nil && a.Paused.Until != nil {
		moments = append(moments, *a.Paused.Until)
	}
	if a.SleepingUntil != nil {
		moments = append(moments, *a.SleepingUntil)
	}
	if a.Stopped != nil && a.Stopped.Until != nil && busy {
		moments = append(moments, *a.Stopped.Until)
	}
	return moments
}

// endHalts does what is due for one agent.
func (s *scene) endHalts(id string) error {
	a, err := s.Agents().Find(id)
	if err != nil || a.RemovedAt != nil {
		return err
	}
	if a.Stopped != nil && a.Stopped.Until != nil && !a.Stopped.Until.After(s.now) {
		if err := s.cancelAll(a, *a.Stopped); err != nil {
			return err
		}
	}
	before := a
	if a.Paused != nil && !a.Paused.Holds(s.now) {
		a.Paused = nil
	}
	if a.SleepingUntil != nil && !a.Asleep(s.now) {
		a.SleepingUntil = nil
	}
	if a.Paused == before.Paused && a.SleepingUntil == before.SleepingUntil {
		return nil
	}
	return s.changeHalt(a)
}

// stopOf is what the reason begins with for which a stop cancels runs. That of a person begins with "by".
func stopOf(agent string) string { return agent + " was stopped" }

// cancelAll ends the runs of an agent that was stopped.
func (s *scene) cancelAll(a parley.Agent, why parley.Halt) error {
	runs, err := s.Runs().Live(a.ID)
	reason := stopOf(a.ID)
	if why.Reason != "" {
		reason += ": " + why.Reason
	}
	for i := range runs {
		if err == nil && runs[i].Cancel == "" {
			err = s.cancel(&runs[i], reason)
		}
	}
	return err
}

// changeHalt writes what has become of an agent, tells those who follow, and whoever starts its runs.
func (s *scene) changeHalt(a parley.Agent) error {
	a.UpdatedAt = s.now
	if err := s.Agents().Update(a); err != nil {
		return err
	}
	s.haltUntil(ends(a, true)...)
	s.wake(a.ID)
	s.note(parley.Event{Kind: parley.EventAgentChanged, Agent: a.ID})
	_, err := s.notePresence(a.ID)
	return err
}

// mayStart says whether a run of an agent may start now, and else why not. For an ask mayAnswer says it.
func (s *scene) mayStart(a parley.Agent) (why string, ok bool, err error) {
	if a.Asleep(s.now) && a.RemovedAt == nil && !a.Halted(s.now) {
		return "sleeping", false, nil
	}
	return s.mayAnswer(a)
}

// mayAnswer says whether a run of an agent may start now that answers an ask, and else why not. Sleep does not hold
// it up.
func (s *scene) mayAnswer(a parley.Agent) (why string, ok bool, err error) {
	switch {
	case a.RemovedAt != nil:
		return "removed", false, nil
	case a.Stopped != nil:
		return "stopped", false, nil
	case a.Paused.Holds(s.now):
		return "paused", false, nil
	}
	why, err = s.overspent(a)
	return why, why == "" && err == nil, err
}
