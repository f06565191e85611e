package hub

import (
	"context"
	"slices"
	"sync"

	"github.com/parley-hub/parley"
)

const (
	tailKept = 4096 // events kept in memory for those who follow closely
	tailPage = 256
)

// tail is the one reader of the event log. Everybody who follows the log waits for it and reads
// what it has in memory; who has fallen behind reads from the store and catches up. So a slow
// reader holds up nobody and loses nothing.
type tail struct {
	store parley.Store
	wake  chan struct{}

	mu    sync.Mutex
	kept  []parley.Event
	last  int64
	grown chan struct{} // closed and replaced when last moves
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
	t.skipToEnd(ctx)
	started()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
			for t.read(ctx) {
			}
		}
	}
}

// skipToEnd begins at the newest event. What is older is read from the store by those who ask.
func (t *tail) skipToEnd(ctx context.Context) {
	_ = t.store.View(ctx, func(tx parley.Tx) error {
		_, newest, err := tx.Log().Bounds()
		t.mu.Lock()
		defer t.mu.Unlock()
		t.last = newest
		return err
	})
}

// read takes the next events from the log and says whether there may be more.
func (t *tail) read(ctx context.Context) bool {
	t.mu.Lock()
	after := t.last
	t.mu.Unlock()
	list, err := readEvents(ctx, t.store, after)
	if err != nil || len(list) == 0 {
		return false // a failure is repaired by the next poke
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.kept = append(t.kept, list...)
	if over := len(t.kept) - tailKept; over > 0 {
		t.kept = slices.Clone(t.kept[over:])
	}
	t.last = list[len(list)-1].Num
	close(t.grown)
	t.grown = make(chan struct{})
	return len(list) == tailPage
}

// next returns events after a number, waiting until there is one. ErrEventsGone if the log no
// longer reaches back that far.
func (t *tail) next(ctx context.Context, after int64) ([]parley.Event, error) {
	for {
		t.mu.Lock()
		grown := t.grown
		behind, ahead := after < t.last, after > t.last
		var list []parley.Event
		if behind && len(t.kept) > 0 && t.kept[0].Num <= after+1 {
			start := int(after + 1 - t.kept[0].Num)
			list = slices.Clone(t.kept[start:min(start+tailPage, len(t.kept))])
		}
		t.mu.Unlock()
		if len(list) > 0 {
			return list, nil
		}
		if behind {
			return readEvents(ctx, t.store, after)
		}
		if ahead { // of the tail, or of the log itself
			if list, err := readEvents(ctx, t.store, after); err != nil || len(list) > 0 {
				return list, err
			}
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
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
	return parley.Errorf(parley.BadInput, "the log of events goes from %d to %d, not on from %d", oldest, newest, after).
		Because(parley.NotFound).Suggest("read the present state, and follow from %d", newest)
}
