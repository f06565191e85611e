// Package feed holds streams and followers of events, cut to what the caller may see; what needs a person's attention.
//
// One reader follows the log while there are subscribers. For each batch it finds out, in one view, which participants may see
// each event. It puts the event into the queues of their subscribers and wakes only these.
//
// A subscriber is either live or behind. A subscriber that is behind reads the store itself, one page a view, until a view has
// shown it everything; then it is live. Its queue is bounded. When the queue is full, or when its participant may see less than
// before, the hub drops the queue and the subscriber is behind. So a slow reader holds up nobody and misses nothing. The rule on
// who may see an event stands in one place, events.go. One lock guards the queues; code that holds it calls nothing else.
//
// Queues hold pointers to events that all subscribers share, and a subscriber gets at most 32 events at once. So a stalled reader
// costs a few KiB, whatever its backlog.
package feed

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/local"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/reading"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// Service has the use cases of this package.
type Service struct {
	*unit.Core
	presence *presence.Service

	stream    *stream
	followers followers
}

// Background returns the loop that feeds all streams of events.
func Background(s *Service) []unit.Background { return []unit.Background{s.stream.run} }

// StepStream gives subscribers the events since the last step, and reports whether there may be more.
func StepStream(ctx context.Context, s *Service) (more bool) { return s.stream.step(ctx) }

// CountStreams returns how many streams of events are open.
func CountStreams(s *Service) int { return s.stream.subscriberCount() }

// FollowerLags returns how many events up to the newest each follower has not taken yet, by its name. A follower that has not begun
// is left out.
func FollowerLags(s *Service, newest int64) map[string]int64 { return s.followers.lags(newest) }

// AfterCommit returns the function that wakes streams and followers after a commit.
func AfterCommit(s *Service) func(*unit.Changes) {
	return func(c *unit.Changes) {
		s.stream.dropUnreadable(c.VisibilityReduced)
		s.stream.wakeUp()
		s.followers.wakeAll()
	}
}

// New makes the use cases on the core of a hub, and on the use cases of other packages that they need.
func New(core *unit.Core, presence *presence.Service) *Service {
	s := &Service{Core: core, presence: presence}
	s.stream = newStream(core.Store)
	return s
}

// LogFilter replaces the names in a filter by ids, so that it selects lines of the message log. The filter may name a trace by
// the id of one of its messages, and an agent by any of its names, even if the agent was removed. Only owners may call it.
func (s *Service) LogFilter(ctx context.Context, caller unit.Caller, f parley.LogFilter) (parley.LogFilter, error) {
	err := s.View(ctx, caller, unit.OpReadLog, func(u *unit.Unit) (err error) {
		if err := f.Check(); err != nil {
			return err
		}
		if f.Trace, err = wholeTrace(u, f.Trace); err != nil {
			return err
		}
		f.Agent, err = agents.Named(u, f.Agent)
		return err
	})
	return f, err
}

// wholeTrace returns the id of the trace that an id names: the trace itself, or the trace of a message, run, approval or task.
func wholeTrace(u *unit.Unit, id string) (string, error) {
	if id == "" {
		return "", nil
	}
	m, err := reading.FindTracedMessage(u, id)
	if err != nil {
		return "", err
	}
	if m != nil {
		return m.TraceID, nil
	}
	named, err := names.TraceOfWork(u, id)
	return cmp.Or(named, id), err
}

// LastEvent returns the number of the newest event. A caller that wants only new events subscribes after it.
func (s *Service) LastEvent(ctx context.Context, caller unit.Caller) (newest int64, err error) {
	err = s.View(ctx, caller, unit.OpFollowEvents, func(u *unit.Unit) error {
		_, newest, err = u.Log().Bounds()
		return err
	})
	return newest, err
}

// checkLogReaches returns E003 if the log has no position after this event: it was erased, or does not exist yet.
func checkLogReaches(after, oldest, newest int64) error {
	var err *parley.Error
	switch {
	case after+1 >= oldest && after <= newest:
		return nil
	case oldest > newest:
		err = parley.Errorf(parley.BadInput, "the event log no longer has the events up to %d, so the stream cannot continue from %d", newest, after)
	default:
		err = parley.Errorf(parley.BadInput, "the event log has the events %d to %d, so the stream cannot continue from %d", oldest, newest, after)
	}
	return err.Because(parley.NotFound).Suggest("read the current state, then follow from %d", newest)
}

const (
	streamPage  = 256  // events that the stream reads at once
	streamBatch = 32   // events that one subscriber gets at once, and keeps while its client does not read
	behindPage  = 64   // events that a subscription which is behind reads at once
	streamQueue = 256  // events queued for one subscription; all subscriptions share them
	streamKept  = 1024 // events kept for subscriptions that become live
	streamPoll  = 2 * time.Second
)

// stream reads the log of events once for all subscriptions. In one view it finds out who may see each event, and puts the
// event into the queues of these subscriptions. No other subscription wakes. While no subscription is live, the stream reads
// nothing.
//
// A subscription is live or behind. A live one gets its events in its queue. One that is behind reads the store itself, a page
// in each view, until a view has shown it the end of the log; then it becomes live. It falls behind when its queue is full, so
// that nobody has to wait for it. It also falls behind when its participant may see less than before: then the stream drops its
// queue, and the subscription reads the events again with its present rights. A view that began before the rights were lost
// makes no subscription live. What the stream found out before that is older than the position that a later view reaches, so it
// enters no queue.
//
// One lock guards the stream and all subscriptions. A function that holds it calls no other component and waits for nothing.
type stream struct {
	store storage.Store
	wake  chan struct{}

	mu     sync.Mutex
	open   map[string]subscribers // by participant
	owners subscribers            // the live ones that see every event
	live   int
	last   int64         // the last event that was put into the queues
	kept   []routedEvent // the newest of these events
	from   int64         // kept has all events after this one, up to last
}

type subscribers map[*Subscription]struct{}

// routedEvent is an event with its recipients.
type routedEvent struct {
	*parley.Event
	recipients
}

func newStream(store storage.Store) *stream {
	return &stream{store: store, wake: make(chan struct{}, 1), open: map[string]subscribers{}, owners: subscribers{}}
}

// wakeUp makes the stream look for new events.
func (st *stream) wakeUp() { local.Signal(st.wake) }

// subscriberCount returns how many subscriptions are open.
func (st *stream) subscriberCount() (n int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, all := range st.open {
		n += len(all)
	}
	return n
}

func (st *stream) run(ctx context.Context, started func()) {
	// A signal can be missing: a read has failed, or another process has written.
	again := time.NewTicker(streamPoll)
	defer again.Stop()
	started()
	for {
		select {
		case <-ctx.Done():
			return
		case <-st.wake:
		case <-again.C:
		}
		for st.step(ctx) {
		}
	}
}

// step gives subscriptions the next events, and reports whether there may be more.
func (st *stream) step(ctx context.Context) bool {
	after, awaited := st.position()
	if !awaited {
		return false
	}
	list, err := st.read(ctx, after)
	if err != nil || len(list) == 0 {
		return false
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if st.last != after {
		return true // all live subscriptions have left, and a new one has moved the stream on
	}
	st.last = list[len(list)-1].Num
	st.keep(list)
	for _, n := range list {
		st.route(n)
	}
	return len(list) == streamPage
}

func (st *stream) position() (last int64, awaited bool) {
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.last, st.live > 0
}

func (st *stream) read(ctx context.Context, after int64) (list []routedEvent, err error) {
	err = st.store.View(ctx, func(tx storage.Tx) error {
		events, err := tx.Log().Events(after, streamPage)
		readers := map[string]recipients{}
		for _, e := range events {
			to, hearersErr := recipientsOf(tx, e, readers)
			if hearersErr != nil {
				return hearersErr
			}
			list = append(list, routedEvent{&e, to})
		}
		return err
	})
	return list, err
}

// keep remembers the newest events. st.mu is held.
func (st *stream) keep(list []routedEvent) {
	st.kept = append(st.kept, list...)
	if excess := len(st.kept) - streamKept; excess > streamKept {
		st.from = st.kept[excess-1].Num
		st.kept = slices.Clone(st.kept[excess:])
	}
}

// route puts an event into the queues of its recipients. st.mu is held.
func (st *stream) route(n routedEvent) {
	for s := range st.owners {
		st.enqueue(s, n.Event)
	}
	switch {
	case n.everybody:
		for _, all := range st.open {
			st.enqueueAll(all, n.Event)
		}
	default:
		for _, agent := range n.agents {
			st.enqueueAll(st.open[agent], n.Event)
		}
	}
	if unit.ReducesVisibility(*n.Event) {
		st.resetSubscribers(*n.Event)
	}
}

func (st *stream) enqueueAll(all subscribers, e *parley.Event) {
	for s := range all {
		st.enqueue(s, e)
	}
}

// enqueue puts an event into the queue of a subscription, once. st.mu is held.
func (st *stream) enqueue(s *Subscription, e *parley.Event) {
	if !s.live || e.Num <= s.queuedUpTo {
		return
	}
	s.queuedUpTo = e.Num
	switch {
	case !s.filter.Selects(*e):
	case len(s.queue) == streamQueue:
		st.fallBehind(s)
	default:
		s.queue = append(s.queue, e)
		local.Signal(s.woken)
	}
}

// dropUnreadable is called after a commit, before any subscription hears of it. It drops the queues of participants that may
// see less from now on.
func (st *stream) dropUnreadable(events []parley.Event) {
	if len(events) == 0 {
		return
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, e := range events {
		st.resetSubscribers(e)
	}
}

// resetSubscribers makes the subscriptions of participants that may see less after an event fall behind. st.mu is held.
func (st *stream) resetSubscribers(e parley.Event) {
	if e.Agent != "" {
		for s := range st.open[e.Agent] {
			st.fallBehind(s)
		}
		return
	}
	for _, all := range st.open {
		for s := range all {
			st.fallBehind(s)
		}
	}
}

// fallBehind makes a subscription read the store again, from the events that it has returned. st.mu is held.
func (st *stream) fallBehind(s *Subscription) {
	s.resets++
	s.queue = nil
	if s.live {
		s.live = false
		st.live--
		delete(st.owners, s)
	}
	local.Signal(s.woken)
}

// makeLive makes a subscription live that has read the whole log. If too many events have come since, it stays behind. st.mu is
// held.
func (st *stream) makeLive(s *Subscription, seesAll bool) {
	if st.live == 0 {
		st.last, st.from, st.kept = s.returnedUpTo, s.returnedUpTo, nil
		st.wakeUp() // events may have come while no subscription was live
	}
	if s.returnedUpTo < st.from {
		return
	}
	s.live, s.queuedUpTo = true, s.returnedUpTo
	st.live++
	if seesAll {
		st.owners[s] = struct{}{}
	}
	for _, n := range st.kept {
		if seesAll || n.has(s.agent) {
			st.enqueue(s, n.Event)
		}
	}
}

// MarkDelivered is called after events were sent to a client of the subscriber. It marks the posted messages as delivered to the
// subscriber if that is a person. An agent takes its deliveries itself.
func (s *Subscription) MarkDelivered(ctx context.Context, list []parley.Event) error {
	if !s.person {
		return nil
	}
	var posted []string
	for _, e := range list {
		if e.Kind == parley.EventMessagePosted && e.By != s.agent {
			posted = append(posted, e.Message)
		}
	}
	if len(posted) == 0 {
		return nil
	}
	waits := false // first only read: most messages that an owner sees are not for the owner
	err := s.hub.View(ctx, s.caller, unit.OpFollowEvents, func(u *unit.Unit) error {
		return eachAccepted(u, posted, func(*parley.Delivery) error {
			waits = true
			return nil
		})
	})
	if err != nil || !waits {
		return err
	}
	return s.hub.Write(ctx, s.caller, unit.OpFollowEvents, func(u *unit.Unit) error {
		return eachAccepted(u, posted, func(d *parley.Delivery) error { return deliveries.SetState(u, d, parley.DeliveryDelivered, nil) })
	})
}

// eachAccepted calls do for the caller's deliveries of messages that are still accepted.
func eachAccepted(u *unit.Unit, messages []string, do func(*parley.Delivery) error) error {
	list, err := u.Deliveries().GetAll(u.Me.ID, messages)
	for i := range list {
		if err == nil && list[i].State == parley.DeliveryAccepted {
			err = do(&list[i])
		}
	}
	return err
}
