package hub

import (
	"context"
	"errors"
	"time"

	"github.com/parley-hub/parley"
)

const (
	// ephemeralIdle is how long an ephemeral conversation without open delivery stays in view.
	ephemeralIdle = 24 * time.Hour
	sweepBatch    = 200
	purgeBatch    = 1000
)

func (h *Hub) sweepRegularly(ctx context.Context, started func()) {
	ticker := time.NewTicker(h.config.SweepEvery)
	defer ticker.Stop()
	started()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := h.Sweep(ctx); err != nil && ctx.Err() == nil {
				h.config.Log.Error("sweeping failed, will try again", "error", err)
			}
		}
	}
}

// Sweep does what is due with time: archives what has been idle for long, forgets old idempotency
// keys and erases what was deleted. It works in small updates, so that nobody waits for it.
func (h *Hub) Sweep(ctx context.Context) error {
	ephemeral := parley.ConversationFilter{
		Kinds: []parley.ConversationKind{parley.Ephemeral}, IdleSince: h.now().Add(-ephemeralIdle),
	}
	if err := h.archiveIdle(ctx, ephemeral, true); err != nil {
		return err
	}
	if h.config.AutoArchive > 0 {
		idle := parley.ConversationFilter{
			Kinds:     []parley.ConversationKind{parley.Channel, parley.Group, parley.DM},
			IdleSince: h.now().Add(-h.config.AutoArchive),
		}
		if err := h.archiveIdle(ctx, idle, false); err != nil {
			return err
		}
	}
	if err := h.repeat(ctx, func(tx parley.Tx) (int, error) {
		return tx.Messages().ForgetKeys(h.now().Add(-keyMemory), purgeBatch)
	}); err != nil {
		return err
	}
	return h.repeat(ctx, func(tx parley.Tx) (int, error) { return tx.Conversations().Purge(purgeBatch) })
}

// archiveIdle archives what a filter selects, page by page; with settled only what has no open
// delivery.
func (h *Hub) archiveIdle(ctx context.Context, filter parley.ConversationFilter, settled bool) error {
	filter.Limit = sweepBatch
	system := Caller{Agent: parley.System}
	for {
		var list []parley.Conversation
		err := h.view(ctx, system, func(s *scene) (err error) {
			list, err = s.Conversations().List(filter)
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		last := list[len(list)-1]
		filter.Before, filter.BeforeID = last.LastSeq, last.ID
		err = h.update(ctx, system, func(s *scene) error { return s.archiveStillIdle(list, filter.IdleSince, settled) })
		if err != nil {
			return err
		}
	}
}

// archiveStillIdle looks again at each conversation: somebody may have written meanwhile.
func (s *scene) archiveStillIdle(list []parley.Conversation, since time.Time, settled bool) error {
	for _, c := range list {
		p, err := s.conversation(c.ID)
		if _, gone := errors.AsType[unknown](err); gone {
			continue
		}
		if err != nil {
			return err
		}
		if p.ArchivedAt != nil || !p.UpdatedAt.Before(since) {
			continue
		}
		if settled {
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
