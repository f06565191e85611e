package hub

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/parley-hub/parley"
)

const (
	tailKept = 4096 // events kept in memory for those who follow closely
	tailPage = 256
	tailPoll = 2 * time.Second
)

// tail is the one reader of the event log. Everybody who follows the log waits for it and reads
// what it has in memory; who has fallen behind reads from the store and catches up. So a slow
// reader holds up nobody and loses nothing. While nobody waits, it does not read at all.
type tail struct {
	store parley.Store
	wake  chan struct{}

	mu      sync.Mutex
	waiters int
	kept    []parley.Event // what was read last, up to last
	last    int64          // everything up to here has been read or skipped
	grown   chan struct{}  // closed and replaced when last moves
}

func newTail(store parley.Store) *tail {
	return &tail{store: store, wake: make(chan struct{}, 1), grown: make(chan struct{})}
}

// poke says that there may be new events.
func (t *tail) poke() {
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

func (t *tail) run(ctx context.Context, started func()) {
	// A poke may be missed: a read failed, or another process wrote.
	again := time.NewTicker(tailPoll)
	defer again.Stop()
	started()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
		case <-again.C:
		}
		for t.awaited() && t.read(ctx) {
		}
	}
}

func (t *tail) awaited() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.waiters > 0
}

// read takes the next events from the log and says whether there may be more.
func (t *tail) read(ctx context.Context) bool {
	t.mu.Lock()
	after := t.last
	t.mu.Unlock()
	list, err := readEvents(ctx, t.store, after)
	if err != nil || len(list) == 0 {
		return false
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.last != after {
		return true // a waiter has moved it on
	}
	t.kept = append(t.kept, list...)
	if len(t.kept) > 2*tailKept {
		t.kept = slices.Clone(t.kept[len(t.kept)-tailKept:])
	}
	t.moveTo(list[len(list)-1].Num)
	return len(list) == tailPage
}

// moveTo moves last on and wakes everybody who waits. t.mu is held.
func (t *tail) moveTo(last int64) {
	t.last = last
	close(t.grown)
	t.grown = make(chan struct{})
}

// next returns events after a number, waiting until there is one. E003 if the log does not reach
// back, or forward, that far.
func (t *tail) next(ctx context.Context, after int64) ([]parley.Event, error) {
	for {
		if list := t.inMemory(after); len(list) > 0 {
			return list, nil
		}
		list, err := readEvents(ctx, t.store, after)
		if err != nil || len(list) > 0 {
			return list, err
		}
		if err := t.wait(ctx, after); err != nil {
			return nil, err
		}
	}
}

// inMemory returns what follows a number, if all that follows it is kept.
func (t *tail) inMemory(after int64) []parley.Event {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.kept) == 0 || after < t.kept[0].Num || after >= t.last {
		return nil
	}
	start, found := slices.BinarySearchFunc(t.kept, after, func(e parley.Event, num int64) int { return int(e.Num - num) })
	if found {
		start++
	}
	return slices.Clone(t.kept[start:min(start+tailPage, len(t.kept))])
}

// wait returns when the log may have grown beyond a number up to which the caller has read it.
func (t *tail) wait(ctx context.Context, after int64) error {
	t.mu.Lock()
	if after < t.last {
		t.mu.Unlock()
		return nil
	}
	if after > t.last { // what lies between has been read by the caller; those behind read it themselves
		t.kept = nil
		t.moveTo(after)
	}
	grown := t.grown
	t.waiters++
	t.mu.Unlock()
	t.poke() // something may have come before anybody was waiting
	defer func() {
		t.mu.Lock()
		t.waiters--
		t.mu.Unlock()
	}()
	select {
	case <-grown:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func readEvents(ctx context.Context, store parley.Store, after int64) (list []parley.Event, err error) {
	err = store.View(ctx, func(tx parley.Tx) error {
		oldest, newest, err := tx.Log().Bounds()
		if err != nil {
			return err
		}
		if after+1 < oldest || after > newest {
			return eventsGone(after, oldest, newest)
		}
		list, err = tx.Log().Events(after, tailPage)
		return err
	})
	return list, err
}

func eventsGone(after, oldest, newest int64) error {
	if oldest > newest {
		return parley.Errorf(parley.BadInput, "of the log of events nothing is left up to %d, so it does not go on from %d", newest, after).
			Because(parley.NotFound).Suggest("read the present state, and follow from %d", newest)
	}
	return parley.Errorf(parley.BadInput, "the log of events goes from %d to %d, not on from %d", oldest, newest, after).
		Because(parley.NotFound).Suggest("read the present state, and follow from %d", newest)
}
