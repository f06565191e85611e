package postgres

import (
	"context"
	"fmt"
	"strconv"
	"sync"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/parley-hub/parley"
)

// two are two hubs' stores on one database.
func two(t *testing.T) [2]*DB {
	t.Helper()
	address := migrated.Copy(t)
	return [2]*DB{opened(t, address), opened(t, address)}
}

// posts has several senders of each hub post at once and returns what was acknowledged.
func posts(t *testing.T, hubs []*DB, c parley.Conversation, senders, each int) (ids []string) {
	t.Helper()
	var (
		group sync.WaitGroup
		mu    sync.Mutex
	)
	for i, db := range hubs {
		for sender := range senders {
			group.Go(func() {
				for n := range each {
					id := post(t, db, c, fmt.Sprintf("%d of sender %d of hub %d", n, sender, i))
					mu.Lock()
					ids = append(ids, id)
					mu.Unlock()
				}
			})
		}
	}
	group.Wait()
	return ids
}

func TestHubsPostInOneOrderThatReadersSeeRise(t *testing.T) {
	hubs := two(t)
	c := prepare(t, hubs[0])
	done, read := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(read)
		for last, ended := int64(0), false; !ended; {
			select {
			case <-done:
				ended = true // after one more look
			default:
			}
			last = rises(t, hubs[1], last)
		}
	}()
	ids := posts(t, hubs[:], c, 4, 25)
	close(done)
	<-read
	holds(t, hubs[0], ids)
}

// rises reads on and requires that nothing was left out or comes late: numbers go up by one.
func rises(t *testing.T, db *DB, last int64) int64 {
	err := db.View(t.Context(), func(tx storage.Tx) error {
		list, err := tx.Messages().Scan(last, 1000)
		for _, m := range list {
			if m.Seq != last+1 {
				return fmt.Errorf("%d was followed by %d", last, m.Seq)
			}
			last = m.Seq
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
	return last
}

func TestUpdatesOfHubsComeOneAfterTheOther(t *testing.T) {
	hubs := two(t)
	c := prepare(t, hubs[0])
	const senders, each = 3, 20
	count := func(tx storage.Tx) error {
		found, err := tx.Conversations().Find(c.ID)
		if err != nil {
			return err
		}
		n, _ := strconv.Atoi(found.Topic)
		found.Topic = strconv.Itoa(n + 1)
		return tx.Conversations().Put(found)
	}
	var group sync.WaitGroup
	for i := range senders * len(hubs) {
		group.Go(func() {
			for range each {
				if err := hubs[i%len(hubs)].Update(t.Context(), count); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	err := hubs[0].View(t.Context(), func(tx storage.Tx) error {
		found, err := tx.Conversations().Find(c.ID)
		if want := strconv.Itoa(senders * len(hubs) * each); found.Topic != want {
			t.Errorf("counted to %s, want %s", found.Topic, want)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestARunIsChangedByOneHubAtATime counts in a run what two hubs do to it.
func TestARunIsChangedByOneHubAtATime(t *testing.T) {
	hubs := two(t)
	c := prepare(t, hubs[0])
	run := parley.Run{ID: uuid.NewString(), Agent: "arya", Conversation: c.ID, Runtime: "script", State: parley.RunRunning}
	if err := hubs[0].Update(t.Context(), func(tx storage.Tx) error { return tx.Runs().Insert(run) }); err != nil {
		t.Fatal(err)
	}
	count := func(tx storage.Tx) error {
		found, err := tx.Runs().Get(run.ID)
		if err != nil {
			return err
		}
		found.Attempt++
		return tx.Runs().Put(found)
	}
	const each = 40
	var group sync.WaitGroup
	for _, db := range hubs {
		group.Go(func() {
			for range each {
				if err := db.Update(t.Context(), count); err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	err := hubs[1].View(t.Context(), func(tx storage.Tx) error {
		found, err := tx.Runs().Get(run.ID)
		if found.Attempt != len(hubs)*each {
			t.Errorf("counted to %d, want %d", found.Attempt, len(hubs)*each)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestARunIsKeptFromOthersUntilTheEndOfTheUpdate looks at the lock itself: updates of hubs come one after the
// other, but a program beside them has no such order.
func TestARunIsKeptFromOthersUntilTheEndOfTheUpdate(t *testing.T) {
	url := migrated.Copy(t)
	db := opened(t, url)
	c := prepare(t, db)
	run := parley.Run{ID: uuid.NewString(), Agent: "arya", Conversation: c.ID, Runtime: "script", State: parley.RunRunning}
	other, err := pgx.Connect(t.Context(), url)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = other.Close(context.Background()) })
	free := func() (n int, err error) {
		err = other.QueryRow(t.Context(), "SELECT count(*) FROM (SELECT 1 FROM runs FOR UPDATE SKIP LOCKED) r").Scan(&n)
		return n, err
	}
	if err := db.Update(t.Context(), func(tx storage.Tx) error { return tx.Runs().Insert(run) }); err != nil {
		t.Fatal(err)
	}
	var inside int
	err = db.Update(t.Context(), func(tx storage.Tx) error {
		if _, err := tx.Runs().Get(run.ID); err != nil {
			return err
		}
		inside, err = free()
		return err
	})
	after, failed := free()
	if err != nil || failed != nil || inside != 0 || after != 1 {
		t.Errorf("%d runs are free during the update, and %d after it: %v, %v", inside, after, err, failed)
	}
}

func TestAgentsChangedByOneHubAreKnownToTheOther(t *testing.T) {
	hubs := two(t)
	prepare(t, hubs[0])
	role := func(db *DB, how func(*DB) func(func(storage.Tx) error) error) (role string) {
		err := how(db)(func(tx storage.Tx) error {
			a, err := tx.Agents().Find("Arya")
			role = a.Role
			return err
		})
		if err != nil {
			t.Error(err)
		}
		return role
	}
	view := func(db *DB) func(func(storage.Tx) error) error {
		return func(fn func(storage.Tx) error) error { return db.View(t.Context(), fn) }
	}
	update := func(db *DB) func(func(storage.Tx) error) error {
		return func(fn func(storage.Tx) error) error { return db.Update(t.Context(), fn) }
	}
	for i := range 4 { // each hub has known it before the other changes it
		want := fmt.Sprint("role ", i)
		err := hubs[i%2].Update(t.Context(), func(tx storage.Tx) error {
			a, err := tx.Agents().Find("arya")
			a.Role = want
			if err == nil {
				err = tx.Agents().Put(a)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		for _, db := range hubs {
			if read, written := role(db, view), role(db, update); read != want || written != want {
				t.Errorf("the role is %q to a view and %q to an update, want %q", read, written, want)
			}
		}
	}
}
