package store

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/parley-hub/parley/internal/storage"
	"github.com/parley-hub/parley/internal/store/groupcommit"
)

// Store implements storage.Store on a SQL database, except for Blobs: each database stores bodies in its own way.
type Store struct {
	driver    Driver
	writer    *groupcommit.Writer[storage.Tx]
	directory atomic.Pointer[directory] // the committed agents, shared by all readers

	damages *damages

	leases atomic.Pointer[func() int64] // replaces the driver's lease clock if it is set

	mu     sync.Mutex // guards closed, and keeps a view from starting after closed is set
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

// Update implements storage.Store.
func (s *Store) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return s.writer.Update(ctx, fn)
}

// View implements storage.Store.
func (s *Store) View(ctx context.Context, fn func(storage.Tx) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !s.beginView() {
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
	// A snapshot has no changes to lose, so an error at its end does not matter.
	defer func() { _, _ = conn.Exec("ROLLBACK") }()
	t := &tx{conn: conn, explain: s.driver.Explain, clock: s.leaseNow, text: s.driver.Text(), shared: &s.directory, damages: s.damages}
	return t.run(fn)
}

// Probe implements storage.Prober.
func (s *Store) Probe(ctx context.Context) error {
	return s.Update(ctx, func(t storage.Tx) error {
		return t.(*tx).write("UPDATE counters SET repairs = repairs + 1")
	})
}

// SetLeaseClock replaces the lease clock. Tests use it to move the clock.
func (s *Store) SetLeaseClock(now func() int64) { s.leases.Store(&now) }

func (s *Store) leaseNow(conn Conn) (int64, error) {
	if now := s.leases.Load(); now != nil {
		return (*now)(), nil
	}
	return s.driver.LeaseNow(conn)
}

// Halt refuses all updates with the given error until Resume. Views still run.
func (s *Store) Halt(err error) { s.writer.Halt(err) }

// Resume accepts updates again.
func (s *Store) Resume() { s.writer.Resume() }

// beginView counts a view that begins. It returns false if the store is closed.
func (s *Store) beginView() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.closed {
		s.views.Add(1)
	}
	return !s.closed
}

// Close refuses new updates and views, waits for the pending updates and the running views, and closes the database.
func (s *Store) Close() error { return s.close() }

func (s *Store) closeOnce() error {
	s.writer.Close()
	s.mu.Lock()
	s.closed = true
	s.mu.Unlock()
	s.views.Wait()
	return s.driver.Close()
}
