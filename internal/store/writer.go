package store

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

const (
	batchUpdates = 256
	batchTime    = 5 * time.Millisecond
	attempts     = 5 // to run an update whose transaction ends for reasons that pass
)

// writer runs updates in groups. Whoever has the turn runs them.
type writer struct {
	driver Driver
	queue  chan *update
	halted atomic.Pointer[error]

	mu      sync.RWMutex // held for reading while a caller puts an update in the queue
	stopped bool

	turn    chan struct{} // full while somebody has the turn; guards what follows, and the connection
	tx      *tx
	suspect bool // the last commit failed, and nobody knows yet what became of it
}

// update is one call of Update. Whoever moves its state away from waiting decides: the writer
// starts it, or its caller gives it up.
type update struct {
	fn    func(storage.Tx) error
	state atomic.Int32
	done  chan error
}

const (
	waiting = iota
	started
	givenUp
)

func newWriter(driver Driver, clock func(Conn) (int64, error), found *damages) *writer {
	return &writer{
		driver: driver,
		queue:  make(chan *update, batchUpdates),
		turn:   make(chan struct{}, 1),
		tx: &tx{
			damages:  found,
			conn:     driver.Writer(),
			explain:  driver.Explain,
			clock:    clock,
			locks:    driver.Locks(),
			text:     driver.Text(),
			own:      newDirectory(0),
			writable: true,
		},
	}
}

var errClosed = parley.Errorf(parley.Unavailable, "the store is closed").Suggest("start the hub again")

func (w *writer) submit(ctx context.Context, fn func(storage.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	u := &update{fn: fn, done: make(chan error, 1)}
	if err := w.enqueue(ctx, u); err != nil {
		return err
	}
	select {
	case err := <-u.done:
		return err
	case <-ctx.Done():
		if u.state.CompareAndSwap(waiting, givenUp) {
			return ctx.Err()
		}
		return <-u.done // it runs already; its outcome is the only truth
	}
}

// enqueue leaves an update to whoever writes now, or makes the caller write: its own update at once,
// without waiting for another goroutine to wake, and those that come meanwhile.
func (w *writer) enqueue(ctx context.Context, u *update) error {
	w.mu.RLock()
	if w.stopped {
		w.mu.RUnlock()
		return errClosed
	}
	if w.takeTurn() {
		w.mu.RUnlock()
		w.run(u)
		w.passOn()
		return nil
	}
	defer w.mu.RUnlock()
	select {
	case w.queue <- u:
	case <-ctx.Done():
		return ctx.Err()
	}
	if w.takeTurn() { // who had it may have looked at the queue just before
		w.passOn()
	}
	return nil
}

func (w *writer) takeTurn() bool {
	select {
	case w.turn <- struct{}{}:
		return true
	default:
		return false
	}
}

// passOn gives the turn up, to a goroutine of its own while updates wait: whoever had it has its answer
// and need not work for others.
func (w *writer) passOn() {
	for {
		if len(w.queue) > 0 {
			go func() {
				w.drain()
				w.passOn()
			}()
			return
		}
		<-w.turn
		if len(w.queue) == 0 || !w.takeTurn() {
			return
		}
	}
}

// drain runs what waits. The caller has the turn.
func (w *writer) drain() {
	for {
		select {
		case u := <-w.queue:
			w.run(u)
		default:
			return
		}
	}
}

// stop lets the updates that were accepted finish. It is called once.
func (w *writer) stop() {
	w.mu.Lock()
	w.stopped = true
	w.mu.Unlock()
	w.turn <- struct{}{} // and never gives it up
	w.drain()
}

// run runs a batch, and does not survive it if it does not end: after a panic outside an update, or
// runtime.Goexit inside one, a transaction is open and others wait for an answer that nobody has.
// Ending the process is safe, going on is not; a caller that recovers must not be able to prevent it.
func (w *writer) run(first *update) {
	ended := false
	defer func() {
		if !ended {
			reason := fmt.Sprintf("the store cannot go on: %v\n%s", recover(), debug.Stack())
			go panic(reason)
			select {}
		}
	}()
	w.runBatch(first)
	ended = true
}

// runBatch runs an update, and those that come while it runs, in one transaction. Nobody is told
// anything before the commit: even a refusal may rest on what another update of the batch wrote.
func (w *writer) runBatch(first *update) {
	var (
		batch = make([]outcome, 0, 32)
		began = time.Now()
		open  bool
	)
	for u, n := first, 1; u != nil; u, n = w.next(n, began), n+1 {
		if !w.claim(u) {
			continue
		}
		if !open {
			if err := w.begin(); err != nil {
				u.done <- err
				continue
			}
			open = true
		}
		if len(batch) == 0 {
			// Nothing else is in the transaction: a rollback is enough, without the cost of a savepoint.
			if err := w.tx.call(u.fn); err != nil {
				u.done <- w.giveUp(u.fn, err)
				open = false
			} else {
				batch = append(batch, outcome{u, nil})
			}
			continue
		}
		err, fatal := w.apply(u.fn)
		batch = append(batch, outcome{u, err})
		if fatal != nil {
			w.abandon(batch, fatal)
			return
		}
	}
	if !open {
		return
	}
	if err := w.commit(); err != nil {
		w.abandon(batch, err)
		return
	}
	tell(batch)
}

type outcome struct {
	update *update
	err    error
}

func tell(batch []outcome) {
	for _, o := range batch {
		o.update.done <- o.err
	}
}

// next is the next update of the batch, if one waits and there is room for it.
func (w *writer) next(n int, began time.Time) *update {
	if n >= batchUpdates || time.Since(began) > batchTime {
		return nil
	}
	select {
	case u := <-w.queue:
		return u
	default:
		return nil
	}
}

// claim starts an update unless its caller has given it up or writing is halted.
func (w *writer) claim(u *update) bool {
	if !u.state.CompareAndSwap(waiting, started) {
		return false
	}
	if halted := w.halted.Load(); halted != nil {
		u.done <- *halted
		return false
	}
	return true
}

// abandon rolls a whole batch back after an error that ended its transaction. Where there were
// several, each is run again alone, so that the innocent succeed and the culprit learns why.
func (w *writer) abandon(batch []outcome, cause error) {
	w.rollback()
	committed, err := w.settle()
	switch {
	case committed:
		tell(batch)
		return
	case err != nil:
		for _, o := range batch {
			o.update.done <- doubtful(cause)
		}
		return
	case len(batch) == 1 && !w.driver.Transient(cause):
		batch[0].update.done <- cause
		return
	}
	for _, o := range batch {
		o.update.done <- w.alone(o.update.fn)
	}
}

// giveUp ends the transaction of an update that failed as the first of its batch, and runs it again
// where the database failed for a reason that passes.
func (w *writer) giveUp(fn func(storage.Tx) error, err error) error {
	passes := w.driver.Transient(w.tx.broken)
	w.rollback()
	if passes {
		return w.alone(fn)
	}
	return err
}

// alone runs an update in a transaction of its own, several times where the database fails for a
// reason that passes.
func (w *writer) alone(fn func(storage.Tx) error) (err error) {
	for again, left := true, attempts; again && left > 0; left-- {
		again, err = w.attempt(fn)
	}
	return err
}

func (w *writer) attempt(fn func(storage.Tx) error) (again bool, err error) {
	if halted := w.halted.Load(); halted != nil {
		return false, *halted
	}
	if err := w.begin(); err != nil {
		return false, err
	}
	if err = w.tx.call(fn); err == nil {
		err = w.commit()
	}
	if err == nil {
		return false, nil
	}
	again = w.driver.Transient(errors.Join(w.tx.broken, err))
	w.rollback()
	committed, unknown := w.settle()
	switch {
	case committed:
		return false, nil
	case unknown != nil:
		return false, doubtful(err)
	default:
		return again, err
	}
}

func (w *writer) begin() error {
	if _, err := w.settle(); err != nil {
		return err
	}
	return w.driver.Explain(w.tx.conn.Later(w.driver.Begin()))
}

// settle finds out what became of a commit that failed. Until that is known, nobody can be told that
// nothing was stored, and no update is taken.
func (w *writer) settle() (committed bool, err error) {
	if !w.suspect {
		return false, nil
	}
	if committed, err = w.driver.Settle(); err != nil {
		return false, w.driver.Explain(err)
	}
	w.suspect = false
	return committed, nil
}

// doubtful is what is said of an update whose commit failed in a way that leaves its fate open. A full
// disk does not: the end of the transaction was never written.
func doubtful(cause error) error {
	if parley.AsError(cause).Reason == parley.StorageFull {
		return cause
	}
	return parley.Errorf(parley.Internal, "it is not known whether this was stored (%s)", parley.AsError(cause).Message).
		From(cause).
		Suggest("check the database and its disk; then look whether it is there, or send it again with the same idempotency key")
}

// apply runs one update in a savepoint. An error is the update's own, and nothing of it remains;
// a fatal one has ended the transaction.
func (w *writer) apply(fn func(storage.Tx) error) (err, fatal error) {
	if fatal := w.tx.conn.Later("SAVEPOINT one"); fatal != nil {
		return nil, w.driver.Explain(fatal)
	}
	w.tx.save()
	if err = w.tx.call(fn); err == nil {
		return nil, w.driver.Explain(w.tx.conn.Later("RELEASE SAVEPOINT one"))
	}
	w.tx.restore()
	if _, failed := w.tx.conn.Exec("ROLLBACK TO SAVEPOINT one"); failed != nil {
		return err, err // the transaction is gone, and this update's error says why
	}
	return err, w.driver.Explain(w.tx.conn.Later("RELEASE SAVEPOINT one"))
}

func (w *writer) commit() error {
	if err := w.tx.flush(); err != nil {
		return err
	}
	if _, err := w.tx.conn.Exec("COMMIT"); err != nil {
		w.suspect = true
		return w.driver.Explain(err)
	}
	if w.tx.counters.seqLoaded {
		w.driver.Committed(w.tx.counters.seq)
	}
	w.tx.counters = counters{}
	return nil
}

// rollback ends a transaction that may have ended by itself.
func (w *writer) rollback() {
	_, _ = w.tx.conn.Exec("ROLLBACK")
	w.tx.forget()
}

// call runs fn, turns a panic into an error, and does not let fn hide that the database failed.
func (t *tx) call(fn func(storage.Tx) error) (err error) {
	t.broken, t.lastConv, t.lastInbox, t.undelivered = nil, conversationKey{}, inboxOf{}, ""
	defer func() {
		if p := recover(); p != nil {
			err = parley.Errorf(parley.Internal, "the hub failed inside an update: %v", p).
				Suggest("report this; nothing was written")
			err = errors.Join(err, fmt.Errorf("%s", debug.Stack()))
		}
	}()
	if err := fn(t); err != nil {
		return err
	}
	return t.broken
}
