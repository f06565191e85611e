package feed

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/local"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// Subscription follows the log of events for one caller. Next and Close are for one goroutine at a time.
type Subscription struct {
	hub    *Service
	caller unit.Caller
	agent  string
	person bool // calls for itself
	filter parley.EventFilter
	woken  chan struct{}
	leave  func() // its session is over

	// Guarded by the lock of the hub's stream.
	live         bool
	nudged       bool
	resets       int   // rises whenever what is known of its rights, or is in its queue, holds no more
	returnedUpTo int64 // what is for the caller up to here was returned by Next
	queuedUpTo   int64 // and up to here it is in the queue
	queue        []*parley.Event
}

// Subscribe follows the events after a number that a filter selects and the caller may see. It must be
// closed. E003 if the log does not reach back, or forward, that far.
func (h *Service) Subscribe(ctx context.Context, caller unit.Caller, after int64, filter parley.EventFilter) (*Subscription, error) {
	s := &Subscription{hub: h, caller: caller, filter: filter, woken: make(chan struct{}, 1), returnedUpTo: after, leave: func() {}}
	attends := false
	if err := filter.Check(); err != nil {
		return nil, err
	}
	err := h.View(ctx, caller, unit.OpFollowEvents, func(u *unit.Unit) error {
		s.agent, attends = u.Me.ID, presence.Attends(u, caller)
		s.person = u.Me.Kind == parley.KindHuman && caller.By == ""
		if filter.Conversation != "" {
			p, err := conversations.Conversation(u, filter.Conversation)
			if err != nil {
				return err
			}
			s.filter.Conversation = p.ID
		}
		oldest, newest, err := u.Log().Bounds()
		if err != nil {
			return err
		}
		return checkLogReaches(after, oldest, newest)
	})
	if err != nil {
		return nil, err
	}
	if attends {
		s.leave = h.presence.Attend(s.agent)
	}
	h.stream.add(s)
	return s, nil
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

// Next waits for events and returns them in their order, with the number up to which nothing is missing
// any more: whoever subscribes again after it goes on without gap or repeat. What is returned is what the
// caller may see at that moment. The list is empty only after Nudge.
//
// An error ends the subscription: E001 if the caller is no participant any more, E003 if the caller was so
// slow that the log does not reach back to it.
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

// Nudge makes Next return soon, now or the next time, though there may be nothing to return. It may be
// called at any time, by anybody.
func (s *Subscription) Nudge() {
	s.hub.stream.mu.Lock()
	defer s.hub.stream.mu.Unlock()
	s.nudged = true
	local.Signal(s.woken)
}

// source is where the next events come from.
type source int

const (
	readQueue source = iota
	readStore
	readLater
)

// take takes what is next in the queue.
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

// returns says whether Next has a reason to return, and forgets that it was nudged. The stream's lock is
// held.
func (s *Subscription) returns(list []parley.Event) bool {
	nudged := s.nudged
	s.nudged = false
	return nudged || len(list) > 0
}

// logPage is a piece of the log as one caller sees it.
type logPage struct {
	events   []parley.Event
	upTo     int64
	complete bool // there is nothing after it
	seesAll  bool
}

// readStore reads a page, and makes the subscription live if there is nothing after it. It says whether
// Next returns with it.
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
