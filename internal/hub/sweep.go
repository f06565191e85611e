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

// Sweep does what is due with time: looks at the disk, sums up what agents have done, archives what has been idle for long, ends
// work whose deliveries are damaged, forgets old idempotency keys, tokens and notices, erases what was deleted or is not kept any longer, and removes artifacts nobody refers
// to. It works in small updates, so that nobody waits for it. What fails keeps nothing else from being done. One sweep runs at a
// time.
func (h *Hub) Sweep(ctx context.Context) error {
	h.sweeping.Lock()
	defer h.sweeping.Unlock()
	h.lookForDamage(ctx)
	failed := h.checkDisk(ctx) // if the disk is full this fails, and the rest makes room
	for _, step := range []func(context.Context) error{
		h.lookAgain, h.SweepSummaries, h.archiveAllIdle, h.failOrphaned, h.endDamagedWork, h.loseOverdue, h.forgetKeys, h.forgetTokens, h.forgetNotices,
		h.purge, h.retain, h.scrub, h.collectArtifacts, h.removeWaste,
	} {
		failed = errors.Join(failed, step(ctx))
		if err := ctx.Err(); err != nil {
			return errors.Join(failed, err)
		}
	}
	return failed
}

func (h *Hub) archiveAllIdle(ctx context.Context) error {
	err := h.archiveIdle(ctx, parley.IdleFilter{
		Kinds: []parley.ConversationKind{parley.Ephemeral}, Since: h.now().Add(-ephemeralIdle), Settled: true,
	})
	if err != nil || h.config.AutoArchive <= 0 {
		return err
	}
	return h.archiveIdle(ctx, parley.IdleFilter{
		Kinds: []parley.ConversationKind{parley.Channel, parley.Group, parley.DM}, Since: h.now().Add(-h.config.AutoArchive),
	})
}

func (h *Hub) forgetKeys(ctx context.Context) error {
	_, err := h.repeat(ctx, func(tx parley.Tx) (int, error) {
		return tx.Messages().ForgetKeys(h.now().Add(-keyMemory), purgeBatch)
	})
	return err
}

func (h *Hub) purge(ctx context.Context) error {
	_, err := h.repeat(ctx, func(tx parley.Tx) (int, error) { return tx.Conversations().Purge(purgeBatch) })
	return err
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
			err = h.update(ctx, theHub, opItself, func(s *scene) error { return s.archiveStillIdle(part, filter) })
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
		if err := s.setArchived(&p.Conversation, true); err != nil {
			return err
		}
	}
	return nil
}

// repeat runs an update that does a part of a work until nothing is left of it, and says how much it was.
func (h *Hub) repeat(ctx context.Context, part func(parley.Tx) (int, error)) (total int, err error) {
	for {
		var n int
		err := h.store.Update(ctx, func(tx parley.Tx) (err error) {
			n, err = part(tx)
			return err
		})
		if err != nil || n == 0 {
			return total, err
		}
		total += n
	}
}
