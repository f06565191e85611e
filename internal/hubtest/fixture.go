// Package hubtest is a hub for tests: on a real store, with clocks that the test drives, and with methods for the steps that
// tests are made of. A step that fails ends the test.
package hubtest

import (
	"context"
	"log/slog"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// Tester has the methods of a test, or of one check of a property, that a fixture needs.
type Tester interface {
	Helper()
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
	Cleanup(func())
}

// Fixture is a hub on a real store, with clocks that the test drives.
type Fixture struct {
	*hub.Hub
	T      Tester
	Clock  *Clock
	Leases *LeaseClock // nil: the lease clock of the store
	Store  Store
	Kind   StoreKind
	Place  string // of the store
	Config hub.Config
	// WrapStore is put between the hub and the store. The default is Diskless.
	WrapStore func(storage.Store) storage.Store
	closed    bool // the store
}

// Began is the time at which the clock of a fixture begins.
var Began = time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC)

var ctx = context.Background()

// Owner is the owner of the hub as a caller.
var Owner = As(parley.Owner)

// As returns a caller with all the rights of a participant.
func As(id string) hub.Caller { return hub.Caller{Agent: id, Source: "test"} }

// New opens a hub on the store at a place, until the end of the test. The changes are made before the hub is opened.
func New(t Tester, kind StoreKind, place string, change ...func(*Fixture)) *Fixture {
	t.Helper()
	f := &Fixture{T: t, Clock: &Clock{now: Began}, Leases: &LeaseClock{}, Kind: kind, Place: place, WrapStore: Diskless}
	f.Config.Clock, f.Config.Log = f.Clock, slog.New(slog.DiscardHandler)
	f.Config.DueEvery = time.Hour // the test sweeps
	for _, edit := range change {
		edit(f)
	}
	f.Open()
	t.Cleanup(f.Close)
	return f
}

// RealTime makes a fixture use the clocks of the machine, and makes the hub handle due work by itself.
func RealTime(f *Fixture) { f.Leases, f.Config.Clock, f.Config.DueEvery = nil, nil, 0 }

// Diskless returns a store without the method that reports the free space of its disk. So the disk of the machine that runs the
// tests does not affect them.
func Diskless(s storage.Store) storage.Store {
	return struct {
		storage.Store
		storage.DamageSource
	}{s, s.(storage.DamageSource)}
}

// Open opens the store and makes the hub. By the lease clock of a fixture, all leases of an earlier process have ended.
func (f *Fixture) Open() {
	f.T.Helper()
	var err error
	if f.Store, err = f.Kind.Open(f.Place); err != nil {
		f.T.Fatalf("open the store: %v", err)
	}
	f.closed = false
	if f.Leases != nil {
		f.Leases.Advance(24 * time.Hour) // leases end with the process
		f.Store.SetLeaseClock(f.Leases.Now)
	}
	if f.Hub, err = hub.New(ctx, f.WrapStore(f.Store), f.Config); err != nil {
		f.T.Fatalf("make the hub: %v", err)
	}
}

// Close stops the hub and closes its store.
func (f *Fixture) Close() {
	f.T.Helper()
	f.Stop()
	f.CloseStore()
}

// CloseStore closes the store under the hub, unless it is closed.
func (f *Fixture) CloseStore() {
	f.T.Helper()
	if f.closed {
		return
	}
	f.closed = true
	if err := f.Store.Close(); err != nil {
		f.T.Fatalf("close the store: %v", err)
	}
}

// Restart ends the hub as if its process had ended, and opens it again.
func (f *Fixture) Restart() {
	f.T.Helper()
	f.Close()
	f.Open()
}

// RestartAndRecover restarts the hub and does the first step of Start: the hub returns the leases of its former process.
func (f *Fixture) RestartAndRecover() {
	f.T.Helper()
	f.Restart()
	f.NoError(f.Recover(ctx))
}

// AssertConsistent fails the test if a deep check of the store finds anything.
func (f *Fixture) AssertConsistent() {
	f.T.Helper()
	report, err := f.Store.CheckDeep(ctx, nil)
	f.NoError(err)
	f.NoError(report.Err())
}

// NoError ends the test at an error that the test does not expect.
func (f *Fixture) NoError(err error) {
	f.T.Helper()
	if err != nil {
		f.T.Fatalf("unexpected error: %v", err)
	}
}

// AssertCode ends the test if an error does not have a code.
func (f *Fixture) AssertCode(code parley.Code, err error) {
	f.T.Helper()
	if parley.CodeOf(err) != code {
		f.T.Fatalf("the error is %v, want %s", err, code)
	}
}

// Result returns a function for calls of which only the result matters. It ends the test if the call fails.
func Result[Value any](f *Fixture) func(Value, error) Value {
	return func(v Value, err error) Value {
		f.T.Helper()
		f.NoError(err)
		return v
	}
}
