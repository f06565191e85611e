package upkeep

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// ephemeralIdle is how long lists show an ephemeral conversation that has no open delivery.
const ephemeralIdle = 24 * time.Hour

const maxIdlePerSweep = 10_000

func archiveAllIdle(ctx context.Context, core *unit.Core) error {
	err := archiveIdle(ctx, core, storage.IdleFilter{
		Kinds: []parley.ConversationKind{parley.Ephemeral}, Since: core.Now().Add(-ephemeralIdle), Settled: true,
	})
	if err != nil || core.Config.AutoArchive <= 0 {
		return err
	}
	return archiveIdle(ctx, core, storage.IdleFilter{
		Kinds: []parley.ConversationKind{parley.Channel, parley.Group, parley.DM}, Since: core.Now().Add(-core.Config.AutoArchive),
	})
}

// archiveIdle archives the conversations that a filter selects. It finds them outside the writer. A sweep archives at most
// maxIdlePerSweep of them; the next sweep goes on.
func archiveIdle(ctx context.Context, core *unit.Core, filter storage.IdleFilter) error {
	filter.Limit = maxIdlePerSweep
	var idle []string
	err := core.Store.View(ctx, func(tx storage.Tx) (err error) {
		idle, err = tx.Conversations().Idle(filter)
		return err
	})
	for part := range slices.Chunk(idle, unit.SweepBatch) {
		if err == nil {
			err = core.Update(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error { return archiveStillIdle(u, part, filter) })
		}
	}
	return err
}

// archiveStillIdle archives conversations, except those in which somebody has written since they were found.
func archiveStillIdle(u *unit.Unit, ids []string, filter storage.IdleFilter) error {
	for _, id := range ids {
		p, err := conversations.Conversation(u, id)
		if _, deleted := errors.AsType[unit.Unknown](err); deleted {
			continue
		}
		if err != nil {
			return err
		}
		if p.ArchivedAt != nil || !p.UpdatedAt.Before(filter.Since) {
			continue
		}
		if filter.Settled {
			open, err := u.Deliveries().HasOpen(p.ID)
			if err != nil {
				return err
			}
			if open {
				continue
			}
		}
		if err := conversations.SetArchived(u, &p.Conversation, true); err != nil {
			return err
		}
	}
	return nil
}
