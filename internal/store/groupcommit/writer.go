package groupcommit

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"sync/atomic"
	"time"

	"github.com/parley-hub/parley"
)

const (
	batchUpdates = 256
	batchTime    = 5 * time.Millisecond
	attempts     = 5 // to run an update whose transaction ends for a transient reason
)

// ErrClosed is the error of updates after Close.
var ErrClosed = parley.Errorf(parley.Unavailable, "the store is closed").Suggest("start the hub again")

// Writer runs updates in batches. Many goroutines may use it at once.
type Writer[T any] struct {
	conn     Conn
	database Database
	session  Session[T]
	queue    chan *update[T]
	halted   atomic.Pointer[error]

	mu     sync.RWMutex // held for reading while a caller puts an update in the queue
	closed bool

	turn    chan struct{} // full while a goroutine has the turn; guards suspect, conn and session
	suspect bool          // the last commit failed, and it is not known yet whether it took effect
}

// update is one call of Update. Its state leaves waiting once: either the writer starts it, or its caller gives it up.
type update[T any] struct {
	fn    func(T) error
	state atomic.Int32
	done  chan error
}

const (
	waiting = iota
	started
	givenUp
)

// New returns a writer on a connection, which nothing else may use from now on.
func New[T any](conn Conn, database Database, session Session[T]) *Writer[T] {
	return &Writer[T]{
		conn:     conn,
		database: database,
		session:  session,
		queue:    make(chan *update[T], batchUpdates),
		turn:     make(chan struct{}, 1),
	}
}

// Update runs fn in a transaction that other updates may share, and returns after the commit. If fn fails or panics, nothing
// that it wrote remains, and Update returns its error. An error of ctx means that fn did not run: once fn has started, Update
// waits for the outcome. Update returns ErrClosed after Close, and the error given to Halt while the writer is halted.
func (w *Writer[T]) Update(ctx context.Context, fn func(T) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	u := &update[T]{fn: fn, done: make(chan error, 1)}
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
		return <-u.done // fn has started, so only its outcome tells whether anything was stored
	}
}

// Halt refuses all updates that have not started with the given error, until Resume.
func (w *Writer[T]) Halt(err error) { w.halted.Store(&err) }

// Resume takes updates again.
func (w *Writer[T]) Resume() { w.halted.Store(nil) }

// Close refuses new updates and returns when those that were accepted have ended. It must be called once.
func (w *Writer[T]) Close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.turn <- struct{}{} // take the turn and never give it up
	w.drain()
}

// enqueue runs an update at once if the turn is free, because that is faster than to wake another goroutine for it. Otherwise
// it puts the update in the queue.
func (w *Writer[T]) enqueue(ctx context.Context, u *update[T]) error {
	w.mu.RLock()
	if w.closed {
		w.mu.RUnlock()
		return ErrClosed
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
	if w.takeTurn() { // the goroutine that had the turn may have looked at the queue just before
		w.passOn()
	}
	return nil
}

func (w *Writer[T]) takeTurn() bool {
	select {
	case w.turn <- struct{}{}:
		return true
	default:
		return false
	}
}

// passOn gives the turn up. While updates are queued it gives the turn to a new goroutine, so that the caller, whose own update
// has ended, need not work for others.
func (w *Writer[T]) passOn() {
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

// drain runs the updates in the queue. The caller has the turn.
func (w *Writer[T]) drain() {
	for {
		select {
		case u := <-w.queue:
			w.run(u)
		default:
			return
		}
	}
}

// run runs a batch, and ends the process if the batch does not end. That happens after a panic outside of an update, or after
// runtime.Goexit inside of one: then a transaction is open, and callers wait for an outcome that never comes. The panic is in
// another goroutine so that no caller can recover from it.
func (w *Writer[T]) run(first *update[T]) {
	ended := false
	defer func() {
		if !ended {
			reason := fmt.Sprintf("the store has stopped: %v\n%s", recover(), debug.Stack())
			go panic(reason)
			select {}
		}
	}()
	w.runBatch(first)
	ended = true
}

// runBatch runs an update, and the updates that arrive while it runs, in one transaction.
func (w *Writer[T]) runBatch(first *update[T]) {
	var (
		batch = make([]outcome[T], 0, 32)
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
			if err, broken := w.session.Run(u.fn); err != nil {
				u.done <- w.undoFirst(u.fn, err, broken)
				open = false
			} else {
				batch = append(batch, outcome[T]{u, nil})
			}
			continue
		}
		err, fatal := w.runInSavepoint(u.fn)
		batch = append(batch, outcome[T]{u, err})
		if fatal != nil {
			w.runEachAgain(batch, fatal)
			return
		}
	}
	if !open {
		return
	}
	if err := w.commit(); err != nil {
		w.runEachAgain(batch, err)
		return
	}
	report(batch)
}

type outcome[T any] struct {
	update *update[T]
	err    error
}

func report[T any](batch []outcome[T]) {
	for _, o := range batch {
		o.update.done <- o.err
	}
}

// next returns the next update in the queue, or nil if there is none or the batch is full or too old.
func (w *Writer[T]) next(n int, began time.Time) *update[T] {
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

// claim starts an update. It returns false if the caller has given the update up, or the writer is halted.
func (w *Writer[T]) claim(u *update[T]) bool {
	if !u.state.CompareAndSwap(waiting, started) {
		return false
	}
	if halted := w.halted.Load(); halted != nil {
		u.done <- *halted
		return false
	}
	return true
}

// undoFirst rolls back the transaction of an update that failed as the first of its batch, and runs the update again if the
// database failed for a transient reason. It returns the outcome of the update.
func (w *Writer[T]) undoFirst(fn func(T) error, err, broken error) error {
	transient := w.database.Transient(broken)
	w.rollback()
	if transient {
		return w.runAlone(fn)
	}
	return err
}

// runEachAgain rolls a batch back after an error that ended its transaction. If the batch has several updates, it runs each again
// alone, so that only the update that causes the error fails.
func (w *Writer[T]) runEachAgain(batch []outcome[T], cause error) {
	w.rollback()
	committed, err := w.settle()
	switch {
	case committed:
		report(batch)
		return
	case err != nil:
		for _, o := range batch {
			o.update.done <- unknownOutcome(cause)
		}
		return
	case len(batch) == 1 && !w.database.Transient(cause):
		batch[0].update.done <- cause
		return
	}
	for _, o := range batch {
		o.update.done <- w.runAlone(o.update.fn)
	}
}

// runAlone runs an update in a transaction of its own, several times while the database fails for transient reasons.
func (w *Writer[T]) runAlone(fn func(T) error) (err error) {
	for again, left := true, attempts; again && left > 0; left-- {
		again, err = w.attempt(fn)
	}
	return err
}

// attempt runs an update in a transaction of its own. again reports whether another attempt may succeed.
func (w *Writer[T]) attempt(fn func(T) error) (again bool, err error) {
	if halted := w.halted.Load(); halted != nil {
		return false, *halted
	}
	if err := w.begin(); err != nil {
		return false, err
	}
	err, broken := w.session.Run(fn)
	if err == nil {
		err = w.commit()
	}
	if err == nil {
		return false, nil
	}
	again = w.database.Transient(errors.Join(broken, err))
	w.rollback()
	committed, unknown := w.settle()
	switch {
	case committed:
		return false, nil
	case unknown != nil:
		return false, unknownOutcome(err)
	default:
		return again, err
	}
}

func (w *Writer[T]) begin() error {
	if _, err := w.settle(); err != nil {
		return err
	}
	return w.database.Explain(w.conn.Later(w.database.Begin()))
}

// settle finds out whether the last commit took effect, if that commit failed. It returns an error if it cannot find out.
func (w *Writer[T]) settle() (committed bool, err error) {
	if !w.suspect {
		return false, nil
	}
	if committed, err = w.database.Settle(); err != nil {
		return false, w.database.Explain(err)
	}
	w.suspect = false
	return committed, nil
}

// unknownOutcome returns the error of an update whose commit failed and may have taken effect. On a full disk the commit cannot
// have taken effect, because the end of the transaction was never written. Then unknownOutcome returns the cause.
func unknownOutcome(cause error) error {
	if parley.AsError(cause).Reason == parley.StorageFull {
		return cause
	}
	return parley.Errorf(parley.Internal, "it is not known whether this was stored (%s)", parley.AsError(cause).Message).
		From(cause).
		Suggest("check the database and its disk; then check whether it is stored, or send it again with the same idempotency key")
}

// runInSavepoint runs one update. err is the error of the update, of which nothing remains. fatal is an error that ended the
// transaction.
func (w *Writer[T]) runInSavepoint(fn func(T) error) (err, fatal error) {
	if fatal := w.conn.Later("SAVEPOINT one"); fatal != nil {
		return nil, w.database.Explain(fatal)
	}
	w.session.Save()
	if err, _ = w.session.Run(fn); err == nil {
		return nil, w.database.Explain(w.conn.Later("RELEASE SAVEPOINT one"))
	}
	w.session.Restore()
	if _, failed := w.conn.Exec("ROLLBACK TO SAVEPOINT one"); failed != nil {
		return err, err // the transaction has ended, and the error of this update says why
	}
	return err, w.database.Explain(w.conn.Later("RELEASE SAVEPOINT one"))
}

func (w *Writer[T]) commit() error {
	if err := w.session.Flush(); err != nil {
		return err
	}
	if _, err := w.conn.Exec("COMMIT"); err != nil {
		w.suspect = true
		return w.database.Explain(err)
	}
	w.session.Committed()
	return nil
}

// rollback ends the transaction. Its own error does not matter: the transaction may have ended already.
func (w *Writer[T]) rollback() {
	_, _ = w.conn.Exec("ROLLBACK")
	w.session.Forget()
}
