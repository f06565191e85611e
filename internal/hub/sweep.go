package hub

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/parley-hub/parley"
)

const (
	// ephemeralIdle is how long an ephemeral conversation without open delivery stays in view.
	ephemeralIdle = 24 * time.Hour
	sweepMost     = 10_000
	sweepBatch    = 200
	purgeBatch    = 1000
)

func (h *Hub) sweepRegularly(ctx context.Context, started func()) {
	h.regularly(ctx, started, h.config.SweepEvery, h.Sweep)
}

// regularly calls sweep until ctx is done.
func (h *Hub) regularly(ctx context.Context, started func(), every time.Duration, sweep func(context.Context) error) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	started()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := sweep(ctx); err != nil && ctx.Err() == nil {
				h.config.Log.Error("sweeping failed, will try again", "error", err)
			}
		}
	}
}

// Sweep does what is due with time: archives what has been idle for long, forgets old idempotency
// keys, erases what was deleted and removes artifacts nobody refers to. It works in small updates, so that nobody waits for it.
func (h *Hub) Sweep(ctx context.Context) error {
	err := h.archiveIdle(ctx, parley.IdleFilter{
		Kinds: []parley.ConversationKind{parley.Ephemeral}, Since: h.now().Add(-ephemeralIdle), Settled: true,
	})
	if err != nil {
		return err
	}
	if h.config.AutoArchive > 0 {
		err := h.archiveIdle(ctx, parley.IdleFilter{
			Kinds: []parley.ConversationKind{parley.Channel, parley.Group, parley.DM}, Since: h.now().Add(-h.config.AutoArchive),
		})
		if err != nil {
			return err
		}
	}
	if err := h.failOrphaned(ctx); err != nil {
		return err
	}
	if err := h.repeat(ctx, func(tx parley.Tx) (int, error) {
		return tx.Messages().ForgetKeys(h.now().Add(-keyMemory), purgeBatch)
	}); err != nil {
		return err
	}
	err = h.repeat(ctx, func(tx parley.Tx) (int, error) { return tx.Conversations().Purge(purgeBatch) })
	if err != nil {
		return err
	}
	if err := h.collectArtifacts(ctx); err != nil {
		return err
	}
	return h.removeWaste(ctx)
}

// archiveIdle archives what a filter selects. It is looked up outside the writer; what is left after
// sweepMost waits for the next sweep.
func (h *Hub) archiveIdle(ctx context.Context, filter parley.IdleFilter) error {
	filter.Limit = sweepMost
	var idle []string
	err := h.store.View(ctx, func(tx parley.Tx) (err error) {
		idle, err = tx.Conversations().Idle(filter)
		return err
	})
	for part := range slices.Chunk(idle, sweepBatch) {
		if err == nil {
			err = h.update(ctx, Caller{Agent: parley.System}, func(s *scene) error { return s.archiveStillIdle(part, filter) })
		}
	}
	return err
}

// archiveStillIdle looks again at each conversation: somebody may have written meanwhile.
func (s *scene) archiveStillIdle(ids []string, filter parley.IdleFilter) error {
	for _, id := range ids {
		p, err := s.conversation(id)
		if _, gone := errors.AsType[unknown](err); gone {
			continue
		}
		if err != nil {
			return err
		}
		if p.ArchivedAt != nil || !p.UpdatedAt.Before(filter.Since) {
			continue
		}
		if filter.Settled {
			open, err := s.Deliveries().Open(p.ID)
			if err != nil {
				return err
			}
			if open {
				continue
			}
		}
		if err := s.setArchived(p.Conversation, true); err != nil {
			return err
		}
	}
	return nil
}

// repeat runs an update that does a part of a work until nothing is left of it.
func (h *Hub) repeat(ctx context.Context, part func(parley.Tx) (int, error)) error {
	for {
		var n int
		err := h.store.Update(ctx, func(tx parley.Tx) (err error) {
			n, err = part(tx)
			return err
		})
		if err != nil || n == 0 {
			return err
		}
	}
}
