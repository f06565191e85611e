package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"path/filepath"
	"slices"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/store/sqlite"
)

// drain takes, acknowledges and prints all unsettled deliveries. Each one must come once, with the right number of failed attempts.
// After that no delivery may be left.
func drain(ctx context.Context, home string, printed io.Reader) error {
	l, err := readLedger(printed)
	if err != nil {
		return err
	}
	h, db, err := open(ctx, home)
	if err != nil {
		return err
	}
	if err := errors.Join(drainAll(ctx, h, db, l), db.Close()); err != nil {
		return err
	}
	path := filepath.Join(home, "parley.db")
	return errors.Join(checkRows(ctx, path, disagreements), checkRows(ctx, path, leftovers))
}

// maxPasses is more than enough: the first pass ends the leases, the second pass ends the pauses after them.
const maxPasses = 5

func drainAll(ctx context.Context, h *hub.Hub, db *sqlite.DB, l *ledger) error {
	remaining := map[key]bool{}
	err := eachDelivery(ctx, db, func(d parley.Delivery) error {
		if d.Open() {
			remaining[key{d.Recipient, d.Message}] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	var now parley.Tick
	if err := db.View(ctx, func(tx storage.Tx) (err error) { now, err = tx.Queue().Now(); return err }); err != nil {
		return err
	}
	db.SetLeaseClock(func() int64 { return int64(now) })
	for range maxPasses {
		now = now.After(24 * time.Hour)
		if err := h.SweepDeliveries(ctx); err != nil {
			return err
		}
		for _, caller := range participants() {
			if err := drainOne(ctx, h, caller, l, remaining); err != nil {
				return err
			}
		}
	}
	if len(remaining) > 0 {
		return fmt.Errorf("%d deliveries never came, one of them %v", len(remaining), slices.Collect(maps.Keys(remaining))[0])
	}
	return checkEmpty(ctx, h)
}

func participants() []hub.Caller {
	all := []hub.Caller{{Agent: parley.Owner}}
	for n := range agents {
		all = append(all, hub.Caller{Agent: agentID(n)})
	}
	return all
}

// drainOne takes and acknowledges the deliveries that are ready for one participant. It removes them from the remaining ones, and
// fails if a delivery is not among them.
func drainOne(ctx context.Context, h *hub.Hub, caller hub.Caller, l *ledger, remaining map[key]bool) error {
	for {
		taken, err := h.Take(ctx, caller, parley.Take{Limit: 500, Lease: 12 * time.Hour})
		if err != nil || len(taken.Deliveries) == 0 {
			return err
		}
		for _, d := range taken.Deliveries {
			k := key{d.Recipient, d.Message}
			if err := l.take(k, d.Attempt); err != nil {
				return fmt.Errorf("%v: %w", k, err)
			}
			if !remaining[k] {
				return fmt.Errorf("%v was taken twice, or was not open", k)
			}
			delete(remaining, k)
			// Victims have printed each take, except the last one before a kill. So each life may add one attempt that was not printed.
			if earlier := l.takeCount[k] - 1; d.Attempt < earlier || d.Attempt > earlier+l.lives {
				return fmt.Errorf("%v was taken %d times in %d lives, and counts %d failed tries", k, earlier, l.lives, d.Attempt)
			}
		}
		list, err := h.Ack(ctx, caller, taken.Lease, ids(taken.Deliveries)...)
		if err != nil {
			return err
		}
		if err := printLines(settledLines(list)...); err != nil {
			return err
		}
	}
}

func checkEmpty(ctx context.Context, h *hub.Hub) error {
	for _, caller := range participants() {
		peeked, err := h.Peek(ctx, caller, 1)
		if err != nil {
			return err
		}
		if len(peeked.Deliveries) > 0 || peeked.Inbox != (parley.Inbox{}) {
			return fmt.Errorf("%s has still %+v in the inbox, and %d deliveries", caller.Agent, peeked.Inbox, len(peeked.Deliveries))
		}
	}
	return nil
}

// leftovers are queries that must find nothing once everything is drained.
var leftovers = map[string]string{
	"leases or pauses that nobody has":      `SELECT message FROM deliveries WHERE lease IS NOT NULL OR timer IS NOT NULL`,
	"deliveries that are not settled":       `SELECT message FROM deliveries WHERE state NOT IN ('acked', 'answered') OR settled_at IS NULL`,
	"deliveries for which something is due": `SELECT message FROM deliveries WHERE next_at IS NOT NULL`,
}
