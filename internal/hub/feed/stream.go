package feed

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/local"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

const (
	streamPage  = 256  // events read at once for everybody
	streamBatch = 32   // events that one subscriber gets at once: it holds them while its reader does not read
	behindPage  = 64   // events that one subscriber reads by itself
	streamQueue = 256  // events that wait for one subscriber; they are shared with the others
	streamKept  = 1024 // events kept for those who become live
	streamPoll  = 2 * time.Second
)

// stream reads the log of events once, for everybody: it finds out in one view whom each event is for,
// and puts it into the queues of these subscribers. Nobody else is woken. While nobody is live, nothing
// is read.
//
// A subscription is live or behind. Live, what is for it comes into its queue. Behind, it reads the store
// itself, a page a view, until a view has shown it all there is; from there on it is live. It falls
// behind when its queue is full, so that nobody waits for it, and when its participant may see less than
// before: its queue is forgotten and read again with the rights that are left. A view that began before
// the rights were lost makes nobody live; and what the stream found out before them is older than where
// a later view leads to, so that it comes into no queue any more.
//
// One lock guards the stream and every subscription. Whoever holds it calls nobody and waits for nothing.
type stream struct {
	store storage.Store
	wake  chan struct{}

	mu     sync.Mutex
	open   map[string]subscribers // by participant
	owners subscribers            // the live ones who see everything
	live   int
	last   int64         // what happened up to here is in the queues
	kept   []routedEvent // what happened last
	from   int64         // all that happened after this, up to last, is kept
}

type subscribers map[*Subscription]struct{}

// routedEvent is an event and whom it is for.
type routedEvent struct {
	*parley.Event
	recipients
}

func newStream(store storage.Store) *stream {
	return &stream{store: store, wake: make(chan struct{}, 1), open: map[string]subscribers{}, owners: subscribers{}}
}

// wakeUp says that there may be new events.
func (st *stream) wakeUp() { local.Signal(st.wake) }

// subscriberCount is how many there are.
func (st *stream) subscriberCount() (n int) {
	st.mu.Lock()
	defer st.mu.Unlock()
	for _, all := range st.open {
		n += len(all)
	}
	return n
}

func (st *stream) run(ctx context.Context, started func()) {
	// A poke may be missed: a read failed, or another process wrote.
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

// step passes the next events on and says whether there may be more.
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
		return true // all had left, and somebody who came later is further on
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

// keep remembers what happened last. st.mu is held.
func (st *stream) keep(list []routedEvent) {
	st.kept = append(st.kept, list...)
	if over := len(st.kept) - streamKept; over > streamKept {
		st.from = st.kept[over-1].Num
		st.kept = slices.Clone(st.kept[over:])
	}
}

// route puts an event into the queues of those it is for. st.mu is held.
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
	if unit.Unsettles(*n.Event) {
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

// dropUnreadable is called after a commit, before anybody is told of it: what was queued for those who may see
// less now is not read out any more.
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

// resetSubscribers lets those fall behind who may see less after an event. st.mu is held.
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

// fallBehind makes a subscription read the store again, from what it has returned on. st.mu is held.
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

// makeLive makes a subscription live that has read all there is, unless too much has happened since.
// st.mu is held.
func (st *stream) makeLive(s *Subscription, seesAll bool) {
	if st.live == 0 {
		st.last, st.from, st.kept = s.returnedUpTo, s.returnedUpTo, nil
		st.wakeUp() // something may have come while nobody was there
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
