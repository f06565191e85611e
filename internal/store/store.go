package store

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/parley-hub/parley/internal/storage"
	"github.com/parley-hub/parley/internal/store/groupcommit"
)

// Store is a parley.Store on a SQL database, but for the bodies of artifacts, which each database
// keeps in its own way.
type Store struct {
	driver    Driver
	writer    *groupcommit.Writer[storage.Tx]
	directory atomic.Pointer[directory] // agents as committed, shared by all readers

	damages *damages

	leases atomic.Pointer[func() int64] // a clock that stands in for the driver's

	mu     sync.Mutex // guards closed, and views against being joined once it is set
	closed bool
	views  sync.WaitGroup
	close  func() error
}

// New starts a store on an opened and migrated database. It owns the driver from now on.
func New(driver Driver) *Store {
	s := &Store{driver: driver, damages: newDamages()}
	session := newSession(driver, s.leaseNow, s.damages)
	s.writer = groupcommit.New[storage.Tx](session.conn, driver, session)
	s.directory.Store(newDirectory(0))
	s.close = sync.OnceValue(s.closeOnce)
	return s
}

// Update implements parley.Store.
func (s *Store) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return s.writer.Update(ctx, fn)
}

// View implements parley.Store.
func (s *Store) View(ctx context.Context, fn func(storage.Tx) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !s.enter() {
		return groupcommit.ErrClosed
	}
	defer s.views.Done()
	conn, err := s.driver.Reader(ctx)
	if err != nil {
		return err
	}
	defer s.driver.GiveBack(conn)
	if err := conn.Later(s.driver.BeginView()); err != nil {
		return s.driver.Explain(err)
	}
	// A snapshot has nothing to lose: ending it cannot fail in a way that matters.
	defer func() { _, _ = conn.Exec("ROLLBACK") }()
	t := &tx{conn: conn, explain: s.driver.Explain, clock: s.leaseNow, text: s.driver.Text(), shared: &s.directory, damages: s.damages}
	return t.run(fn)
}

// Probe implements parley.Prober.
func (s *Store) Probe(ctx context.Context) error {
	return s.Update(ctx, func(t storage.Tx) error {
		return t.(*tx).write("UPDATE counters SET repairs = repairs + 1")
	})
}

// SetLeaseClock replaces the lease clock, for whoever wants to move it.
func (s *Store) SetLeaseClock(now func() int64) { s.leases.Store(&now) }

func (s *Store) leaseNow(conn Conn) (int64, error) {
	if now := s.leases.Load(); now != nil {
		return (*now)(), nil
	}
	return s.driver.LeaseNow(conn)
}

// Halt refuses all updates with the given error until Resume; reads go on.
func (s *Store) Halt(err error) { s.writer.Halt(err) }

// Resume takes updates again.
func (s *Store) Resume() { s.writer.Resume() }

// enter counts a view that begins, unless the store is closed.
func (s *Store) enter() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.views.Add(1)
	}
	return !s.closed
}

// Close runs the updates that wait and the views that have begun, refuses new ones, and closes the
// database.
func (s *Store) Close() error { return s.close() }

func (s *Store) closeOnce() error {
	s.writer.Close()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.views.Wait()
	return s.driver.Close()
}
