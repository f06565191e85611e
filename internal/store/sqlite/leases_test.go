package sqlite

import (
	"context"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

// delivered posts a message for arya herself and makes something of its delivery.
func delivered(t *testing.T, db *DB, edit func(d *parley.Delivery, now parley.Tick)) {
	t.Helper()
	c, err := prepare(db)
	if err != nil {
		t.Fatal(err)
	}
	id, err := post(db, c, "hello")
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(context.Background(), func(tx storage.Tx) error {
		m, err := tx.Messages().Get(id)
		if err != nil {
			return err
		}
		made, err := tx.Deliveries().Insert(m, []parley.NewDelivery{{Agent: "arya", Wakes: true}})
		if err != nil {
			return err
		}
		now, err := tx.Queue().Now()
		if err != nil {
			return err
		}
		after := made[0]
		edit(&after, now)
		return tx.Deliveries().Put(made[0], after)
	})
	if err != nil {
		t.Fatal(err)
	}
}

// lapsed counts what has lapsed by now.
func lapsed(t *testing.T, db *DB) (n int) {
	t.Helper()
	err := db.View(t.Context(), func(tx storage.Tx) error {
		now, err := tx.Queue().Now()
		if err != nil {
			return err
		}
		list, err := tx.Queue().Lapsed(now, 100)
		n = len(list)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// Whoever had something was part of the process, or talked to it: whatever its lease said, it is over.
func TestLeasesEndWithTheProcess(t *testing.T) {
	home := t.TempDir()
	db := opened(t, home)
	for i, length := range []time.Duration{time.Second, time.Hour, 12 * time.Hour} {
		delivered(t, db, func(d *parley.Delivery, now parley.Tick) {
			d.State, d.Lease, d.Until = parley.DeliveryDelivered, uuid.NewString(), now.After(length)
		})
		delivered(t, db, func(d *parley.Delivery, now parley.Tick) { d.Attempt, d.Until = i+1, now.After(length) })
	}
	if n := lapsed(t, db); n > 0 {
		t.Fatalf("%d have lapsed while the process lives", n)
	}
	left, err := filesOf(home) // as a kill leaves it
	if err != nil {
		t.Fatal(err)
	}
	closed(t, db)
	for how, home := range map[string]string{"closed": home, "killed": left.in(t)} {
		again := opened(t, home)
		if n := lapsed(t, again); n != 6 {
			t.Errorf("%s: %d of 6 have lapsed at the next start", how, n)
		}
		delivered(t, again, func(d *parley.Delivery, now parley.Tick) { d.Until = now.After(time.Hour) })
		if n := lapsed(t, again); n != 6 {
			t.Errorf("%s: what the new process leased has lapsed", how)
		}
	}
}

func TestLeaseClockCountsRealTime(t *testing.T) {
	db := opened(t, t.TempDir())
	tick := func() (now parley.Tick) {
		if err := db.View(t.Context(), func(tx storage.Tx) (err error) { now, err = tx.Queue().Now(); return err }); err != nil {
			t.Fatal(err)
		}
		return now
	}
	began, first := time.Now(), tick()
	for tick() == first {
		if time.Since(began) > 10*time.Second {
			t.Fatal("it stands still")
		}
	}
	if gone, real := tick()-first, time.Since(began); gone > parley.Tick(real.Milliseconds()+1) {
		t.Errorf("%d ms have passed on it in %s", gone, real)
	}
}

func TestLeaseClockCanBeDriven(t *testing.T) {
	db := opened(t, t.TempDir())
	delivered(t, db, func(d *parley.Delivery, now parley.Tick) {
		d.State, d.Lease, d.Until = parley.DeliveryDelivered, uuid.NewString(), now.After(time.Hour)
	})
	db.SetLeaseClock(func() int64 { return int64(parley.Tick(0).After(2 * time.Hour)) })
	if n := lapsed(t, db); n != 1 {
		t.Errorf("%d have lapsed", n)
	}
}
