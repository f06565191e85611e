package hub

import (
	"context"
	"sync"
	"time"

	"github.com/parley-hub/parley"
)

// Load bounds what one participant may have under way at once, and how often it may read. The zero value of a
// field means its default; a number below zero means no limit.
type Load struct {
	Reads     Rate // reads a second; a search counts as searchCost of them
	Reading   int  // calls that read
	Searching int  // searches and other reads that look at much
	Changing  int  // calls that change something
	Waiting   int  // calls that wait for something to come
	Streaming int  // streams of events
	Uploading int  // artifacts on their way in
	Sending   int  // artifacts and exports on their way out

	AllSearching int // of all participants together
	AllWaiting   int
	AllStreaming int

	Stored int64 // bytes of the artifacts that one agent has stored
}

// DefaultLoad are the bounds of a hub that configures none.
func DefaultLoad() Load {
	return Load{
		Reads:   Rate{PerSecond: 100, Burst: 400},
		Reading: 8, Searching: 2, Changing: 16, Waiting: 64, Streaming: 32, Uploading: 4, Sending: 8,
		AllSearching: 4, AllWaiting: 2048, AllStreaming: 2048,
		Stored: 1 << 30,
	}
}

func (l Load) withDefaults() Load {
	d := DefaultLoad()
	for _, one := range []struct{ given, otherwise *int }{
		{&l.Reading, &d.Reading},
		{&l.Searching, &d.Searching},
		{&l.Changing, &d.Changing},
		{&l.Waiting, &d.Waiting},
		{&l.Streaming, &d.Streaming},
		{&l.Uploading, &d.Uploading},
		{&l.Sending, &d.Sending},
		{&l.AllSearching, &d.AllSearching},
		{&l.AllWaiting, &d.AllWaiting},
		{&l.AllStreaming, &d.AllStreaming},
	} {
		setDefault(one.given, *one.otherwise)
	}
	setDefault(&l.Stored, d.Stored)
	if l.Reads == (Rate{}) {
		l.Reads = d.Reads
	}
	return l
}

// Work is a sort of call, by what it costs the hub while it is under way.
type Work int

// The sorts of calls.
const (
	Reading Work = iota
	Searching
	Changing
	Waiting
	Streaming
	Uploading
	Sending
	works // how many there are
)

// workOf says what an operation counts as, where its row in the table does not: what reads is Reading, what changes
// something is Changing.
var workOf = map[op]Work{
	opSearch: Searching, opReadTrace: Searching, opReadThread: Searching, opListTasks: Searching, opListAsks: Searching,
	opReadTree: Searching, opVerifyAudit: Searching,
	opFollowEvents: Streaming, opReadLog: Streaming,
	opStoreArtifact: Uploading, opImportHub: Uploading,
	opFetchArtifact: Sending, opExportConversation: Sending, opExportHub: Sending, opReadOutput: Sending,
}

func (o op) work() Work {
	if work, ok := workOf[o]; ok {
		return work
	}
	if operations[o].Changes {
		return Changing
	}
	return Reading
}

// workNames say what a participant has too many of.
var workNames = [works]string{
	"calls that read", "searches", "changes", "waiting calls", "event streams", "uploads", "downloads",
}

// workKeys are the settings that raise the bounds.
var workKeys = [works]string{
	"calls.reads", "calls.searches", "calls.changes", "calls.waits", "calls.streams", "calls.uploads", "calls.downloads",
}

const (
	searchCost = 10              // reads
	turnTime   = 2 * time.Second // how long a short call waits for its turn
	turnQueue  = 64              // short calls of one participant that wait for their turn
)

// brief reports whether a call is so short that the next call of its participant can wait for it.
func (w Work) brief() bool { return w == Reading || w == Searching || w == Changing }

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
	limits Load
	reads  *limiter
	each   [works]int
	all    [works]slots

	mu sync.Mutex
	of map[string]*share // by participant, while it has anything under way
}

// share is what one participant has under way.
type share struct {
	slots  [works]slots
	users  int // calls that have or want a place
	queued int // of these, those that wait for their turn
}

func newLoad(limits Load) *load {
	l := &load{
		limits: limits, reads: newLimiter(limits.Reads), of: map[string]*share{},
		each: [works]int{
			limits.Reading, limits.Searching, limits.Changing, limits.Waiting, limits.Streaming, limits.Uploading, limits.Sending,
		},
	}
	l.all[Searching], l.all[Waiting], l.all[Streaming] = newSlots(limits.AllSearching), newSlots(limits.AllWaiting), newSlots(limits.AllStreaming)
	return l
}

// Underway is a call that is counted.
type Underway struct {
	Caller     Caller // whose use cases are part of the call, and are not counted once more
	found, end func()
}

func newUnderway(caller Caller, found, end func()) Underway {
	return Underway{Caller: caller, found: found, end: end}
}

// Found says that the hub has done its work and only the answer is left to send. From here on the call holds a slot only of
// its own participant, so a slow reader does not hold up others.
func (u Underway) Found() { u.found() }

// End says that the call is over, answer included.
func (u Underway) End() { u.end() }

// uncounted is a call that no bound holds for.
func uncounted(caller Caller) Underway { return newUnderway(caller.counted(), func() {}, func() {}) }

// counted is the caller of a call that is counted already.
func (c Caller) counted() Caller {
	c.underway = true
	return c
}

// count counts the part of a use case that reads or writes. A door whose calls last longer, because it sends answers or
// waits, begins them itself. What finds out who calls is a part of other calls.
func (h *Hub) count(ctx context.Context, caller Caller, do op) (Underway, error) {
	if rule := do.rule(); !caller.underway && !caller.inProcess() && rule.Scope != "" {
		return h.Begin(ctx, caller, rule.Work)
	}
	return uncounted(caller), nil
}

// Begin counts a call against what its caller may have under way, until its End. Short calls wait a moment for their turn.
// Owners, bridges and the hub itself are exempt, which is looked up only when a bound is reached. E002 if the caller has
// too much under way, or reads too often, or all callers together have too much.
func (h *Hub) Begin(ctx context.Context, caller Caller, work Work) (Underway, error) {
	if caller.Agent == parley.System || caller.Source == "file" || caller.By != "" {
		return uncounted(caller), nil
	}
	begun, err := h.begin(ctx, caller, work)
	begun.Caller = caller.counted()
	return begun, err
}

func (h *Hub) begin(ctx context.Context, caller Caller, work Work) (Underway, error) {
	if err := h.limitReads(ctx, caller, work); err != nil {
		return Underway{}, err
	}
	key := caller.key()
	s := h.load.join(key)
	if begun, refused := h.load.enter(ctx, key, s, work, nil); !refused {
		return begun, nil
	}
	if exempt, err := h.isExempt(ctx, caller); err != nil || exempt {
		h.load.drop(key, s)
		return uncounted(caller), err
	}
	var turn <-chan time.Time
	if work.brief() && h.load.queue(s, 1) {
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
	return Underway{}, h.load.exceeded(key, s, work)
}

// isExempt says whether a caller is an owner.
func (h *Hub) isExempt(ctx context.Context, caller Caller) (exempt bool, err error) {
	err = h.view(ctx, caller, opIdentify, func(s *scene) error {
		exempt = s.seesAll()
		return nil
	})
	return exempt, err
}

// limitReads counts a read against the caller's rate of reads. Changes are counted where they are made.
func (h *Hub) limitReads(ctx context.Context, caller Caller, work Work) error {
	cost := 1
	switch work {
	case Searching:
		cost = searchCost
	case Changing, Uploading:
		return nil
	}
	wait := h.load.reads.takeSome(caller.key(), h.clock.Now(), cost)
	if wait == 0 {
		return nil
	}
	if exempt, err := h.isExempt(ctx, caller); err != nil || exempt {
		return err
	}
	return parley.Errorf(parley.Unavailable, "%s has read more than %g times a second", caller.Agent, h.load.limits.Reads.PerSecond).
		Because(parley.RateLimited).Retryable(wait).Suggest("try again in %s; a search counts as %d reads", wait.Round(time.Millisecond), searchCost)
}

// join finds the share of a participant, and keeps it until drop.
func (l *load) join(key string) *share {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.of[key]
	if s == nil {
		s = &share{}
		for work := range works {
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
func (l *load) enter(ctx context.Context, key string, s *share, work Work, wait <-chan time.Time) (begun Underway, refused bool) {
	if !s.slots[work].enter(ctx, wait) {
		return begun, true
	}
	if !l.all[work].enter(ctx, wait) {
		s.slots[work].leave()
		return begun, true
	}
	found := sync.OnceFunc(l.all[work].leave)
	return newUnderway(Caller{}, found, sync.OnceFunc(func() {
		found()
		s.slots[work].leave()
		l.drop(key, s)
	})), false
}

const retryBusy = time.Second // after which it is worth asking again

func (l *load) exceeded(who string, s *share, work Work) error {
	if own := s.slots[work]; own != nil && len(own) == cap(own) {
		return parley.Errorf(parley.Unavailable, "%s has %d %s under way, which is the most it may have", who, cap(own), workNames[work]).
			Because(parley.RateLimited).Retryable(retryBusy).Suggest("end one of them first; an owner can raise %s in config.yaml", workKeys[work])
	}
	return parley.Errorf(parley.Unavailable, "this hub has %d %s under way, which is the most it takes", cap(l.all[work]), workNames[work]).
		Retryable(retryBusy).Suggest("try again in a moment")
}
