package costtest

import (
	"context"
	"log/slog"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/pgtest"
	"github.com/parley-hub/parley/internal/store"
	"github.com/parley-hub/parley/internal/store/postgres"
	"github.com/parley-hub/parley/internal/store/sqlite"
)

// database is a store whose costs are counted.
type database interface {
	storage.Store
	Close() error
	Measure(*store.Meter)
}

// kind is one of the databases that the hub can use.
type kind struct {
	name   string
	create func(testing.TB) string // makes an empty database and returns its directory or URL
	open   func(address string) (database, error)
}

var kinds = []kind{
	{
		"SQLite",
		func(t testing.TB) string { return filepath.Join(t.TempDir(), "home") },
		func(home string) (database, error) { return sqlite.Open(ctx, home) },
	},
	{
		"PostgreSQL",
		migrated.Copy,
		func(url string) (database, error) { return postgres.Open(ctx, url) },
	},
}

// migrated is a PostgreSQL database with all tables and no rows.
var migrated = &pgtest.Template{Make: func(url string) error {
	db, err := postgres.Open(ctx, url)
	if err != nil {
		return err
	}
	return db.Close()
}}

var (
	ctx   = context.Background()
	owner = hub.Caller{Agent: parley.Owner}
)

// clock is the time that the hub sees. It advances by a second with each step of a use case.
type clock struct{ seconds atomic.Int64 }

func (c *clock) Now() time.Time {
	return time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC).Add(time.Duration(c.seconds.Load()) * time.Second)
}

// measuredHub is a hub on an empty database.
type measuredHub struct {
	*hub.Hub
	t     *testing.T
	clock *clock
	meter *store.Meter
	store *countingStore
	db    database
}

func newMeasuredHub(t *testing.T, k kind, address string) *measuredHub {
	t.Helper()
	db, err := k.open(address)
	if err != nil {
		t.Fatal(err)
	}
	h := &measuredHub{t: t, clock: &clock{}, meter: &store.Meter{}, db: db, store: &countingStore{Store: db}}
	db.Measure(h.meter)
	unlimited := hub.Rate{PerSecond: -1}
	h.Hub, err = hub.New(ctx, h.store, hub.Config{
		Clock: h.clock, Log: slog.New(slog.DiscardHandler), Rate: unlimited, Load: hub.Load{Reads: unlimited},
	})
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func (h *measuredHub) close() {
	h.t.Helper()
	h.Stop()
	h.ok(h.db.Close())
}

// ok ends the test if there is an error.
func (h *measuredHub) ok(err error) {
	h.t.Helper()
	if err != nil {
		h.t.Fatalf("unexpected error: %v", err)
	}
}

// must returns a function that returns a result and ends the test if there is an error.
func must[T any](h *measuredHub) func(T, error) T {
	return func(result T, err error) T {
		h.t.Helper()
		h.ok(err)
		return result
	}
}

// oneAtATime is a store that counts its calls. It runs one view at a time, so that all views use the same connection.
type countingStore struct {
	storage.Store
	reading        sync.Mutex
	views, updates atomic.Int64
}

func (s *countingStore) View(ctx context.Context, fn func(storage.Tx) error) error {
	s.views.Add(1)
	s.reading.Lock()
	defer s.reading.Unlock()
	return s.Store.View(ctx, fn)
}

func (s *countingStore) Update(ctx context.Context, fn func(storage.Tx) error) error {
	s.updates.Add(1)
	return s.Store.Update(ctx, fn)
}
