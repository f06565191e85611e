package feed

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/local"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Subscription follows the log of events for one caller. Only one goroutine at a time may call Next and Close.
type Subscription struct {
	hub    *Service
	caller unit.Caller
	agent  string
	person bool // a person that calls for itself
	filter parley.EventFilter
	woken  chan struct{}
	leave  func() // ends the caller's session

	// The stream's lock guards the following fields.
	live         bool
	nudged       bool
	resets       int   // rises when the queue and what is known of the caller's rights become invalid
	returnedUpTo int64 // Next has returned the caller's events up to here
	queuedUpTo   int64 // the queue has the caller's events up to here
	queue        []*parley.Event
}

// Subscribe follows the events after a number that a filter selects and the caller may see. The caller is present until it closes the
// subscription, which it must do. Subscribe returns E003 if the log does not have this position.
func (s *Service) Subscribe(ctx context.Context, caller unit.Caller, after int64, filter parley.EventFilter) (*Subscription, error) {
	sub, attends, err := s.observe(ctx, caller, after, filter)
	if err == nil && attends {
		sub.leave = s.presence.Attend(sub.agent)
	}
	return sub, err
}

// Observe is Subscribe for a part of the hub that follows the events for the caller, which may have left. It does not make the caller
// present.
func (s *Service) Observe(ctx context.Context, caller unit.Caller, after int64, filter parley.EventFilter) (*Subscription, error) {
	sub, _, err := s.observe(ctx, caller, after, filter)
	return sub, err
}

// observe returns a subscription, and whether the caller is an agent that calls for itself.
func (s *Service) observe(ctx context.Context, caller unit.Caller, after int64, filter parley.EventFilter) (_ *Subscription, attends bool, err error) {
	sub := &Subscription{hub: s, caller: caller, filter: filter, woken: make(chan struct{}, 1), returnedUpTo: after, leave: func() {}}
	if err := filter.Check(); err != nil {
		return nil, false, err
	}
	err = s.View(ctx, caller, unit.OpFollowEvents, func(u *unit.Unit) error {
		sub.agent, attends = u.Me.ID, presence.IsPresentCaller(u, caller)
		sub.person = u.Me.Kind == parley.KindHuman && caller.By == ""
		if filter.Conversation != "" {
			p, err := conversations.Conversation(u, filter.Conversation)
			if err != nil {
				return err
			}
			sub.filter.Conversation = p.ID
		}
		oldest, newest, err := u.Log().Bounds()
		if err != nil {
			return err
		}
		return checkLogReaches(after, oldest, newest)
	})
	if err != nil {
		return nil, false, err
	}
	s.stream.add(sub)
	return sub, attends, nil
}

func (st *stream) add(s *Subscription) {
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.open[s.agent] == nil {
		st.open[s.agent] = subscribers{}
	}
	st.open[s.agent][s] = struct{}{}
}

// Close ends a subscription.
func (s *Subscription) Close() {
	s.leave()
	st := s.hub.stream
	st.mu.Lock()
	defer st.mu.Unlock()
	st.fallBehind(s)
	delete(st.open[s.agent], s)
	if len(st.open[s.agent]) == 0 {
		delete(st.open, s.agent)
	}
}

// Next waits for events. It returns them in order, with the number up to which the caller has all its events: a new
// subscription after that number continues without a gap or a repeated event. Next returns only events that the caller may see
// at that moment. The list is empty only after Nudge.
//
// An error ends the subscription: E001 if the caller is no longer a participant, E003 if the caller was so slow that the log no
// longer reaches back to its position.
func (s *Subscription) Next(ctx context.Context) (list []parley.Event, upTo int64, err error) {
	for {
		list, upTo, next := s.take()
		switch next {
		case readQueue:
			return list, upTo, nil
		case readStore:
			list, upTo, found, err := s.readStore(ctx)
			if err != nil || found {
				return list, upTo, err
			}
		case readLater:
			select {
			case <-s.woken:
			case <-ctx.Done():
				return nil, upTo, s.hub.Explain(ctx, s.caller, ctx.Err())
			}
		}
	}
}

// Nudge makes the present or the next call of Next return soon, even without events. Every goroutine may call it at any time.
func (s *Subscription) Nudge() {
	s.hub.stream.mu.Lock()
	defer s.hub.stream.mu.Unlock()
	s.nudged = true
	local.Signal(s.woken)
}

// source is where Next gets the next events.
type source int

const (
	readQueue source = iota
	readStore
	readLater
)

// take takes the next events from the queue.
func (s *Subscription) take() (list []parley.Event, upTo int64, from source) {
	st := s.hub.stream
	st.mu.Lock()
	defer st.mu.Unlock()
	for n, e := range s.queue {
		if n == streamBatch {
			break
		}
		list = append(list, *e)
	}
	switch s.queue = s.queue[len(list):]; {
	case len(s.queue) > 0:
		s.returnedUpTo = list[len(list)-1].Num
	default:
		if s.queue = nil; s.live {
			s.returnedUpTo = max(s.returnedUpTo, st.last)
		}
	}
	switch {
	case !s.live:
		return nil, s.returnedUpTo, readStore
	case s.returns(list):
		return list, s.returnedUpTo, readQueue
	default:
		return nil, s.returnedUpTo, readLater
	}
}

// returns reports whether Next has a reason to return, and clears the nudge. The stream's lock is held.
func (s *Subscription) returns(list []parley.Event) bool {
	nudged := s.nudged
	s.nudged = false
	return nudged || len(list) > 0
}

// logPage is a part of the log as one caller sees it.
type logPage struct {
	events   []parley.Event
	upTo     int64
	complete bool // no event comes after it
	seesAll  bool
}

// readStore reads a page, and makes the subscription live if no event comes after it. found reports whether Next must return.
func (s *Subscription) readStore(ctx context.Context) (list []parley.Event, upTo int64, found bool, err error) {
	st := s.hub.stream
	st.mu.Lock()
	after, doubts := s.returnedUpTo, s.resets
	st.mu.Unlock()
	var p logPage
	err = s.hub.View(ctx, s.caller, unit.OpFollowEvents, func(u *unit.Unit) (err error) {
		p, err = readLogPage(u, after, s.filter)
		return err
	})
	if err != nil {
		return nil, after, false, err
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	s.returnedUpTo = p.upTo
	if p.complete && s.resets == doubts {
		st.makeLive(s, p.seesAll)
	}
	return p.events, p.upTo, s.returns(p.events), nil
}

func readLogPage(u *unit.Unit, after int64, filter parley.EventFilter) (p logPage, err error) {
	oldest, newest, err := u.Log().Bounds()
	if err != nil {
		return p, err
	}
	if err := checkLogReaches(after, oldest, newest); err != nil {
		return p, err
	}
	list, err := u.Log().Events(after, behindPage)
	if err != nil {
		return p, err
	}
	p = logPage{upTo: newest, complete: true, seesAll: u.SeesAll()}
	if len(list) == behindPage {
		p.upTo, p.complete = list[behindPage-1].Num, false
	}
	readable := map[string]bool{}
	for _, e := range list {
		see := filter.Selects(e)
		if see {
			see, err = MaySee(u, e, readable)
		}
		if err != nil {
			return p, err
		}
		if see {
			p.events = append(p.events, e)
		}
	}
	return p, nil
}
