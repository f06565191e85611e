package hub_test

import (
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/hubtest"
	"github.com/parley-hub/parley/internal/pgtest"
	"github.com/parley-hub/parley/internal/store/postgres"
)

// TestServerRestartedUnderTakers stops the server at once and starts it again while four consumers of one
// inbox take and acknowledge: what was acknowledged never comes back, everything else does.
func TestServerRestartedUnderTakers(t *testing.T) {
	if stores.Name != "PostgreSQL" {
		return // there is no server
	}
	t.Parallel()
	const deliveries, restarts = 200, 4
	server := pgtest.Private(t, pgtest.Options{Durable: true})
	w := ownServer(t, server.URL("postgres"))
	w.AddAgents("arya", "ned")
	_, err := w.ChangeAgent(ctx, user, "ned", func(a *parley.Agent) error {
		a.InboxDepth, a.Attempts = deliveries, 100 // a slow machine may lose many leases
		return nil
	})
	w.NoError(err)
	for range deliveries {
		w.SendDM("arya", "ned", "hello")
	}
	w.Start(ctx)
	acked := &ledger{acked: map[string]bool{}, t: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		inParallel(4, func(int) { acked.drain(w, deliveries) })
	}()
	for range restarts {
		if err := server.Restart(); err != nil {
			t.Error(err)
		}
		if err := server.Ready(); err != nil {
			t.Error(err)
		}
	}
	<-done
	same(t, "left", w.InboxOf("ned"), parley.Inbox{})
	w.AssertConsistent()
}

// ownServer returns a hub on a database server of its own, with the lease clock of that server.
func ownServer(t *testing.T, url string) *fixture {
	t.Helper()
	db, err := postgres.Open(ctx, url)
	if err != nil {
		t.Fatal(err)
	}
	w := &fixture{&hubtest.Fixture{T: t, Store: db}}
	w.Hub, err = hub.New(ctx, db, hub.Config{
		Rate: hub.Rate{PerSecond: -1, Burst: 1}, DueEvery: 100 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
		Loops: hub.Loops{Exchanges: 1 << 30},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(w.Close)
	return w
}

// ledger holds the deliveries that consumers have settled.
type ledger struct {
	t     *testing.T
	mu    sync.Mutex
	acked map[string]bool
}

func (l *ledger) note(id string, now bool) (before bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	before = l.acked[id]
	l.acked[id] = before || now
	return before
}

func (l *ledger) full(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	count := 0
	for _, acked := range l.acked {
		if acked {
			count++
		}
	}
	return count >= n
}

// drain takes and acknowledges messages until all are acknowledged. It ignores errors.
func (l *ledger) drain(w *fixture, n int) {
	for !l.full(n) {
		taken, err := w.Take(ctx, as("ned"), parley.Take{Limit: 5, Lease: time.Second, Wait: 200 * time.Millisecond})
		if err != nil {
			continue
		}
		for _, d := range taken.Deliveries {
			if l.note(d.Message, false) {
				l.t.Errorf("%s was taken though it was settled", d.Message)
			}
			if _, err := w.Ack(ctx, as("ned"), taken.Lease, d.Message); err == nil {
				l.note(d.Message, true)
			}
		}
	}
}
