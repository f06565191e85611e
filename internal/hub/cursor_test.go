package hub_test

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// movesOf is a store that counts how often cursors are stored.
type movesOf struct {
	storage.Store
	moves *atomic.Int64
}

func (m movesOf) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return m.Store.Update(ctx, func(tx storage.Tx) error { return fn(movesOfTx{tx, m.moves}) })
}

type movesOfTx struct {
	storage.Tx
	moves *atomic.Int64
}

func (t movesOfTx) Cursors() storage.CursorStore { return movesOfCursors{t.Tx.Cursors(), t.moves} }

type movesOfCursors struct {
	storage.CursorStore
	moves *atomic.Int64
}

func (c movesOfCursors) Move(name string, from, to int64) error {
	c.moves.Add(1)
	return c.CursorStore.Move(name, from, to)
}

func countMoves(moves *atomic.Int64) func(*fixture) {
	return func(w *fixture) { w.WrapStore = func(s storage.Store) storage.Store { return movesOf{s, moves} } }
}

func (w *fixture) storedCursor() (at int64) {
	w.T.Helper()
	w.NoError(w.Store.View(ctx, func(tx storage.Tx) (err error) {
		at, err = tx.Cursors().Get("test")
		return err
	}))
	return at
}

// TestCursorIsStoredOnceASecondAndAtTheStop: not every post costs another commit because somebody follows.
func TestCursorIsStoredOnceASecondAndAtTheStop(t *testing.T) {
	t.Parallel()
	place := stores.NewPlace(t)
	synctest.Test(t, func(t *testing.T) {
		var moves atomic.Int64
		w := openFixture(t, place, countMoves(&moves))
		w.CreateChannel("user", "general")
		l := newTeller()
		stop := startFollower(w, l)
		moves.Store(0)
		say := func(n int) (last int64) {
			for i := range n {
				w.SayIn("user", "general", fmt.Sprint(i))
				last = w.LastEventNumber()
				l.upTo(last)
			}
			return last
		}
		last := say(20)
		same(t, "stored at once", moves.Load(), int64(0))
		time.Sleep(time.Second)
		synctest.Wait()
		same(t, "stored after a second", moves.Load(), int64(1))
		same(t, "the cursor", w.storedCursor(), last)
		time.Sleep(time.Minute)
		synctest.Wait()
		same(t, "stored while nothing happens", moves.Load(), int64(1))
		last = say(3)
		stop()
		same(t, "stored after the stop", moves.Load(), int64(2))
		same(t, "the cursor at the stop", w.storedCursor(), last)
	})
}

// TestCursorIsStoredAfterManyEvents: a crash has a limit to what is told again, however fast everything goes. No time passes.
func TestCursorIsStoredAfterManyEvents(t *testing.T) {
	t.Parallel()
	place := stores.NewPlace(t)
	synctest.Test(t, func(t *testing.T) {
		var moves atomic.Int64
		w := openFixture(t, place, countMoves(&moves))
		begin, l := w.LastEventNumber(), newTeller()
		stop := startFollower(w, l)
		stop()
		w.NoError(w.Store.Update(ctx, func(tx storage.Tx) error {
			return tx.Log().Append(slices.Repeat([]parley.Event{{Kind: parley.EventAlert, At: began}}, 4500)...)
		}))
		moves.Store(0)
		startFollower(w, l)
		inOrder(t, l.upTo(w.LastEventNumber()), begin)
		synctest.Wait()
		same(t, "stored", moves.Load(), int64(1))
		same(t, "the cursor", w.storedCursor(), begin+4200) // a limit of 4096 in batches of 200
	})
}

// TestEventsBeforeACrashAreSentAgain: one that was not stopped stores nothing.
func TestEventsBeforeACrashAreSentAgain(t *testing.T) {
	t.Parallel()
	place := stores.NewPlace(t)
	synctest.Test(t, func(t *testing.T) {
		w := openFixture(t, place)
		w.CreateChannel("user", "general")
		begin, crashed, next := w.LastEventNumber(), newTeller(), newTeller()
		startFollower(w, crashed)
		w.SayIn("user", "general", "one")
		w.SayIn("user", "general", "two")
		last := w.LastEventNumber()
		crashed.upTo(last)
		startFollower(w, next) // no time has passed
		list := next.upTo(last)
		inOrder(t, list, begin)
		same(t, "messages", postedTexts(list), []string{"one", "two"})
	})
}
