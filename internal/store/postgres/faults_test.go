package postgres

import (
	"context"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/pgtest"
)

// every says yes to each nth that a test holds for.
func every(n int64, holds func([]byte, bool) bool) func([]byte, bool) bool {
	var seen atomic.Int64
	return func(data []byte, fromServer bool) bool { return holds(data, fromServer) && seen.Add(1)%n == 0 }
}

// Cut before the COMMIT gets there, or after it was carried out and before its answer is heard: what
// was acknowledged is there, once.
func TestConnectionsCutInTheMiddleOfCommits(t *testing.T) {
	server := pgtest.Private(t, pgtest.Options{TCP: true})
	for name, cut := range map[string]func([]byte, bool) bool{
		"before it gets there":     every(3, asksToCommit),
		"before its answer":        every(3, saysCommitted),
		"each first answer of two": every(2, saysCommitted),
	} {
		t.Run(name, func(t *testing.T) {
			database := "db_" + uuid.NewString()[:8]
			raw(t, server.URL("postgres"), "CREATE DATABASE "+database)
			var cuts atomic.Int64
			through := newProxy(t, server.Addr(), func(data []byte, fromServer bool) bool {
				if cut(data, fromServer) {
					cuts.Add(1)
					return true
				}
				return false
			})
			calm := opened(t, server.URL(database))
			c := prepare(t, calm)
			cutOff := opened(t, "postgres://parley@"+through.listener.Addr().String()+"/"+database)
			cutOff.dialer.reconnectTime = time.Minute
			ids := posts(t, []*DB{cutOff, calm}, c, 4, 20)
			holds(t, calm, ids)
			if cuts.Load() < 3 {
				t.Errorf("only %d connections were cut", cuts.Load())
			}
		})
	}
}

// terminate ends the connection of the transaction that is open in a database.
func terminate(t *testing.T, address string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() { _ = c.Close(context.WithoutCancel(t.Context())) }()
	const open = "FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'"
	ended := 0
	if err := c.QueryRow(t.Context(), "SELECT count(pg_terminate_backend(pid)) "+open).Scan(&ended); err != nil || ended != 1 {
		t.Errorf("%d were terminated: %v", ended, err)
	}
	for left := 1; left > 0 && err == nil; {
		err = c.QueryRow(t.Context(), "SELECT count(*) "+open).Scan(&left)
	}
	if err != nil {
		t.Error(err)
	}
}

func TestConnectionTerminatedInTheMiddleOfABatch(t *testing.T) {
	address := migrated.Copy(t)
	db := opened(t, address)
	c := prepare(t, db)
	var (
		ids  = []string{uuid.NewString(), uuid.NewString(), uuid.NewString(), uuid.NewString()}
		runs [4]atomic.Int64
		held = make(chan struct{})
		gate = make(chan struct{})
		told sync.WaitGroup
	)
	update := func(i int, during func()) {
		told.Go(func() {
			err := db.Update(t.Context(), func(tx storage.Tx) error {
				if err := posting(c, ids[i], "hello")(tx); err != nil {
					return err
				}
				if runs[i].Add(1) == 1 {
					during()
				}
				return tx.Log().Append() // and on it goes
			})
			if err != nil {
				t.Errorf("update %d was told %v", i, err)
			}
		})
	}
	update(0, func() {
		close(held)
		<-gate
	})
	<-held
	for i := 1; i < len(ids); i++ {
		update(i, func() {
			if i == 2 {
				terminate(t, address)
			}
		})
	}
	close(gate)
	told.Wait()
	holds(t, db, ids)
	if runs[2].Load() < 2 {
		t.Error("the one that was cut off ran once")
	}
}

func TestConnectionsThatEndWhileIdleAreReplaced(t *testing.T) {
	address := migrated.Copy(t)
	db := opened(t, address)
	c := prepare(t, db)
	for range 3 {
		id := post(t, db, c, "hello")
		find := func(tx storage.Tx) error {
			_, err := tx.Messages().Get(id)
			return err
		}
		if err := db.View(t.Context(), find); err != nil {
			t.Error(err)
		}
		raw(t, address, `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
			WHERE datname = current_database() AND pid <> pg_backend_pid()`)
		if err := db.View(t.Context(), find); err != nil {
			t.Errorf("a view was told %v", err)
		}
	}
}

// The server is stopped at once and started again, several times, while hubs post.
func TestServerRestartedUnderPosts(t *testing.T) {
	server := pgtest.Private(t, pgtest.Options{Durable: true})
	hubs := []*DB{opened(t, server.URL("postgres")), opened(t, server.URL("postgres"))}
	for _, db := range hubs {
		db.dialer.reconnectTime = time.Minute
	}
	c := prepare(t, hubs[0])
	done := make(chan []string)
	go func() { done <- posts(t, hubs, c, 4, 60) }()
	restarts := 0
	for {
		select {
		case ids := <-done:
			if restarts == 0 {
				t.Error("it was never restarted")
			}
			holds(t, hubs[0], ids)
			return
		default:
		}
		if restarts == 5 {
			ids := <-done
			holds(t, hubs[0], ids)
			return
		}
		if err := server.Restart(); err != nil {
			t.Error(err)
		}
		if err := server.Ready(); err != nil {
			t.Error(err)
		}
		restarts++
	}
}

// unavailable requires E002 with a hint, and that trying again is worth it.
func unavailable(t *testing.T, err error) {
	t.Helper()
	if e := parley.AsError(err); err == nil || e.Code != parley.Unavailable || !e.Recoverable || e.Suggestion == "" {
		t.Errorf("told %v", err)
	}
}

func TestServerThatIsGoneForLong(t *testing.T) {
	server := pgtest.Private(t, pgtest.Options{})
	db := opened(t, server.URL("postgres"))
	c := prepare(t, db)
	ids := []string{post(t, db, c, "before")}
	db.dialer.reconnectTime, db.dialer.refuseTime = 50*time.Millisecond, time.Hour
	if err := server.Crash(); err != nil {
		t.Fatal(err)
	}
	ran := 0
	for range 3 {
		unavailable(t, db.Update(t.Context(), func(tx storage.Tx) error {
			ran++
			return posting(c, uuid.NewString(), "during")(tx)
		}))
	}
	if ran > 4 { // once more for the first, which did not know yet
		t.Errorf("%d tries", ran)
	}
	unavailable(t, db.View(t.Context(), func(tx storage.Tx) error {
		_, err := tx.Agents().List()
		return err
	}))
	if err := server.Run(); err != nil {
		t.Fatal(err)
	}
	if err := server.Ready(); err != nil {
		t.Fatal(err)
	}
	db.dialer.reconnectTime, db.dialer.refuseTime = time.Minute, 0
	ids = append(ids, post(t, db, c, "after"))
	holds(t, db, ids)
}

func TestAHubThatHangsHoldsNobodyUpForEver(t *testing.T) {
	address := migrated.Copy(t)
	limited := func(name, value string) *DB {
		return opened(t, with(t, address, func(u *url.URL) { u.RawQuery += "&" + name + "=" + value }))
	}
	db, other := limited("idle_in_transaction_session_timeout", "60s"), limited("lock_timeout", "50ms")
	c := prepare(t, db)
	err := db.Update(t.Context(), func(tx storage.Tx) error {
		if _, err := tx.Messages().NextSeq(); err != nil {
			return err
		}
		unavailable(t, other.Update(t.Context(), posting(c, uuid.NewString(), "waiting")))
		return nil
	})
	if err != nil {
		t.Error(err)
	}
	short := limited("idle_in_transaction_session_timeout", "200ms")
	ran := 0
	err = short.Update(t.Context(), func(tx storage.Tx) error {
		if _, err := tx.Messages().NextSeq(); err != nil {
			return err
		}
		if ran++; ran == 1 { // the server ends what hangs, and the other gets its turn
			post(t, db, c, "meanwhile")
		}
		_, err := tx.Agents().List()
		return err
	})
	if err != nil || ran < 2 {
		t.Errorf("the one that hung ran %d times and was told %v", ran, err)
	}
}
