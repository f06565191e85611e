package access

import (
	"context"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

const (
	SearchCost = 10              // reads
	turnTime   = 2 * time.Second // how long a short call waits for its turn
	turnQueue  = 64              // short calls of one participant that wait for their turn
)

// slots are places for calls under way. nil: without limit.
type slots chan struct{}

func newSlots(n int) slots {
	if n < 0 {
		return nil
	}
	return make(slots, n)
}

func (s slots) leave() {
	if s != nil {
		<-s
	}
}

// enter takes a place, and waits for one if it may.
func (s slots) enter(ctx context.Context, wait <-chan time.Time) bool {
	if s == nil {
		return true
	}
	select {
	case s <- struct{}{}:
		return true
	default:
	}
	if wait == nil {
		return false
	}
	select {
	case s <- struct{}{}:
		return true
	case <-wait:
	case <-ctx.Done():
	}
	return false
}

// load counts what is under way. Its lock guards the map and each share's counts, never a wait.
type load struct {
	limits unit.Load
	reads  *limiter
	each   [unit.Works]int
	all    [unit.Works]slots

	mu sync.Mutex
	of map[string]*share // by participant, while it has anything under way
}

// share is what one participant has under way.
type share struct {
	slots  [unit.Works]slots
	users  int // calls that have or want a place
	queued int // of these, those that wait for their turn
}

func newLoad(limits unit.Load) *load {
	l := &load{
		limits: limits, reads: newLimiter(limits.Reads), of: map[string]*share{},
		each: [unit.Works]int{
			limits.Reading, limits.Searching, limits.Changing, limits.Waiting, limits.Streaming, limits.Uploading, limits.Sending,
		},
	}
	l.all[unit.Searching], l.all[unit.Waiting], l.all[unit.Streaming] = newSlots(limits.AllSearching), newSlots(limits.AllWaiting), newSlots(limits.AllStreaming)
	return l
}

// uncounted is a call that no bound holds for.
func uncounted(caller unit.Caller) unit.Underway {
	return unit.NewUnderway(caller.Counted(), func() {}, func() {})
}

// Count counts the part of a use case that reads or writes. A door whose calls last longer, because it sends answers or
// waits, begins them itself. What finds out who calls is a part of other calls.
func Count(ctx context.Context, s *Service, caller unit.Caller, do unit.Op) (unit.Underway, error) {
	if rule := do.Rule(); !caller.IsCounted && !caller.InProcess() && rule.Scope != "" {
		return s.Begin(ctx, caller, rule.Work)
	}
	return uncounted(caller), nil
}

// Begin counts a call against what its caller may have under way, until its End. Short calls wait a moment for their turn.
// Owners, bridges and the hub itself are exempt, which is looked up only when a bound is reached. E002 if the caller has
// too much under way, or reads too often, or all callers together have too much.
func (s *Service) Begin(ctx context.Context, caller unit.Caller, work unit.Work) (unit.Underway, error) {
	if caller.Agent == parley.System || caller.Source == "file" || caller.By != "" {
		return uncounted(caller), nil
	}
	begun, err := s.begin(ctx, caller, work)
	begun.Caller = caller.Counted()
	return begun, err
}

func (h *Service) begin(ctx context.Context, caller unit.Caller, work unit.Work) (unit.Underway, error) {
	if err := LimitReads(ctx, h, caller, work); err != nil {
		return unit.Underway{}, err
	}
	key := caller.Key()
	s := h.load.join(key)
	if begun, refused := h.load.enter(ctx, key, s, work, nil); !refused {
		return begun, nil
	}
	if exempt, err := isExempt(ctx, h.Core, caller); err != nil || exempt {
		h.load.drop(key, s)
		return uncounted(caller), err
	}
	var turn <-chan time.Time
	if work.Brief() && h.load.queue(s, 1) {
		defer h.load.queue(s, -1)
		timer := time.NewTimer(turnTime)
		defer timer.Stop()
		turn = timer.C
	}
	begun, refused := h.load.enter(ctx, key, s, work, turn)
	if !refused {
		return begun, nil
	}
	h.load.drop(key, s)
	return unit.Underway{}, h.load.exceeded(key, s, work)
}

// isExempt says whether a caller is an owner.
func isExempt(ctx context.Context, core *unit.Core, caller unit.Caller) (exempt bool, err error) {
	err = core.View(ctx, caller, unit.OpIdentify, func(u *unit.Unit) error {
		exempt = u.SeesAll()
		return nil
	})
	return exempt, err
}

// LimitReads counts a read against the caller's rate of reads. Changes are counted where they are made.
func LimitReads(ctx context.Context, s *Service, caller unit.Caller, work unit.Work) error {
	cost := 1
	switch work {
	case unit.Searching:
		cost = SearchCost
	case unit.Changing, unit.Uploading:
		return nil
	}
	wait := s.load.reads.takeSome(caller.Key(), s.Clock.Now(), cost)
	if wait == 0 {
		return nil
	}
	if exempt, err := isExempt(ctx, s.Core, caller); err != nil || exempt {
		return err
	}
	return parley.Errorf(parley.Unavailable, "%s has read more than %g times a second", caller.Agent, s.load.limits.Reads.PerSecond).
		Because(parley.RateLimited).Retryable(wait).Suggest("try again in %s; a search counts as %d reads", wait.Round(time.Millisecond), SearchCost)
}

// join finds the share of a participant, and keeps it until drop.
func (l *load) join(key string) *share {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.of[key]
	if s == nil {
		s = &share{}
		for work := range unit.Works {
			s.slots[work] = newSlots(l.each[work])
		}
		l.of[key] = s
	}
	s.users++
	return s
}

func (l *load) drop(key string, s *share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.users--; s.users == 0 {
		delete(l.of, key)
	}
}

// queue counts a call that begins or ends to wait for its turn, and says whether it may.
func (l *load) queue(s *share, n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.queued+n > turnQueue {
		return false
	}
	s.queued += n
	return true
}

// enter takes the places a call needs: one of its participant, and one of all.
func (l *load) enter(ctx context.Context, key string, s *share, work unit.Work, wait <-chan time.Time) (begun unit.Underway, refused bool) {
	if !s.slots[work].enter(ctx, wait) {
		return begun, true
	}
	if !l.all[work].enter(ctx, wait) {
		s.slots[work].leave()
		return begun, true
	}
	found := sync.OnceFunc(l.all[work].leave)
	return unit.NewUnderway(unit.Caller{}, found, sync.OnceFunc(func() {
		found()
		s.slots[work].leave()
		l.drop(key, s)
	})), false
}

const retryBusy = time.Second // after which it is worth asking again

func (l *load) exceeded(who string, s *share, work unit.Work) error {
	if own := s.slots[work]; own != nil && len(own) == cap(own) {
		return parley.Errorf(parley.Unavailable, "%s has %d %s under way, which is the most it may have", who, cap(own), unit.WorkNames[work]).
			Because(parley.RateLimited).Retryable(retryBusy).Suggest("end one of them first; an owner can raise %s in config.yaml", unit.WorkKeys[work])
	}
	return parley.Errorf(parley.Unavailable, "this hub has %d %s under way, which is the most it takes", cap(l.all[work]), unit.WorkNames[work]).
		Retryable(retryBusy).Suggest("try again in a moment")
}

// Underway is how many calls of one sort a participant has under way.
func (s *Service) Underway(agent string, work unit.Work) int {
	s.load.mu.Lock()
	defer s.load.mu.Unlock()
	if share := s.load.of[parley.Fold(agent)]; share != nil {
		return len(share.slots[work])
	}
	return 0
}

// Queued is how many short calls of a participant wait for their turn.
func (s *Service) Queued(agent string) int {
	s.load.mu.Lock()
	defer s.load.mu.Unlock()
	if share := s.load.of[parley.Fold(agent)]; share != nil {
		return share.queued
	}
	return 0
}

// Shares is how many participants have calls under way.
func (s *Service) Shares() int {
	s.load.mu.Lock()
	defer s.load.mu.Unlock()
	return len(s.load.of)
}
