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
	saveEvery = time.Second
	// maxUnsaved is how many events and deliveries a crash makes a follower get again, beside one batch.
	maxUnsaved = 4096
)

// cursor is the position of a follower. The hub stores it later than it moves, so that not every post costs another commit for
// each follower. After a crash the follower gets the events since the stored position again.
type cursor struct {
	store     storage.Store
	name      string
	at        atomic.Int64     // the last event that the follower has taken; notBegun while that is unknown
	unsaved   int              // how many events and deliveries it has taken since at was stored
	since     time.Time        // when it took the first of them
	saveTimer <-chan time.Time // fires when at must be stored; nil: at is stored
}

const notBegun = -1

func newCursor(store storage.Store, name string) *cursor {
	c := &cursor{store: store, name: name}
	c.at.Store(notBegun)
	return c
}

// lastTaken returns the last event that the follower has taken. begun is false while that is unknown.
func (c *cursor) lastTaken() (at int64, begun bool) {
	at = c.at.Load()
	return at, at != notBegun
}

// begin stores a cursor at the newest event if none is stored.
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
	if errors.Is(err, parley.ErrTaken) { // another process has stored one in the meantime
		return c.begin(ctx)
	}
	if err == nil {
		c.at.Store(newest)
	}
	return err
}

// position returns the last event that a follower of this name has taken, in this process or another one.
func (c *cursor) position(tx storage.Tx) (int64, error) {
	stored, err := tx.Cursors().Get(c.name)
	if err == nil && stored > c.at.Load() {
		c.at.Store(stored)
	}
	return c.at.Load(), err
}

// advance moves the cursor past a batch.
func (c *cursor) advance(batch []Followed) {
	c.at.Store(batch[len(batch)-1].Num)
	for _, f := range batch {
		c.unsaved += 1 + len(f.Deliveries)
	}
	if c.saveTimer == nil {
		c.since, c.saveTimer = time.Now(), time.After(saveEvery)
	}
}

// saveIsDue reports whether the cursor must be stored now.
func (c *cursor) saveIsDue() bool {
	return c.saveTimer != nil && (c.unsaved >= maxUnsaved || time.Since(c.since) >= saveEvery)
}

// save stores the cursor if it has moved. If another process has stored a later position, that stays.
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
