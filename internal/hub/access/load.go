package access

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// SearchCost is how many reads a search counts as.
const SearchCost = 10

const (
	turnTime  = 2 * time.Second // how long a short call waits for a free slot
	turnQueue = 64              // how many short calls of one participant may wait
)

// slots limits the calls under way. nil means no limit.
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

// enter takes a slot and reports whether it got one. If wait is not nil, it waits for a slot until wait or ctx ends.
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

// load counts the calls under way. Its lock guards the map and the counts of each share. Nothing waits while it holds the
// lock.
type load struct {
	limits unit.Load
	reads  *limiter
	each   [unit.CallKinds]int
	all    [unit.CallKinds]slots

	mu sync.Mutex
	of map[string]*share // by participant, while it has calls under way
}

// share is the calls of one participant that are under way.
type share struct {
	slots  [unit.CallKinds]slots
	users  int // calls that have or want a slot
	queued int // calls that wait for a slot
}

func newLoad(limits unit.Load) *load {
	l := &load{
		limits: limits, reads: newLimiter(limits.Reads), of: map[string]*share{},
		each: [unit.CallKinds]int{
			limits.Reading, limits.Searching, limits.Changing, limits.Waiting, limits.Streaming, limits.Uploading, limits.Sending,
		},
	}
	l.all[unit.Searching], l.all[unit.Waiting], l.all[unit.Streaming] = newSlots(limits.AllSearching), newSlots(limits.AllWaiting), newSlots(limits.AllStreaming)
	return l
}

// uncounted returns a call without limits.
func uncounted(caller unit.Caller) unit.Underway {
	return unit.NewUnderway(caller.Counted(), func() {}, func() {})
}

// Count counts the part of a use case that reads or writes. The HTTP API counts its own calls with Begin, because they last
// until the response is sent. Finding out the caller does not count.
func Count(ctx context.Context, s *Service, caller unit.Caller, do unit.Op) (unit.Underway, error) {
	if rule := do.Rule(); !caller.IsCounted && !caller.InProcess() && rule.Scope != "" {
		return s.Begin(ctx, caller, rule.Kind)
	}
	return uncounted(caller), nil
}

// Begin counts a call against what its caller may have under way, until its End. A short call waits a moment for a free
// slot. Owners, bridges and the hub itself have no limits; the hub looks that up only when a limit is reached. Begin returns
// E002 if the caller has too many calls under way or reads too often, or if all callers together have too many calls under
// way.
func (s *Service) Begin(ctx context.Context, caller unit.Caller, work unit.CallKind) (unit.Underway, error) {
	if caller.Agent == parley.System || caller.Source == "file" || caller.By != "" {
		return uncounted(caller), nil
	}
	begun, err := s.begin(ctx, caller, work)
	begun.Caller = caller.Counted()
	return begun, err
}

func (s *Service) begin(ctx context.Context, caller unit.Caller, work unit.CallKind) (unit.Underway, error) {
	if err := LimitReads(ctx, s, caller, work); err != nil {
		return unit.Underway{}, err
	}
	key := caller.Key()
	share := s.load.join(key)
	if begun, refused := s.load.enter(ctx, key, share, work, nil); !refused {
		return begun, nil
	}
	if exempt, err := isExempt(ctx, s.Core, caller); err != nil || exempt {
		s.load.drop(key, share)
		return uncounted(caller), err
	}
	var turn <-chan time.Time
	if work.Brief() && s.load.queue(share, 1) {
		defer s.load.queue(share, -1)
		timer := time.NewTimer(turnTime)
		defer timer.Stop()
		turn = timer.C
	}
	begun, refused := s.load.enter(ctx, key, share, work, turn)
	if !refused {
		return begun, nil
	}
	s.load.drop(key, share)
	return unit.Underway{}, s.load.exceeded(key, share, work)
}

// isExempt reports whether a caller is an owner.
func isExempt(ctx context.Context, core *unit.Core, caller unit.Caller) (exempt bool, err error) {
	err = core.View(ctx, caller, unit.OpIdentify, func(u *unit.Unit) error {
		exempt = u.SeesAll()
		return nil
	})
	return exempt, err
}

// LimitReads counts a read against the caller's rate of reads. Changes are counted by Limit.
func LimitReads(ctx context.Context, s *Service, caller unit.Caller, work unit.CallKind) error {
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
	return parley.Errorf(parley.Unavailable, "%s made more than %g reads per second", caller.Agent, s.load.limits.Reads.PerSecond).
		Because(parley.RateLimited).Retryable(wait).Suggest("try again in %s; a search counts as %d reads", wait.Round(time.Millisecond), SearchCost)
}

// join returns the share of a participant, which stays until drop.
func (l *load) join(key string) *share {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.of[key]
	if s == nil {
		s = &share{}
		for work := range unit.CallKinds {
			s.slots[work] = newSlots(l.each[work])
		}
		l.of[key] = s
	}
	s.users++
	return s
}

// drop ends the use of a share, and forgets a share without users.
func (l *load) drop(key string, s *share) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.users--; s.users == 0 {
		delete(l.of, key)
	}
}

// queue adds n to the calls that wait for a slot, and reports whether they may wait.
func (l *load) queue(s *share, n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if s.queued+n > turnQueue {
		return false
	}
	s.queued += n
	return true
}

// enter takes the slots of a call: one of its participant, and one of all participants.
func (l *load) enter(ctx context.Context, key string, s *share, work unit.CallKind, wait <-chan time.Time) (begun unit.Underway, refused bool) {
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

// retryBusy is how long a refused caller should wait before it tries again.
const retryBusy = time.Second

// exceeded returns the error for a call that found no slot.
func (l *load) exceeded(participant string, s *share, work unit.CallKind) error {
	if slots := s.slots[work]; slots != nil && len(slots) == cap(slots) {
		return parley.Errorf(parley.Unavailable, "%s has %d %s in progress, which is the limit", participant, cap(slots), unit.CallKindNames[work]).
			Because(parley.RateLimited).Retryable(retryBusy).Suggest("wait until one of them ends, or ask an owner to raise %s in config.yaml", unit.CallKindSettings[work])
	}
	return parley.Errorf(parley.Unavailable, "this hub has %d %s in progress, which is the limit", cap(l.all[work]), unit.CallKindNames[work]).
		Retryable(retryBusy).Suggest("try again in a moment")
}

// Underway returns how many calls of one kind a participant has under way.
func (s *Service) Underway(agent string, work unit.CallKind) int {
	s.load.mu.Lock()
	defer s.load.mu.Unlock()
	if share := s.load.of[parley.Fold(agent)]; share != nil {
		return len(share.slots[work])
	}
	return 0
}

// Queued returns how many short calls of a participant wait for a slot.
func (s *Service) Queued(agent string) int {
	s.load.mu.Lock()
	defer s.load.mu.Unlock()
	if share := s.load.of[parley.Fold(agent)]; share != nil {
		return share.queued
	}
	return 0
}

// Shares returns how many participants have calls under way.
func (s *Service) Shares() int {
	s.load.mu.Lock()
	defer s.load.mu.Unlock()
	return len(s.load.of)
}

// limiter limits a rate with one token bucket for each agent.
type limiter struct {
	rate    unit.Rate
	mu      sync.Mutex
	buckets map[string]*rate.Limiter
}

func newLimiter(r unit.Rate) *limiter {
	if r == (unit.Rate{}) {
		r = unit.Rate{PerSecond: 50, Burst: 200}
	}
	if r.Burst <= 0 {
		r.Burst = max(1, int(4*r.PerSecond))
	}
	return &limiter{rate: r, buckets: map[string]*rate.Limiter{}}
}

// take takes one token of an agent. If there is none, it returns how long until there is one.
func (l *limiter) take(agent string, now time.Time) (wait time.Duration) {
	return l.takeSome(agent, now, 1)
}

// takeSome takes n tokens of an agent at once, but at most a burst.
func (l *limiter) takeSome(agent string, now time.Time, n int) (wait time.Duration) {
	if l.rate.PerSecond <= 0 {
		return 0
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	bucket, ok := l.buckets[agent]
	if !ok {
		l.forgetFull(now)
		bucket = rate.NewLimiter(rate.Limit(l.rate.PerSecond), l.rate.Burst)
		l.buckets[agent] = bucket
	}
	r := bucket.ReserveN(now, min(n, l.rate.Burst))
	wait = r.DelayFrom(now)
	if wait > 0 {
		r.CancelAt(now)
	}
	return wait
}

// maxBuckets is how many buckets the limiter keeps before it forgets full ones.
const maxBuckets = 4096

// forgetFull forgets full buckets, because a new bucket is full too. The caller holds l.mu.
func (l *limiter) forgetFull(now time.Time) {
	if len(l.buckets) < maxBuckets {
		return
	}
	for agent, bucket := range l.buckets {
		if bucket.TokensAt(now) >= float64(l.rate.Burst) {
			delete(l.buckets, agent)
		}
	}
}

// Limit counts a change against its caller's rate. Owners, bridges and the hub itself have no limit; the hub looks that up
// only when the rate is exceeded.
func Limit(ctx context.Context, s *Service, caller unit.Caller) error {
	if caller.Agent == parley.System || caller.Source == "file" {
		return nil
	}
	wait := s.rate.take(caller.Key(), s.Clock.Now())
	if wait == 0 {
		return nil
	}
	return s.View(ctx, caller, unit.OpIdentify, func(u *unit.Unit) error {
		if u.SeesAll() {
			return nil
		}
		return s.rate.exceeded(u.Me.ID, wait)
	})
}

// exceeded returns the error for an agent that made too many changes.
func (l *limiter) exceeded(agent string, wait time.Duration) error {
	return parley.Errorf(parley.Unavailable, "%s made more than %g changes per second", agent, l.rate.PerSecond).
		Because(parley.RateLimited).Retryable(wait).Suggest("try again in %s", wait.Round(time.Millisecond))
}

// Limits of what one participant can create, so that a program in a loop does not fill the hub. Owners have no limits.
const (
	MaxConversations = 2000 // channels and groups of one creator that are not archived
	MaxCredentials   = 100  // usable tokens, sessions and sign-in links of one participant
)

// MayCreate returns E002 if the caller has too many conversations. Direct and ephemeral conversations do not count: each
// pair has only one direct conversation, and ephemeral ones end by themselves.
func MayCreate(u *unit.Unit, kind parley.ConversationKind) error {
	if u.SeesAll() || kind != parley.Channel && kind != parley.Group {
		return nil
	}
	made, err := u.Conversations().CountMade(u.Me.ID)
	if err == nil && made >= MaxConversations {
		err = parley.Errorf(parley.Unavailable, "%s has created %d conversations, which is the limit", u.Me.ID, made).
			Suggest("archive conversations that you no longer need: parley conv archive")
	}
	return err
}

// checkCredentialQuota returns E002 if a participant has too many credentials.
func checkCredentialQuota(u *unit.Unit, holder string) error {
	if u.SeesAll() {
		return nil
	}
	usable, err := u.Tokens().CountUsable(holder, u.Now)
	if err == nil && usable >= MaxCredentials {
		err = parley.Errorf(parley.Unavailable, "%s has %d credentials, which is the limit", holder, usable).
			Suggest("revoke tokens that nobody needs: parley token list, parley token revoke")
	}
	return err
}
