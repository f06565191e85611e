package feed

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

const (
	saveEvery  = time.Second
	maxUnsaved = 4096 // events and deliveries that are told again after a crash, and one batch
)

// cursor is how far a follower has come. It is stored later than it moves, so that not every post costs another commit for
// each who follows: what a crash forgets is told again.
type cursor struct {
	store     storage.Store
	name      string
	at        atomic.Int64     // the last event that was told; notBegun before it is known
	unsaved   int              // what was told since it was stored
	since     time.Time        // when the first of it was
	saveTimer <-chan time.Time // when to store it; nil: it is stored
}

const notBegun = -1

func newCursor(store storage.Store, name string) *cursor {
	c := &cursor{store: store, name: name}
	c.at.Store(notBegun)
	return c
}

// lastTaken is the last event that was told, unless that is not known yet.
func (c *cursor) lastTaken() (at int64, begun bool) {
	at = c.at.Load()
	return at, at != notBegun
}

// begin makes the cursor where there is none: from now on.
func (c *cursor) begin(ctx context.Context) error {
	err := c.store.View(ctx, func(tx storage.Tx) error {
		_, err := c.position(tx)
		return err
	})
	if !errors.Is(err, parley.ErrNotFound) {
		return err
	}
	var newest int64
	err = c.store.Update(ctx, func(tx storage.Tx) (err error) {
		if _, newest, err = tx.Log().Bounds(); err != nil {
			return err
		}
		return tx.Cursors().Move(c.name, 0, newest)
	})
	if errors.Is(err, parley.ErrTaken) { // another process has made it meanwhile
		return c.begin(ctx)
	}
	if err == nil {
		c.at.Store(newest)
	}
	return err
}

// position is the last event that was told, by this process or another that follows by the same name.
func (c *cursor) position(tx storage.Tx) (int64, error) {
	stored, err := tx.Cursors().Get(c.name)
	if err == nil && stored > c.at.Load() {
		c.at.Store(stored)
	}
	return c.at.Load(), err
}

// advance notes that a batch was told.
func (c *cursor) advance(batch []Followed) {
	c.at.Store(batch[len(batch)-1].Num)
	for _, f := range batch {
		c.unsaved += 1 + len(f.Deliveries)
	}
	if c.saveTimer == nil {
		c.since, c.saveTimer = time.Now(), time.After(saveEvery)
	}
}

// saveIsDue says whether it is time to store it.
func (c *cursor) saveIsDue() bool {
	return c.saveTimer != nil && (c.unsaved >= maxUnsaved || time.Since(c.since) >= saveEvery)
}

// save stores it, if it has moved. Where another process has come further, that stays.
func (c *cursor) save(ctx context.Context) error {
	if c.saveTimer == nil {
		return nil
	}
	at := c.at.Load()
	err := c.store.Update(ctx, func(tx storage.Tx) error {
		stored, err := tx.Cursors().Get(c.name)
		if err != nil || stored >= at {
			return err
		}
		return tx.Cursors().Move(c.name, stored, at)
	})
	if errors.Is(err, parley.ErrTaken) {
		return c.save(ctx)
	}
	if err == nil {
		c.unsaved, c.saveTimer = 0, nil
	}
	return err
}
