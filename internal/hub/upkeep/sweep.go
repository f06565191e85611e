package upkeep

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/alerts"
	"github.com/parley-hub/parley/internal/hub/archive"
	"github.com/parley-hub/parley/internal/hub/artifacts"
	"github.com/parley-hub/parley/internal/hub/conversations"
	"github.com/parley-hub/parley/internal/hub/notices"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/turns"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// ephemeralIdle is how long an ephemeral conversation without open delivery stays in view.
const ephemeralIdle = 24 * time.Hour

const sweepMost = 10_000

func (s *Service) sweepRegularly(ctx context.Context, started func()) {
	s.Regularly(ctx, started, s.Config.SweepEvery, s.Sweep)
}

// Sweep does what is due from time to time, step by step. It works in small updates, so that nobody waits for it. A step that
// fails does not keep the others from running. One sweep runs at a time.
func (s *Service) Sweep(ctx context.Context) error {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	alerts.LookForDamage(ctx, s.alerts)
	failed := alerts.CheckDisk(ctx, s.alerts) // if the disk is full this fails, and the rest makes room
	for _, step := range s.regularSteps() {
		failed = errors.Join(failed, step(ctx))
		if err := ctx.Err(); err != nil {
			return errors.Join(failed, err)
		}
	}
	return failed
}

// regularSteps are the steps of a sweep, in this order. Each package brings its own.
func (s *Service) regularSteps() []func(context.Context) error {
	onCore := func(step func(context.Context, *unit.Core) error) func(context.Context) error {
		return func(ctx context.Context) error { return step(ctx, s.Core) }
	}
	return []func(context.Context) error{
		onCore(presence.LookAgain),
		s.presence.SweepSummaries,
		onCore(archiveAllIdle),
		onCore(turns.FailOrphaned),
		s.endDamagedWork,
		onCore(turns.LoseOverdue),
		onCore(forgetKeys),
		onCore(access.ForgetTokens),
		onCore(notices.ForgetNotices),
		onCore(archive.Purge),
		func(ctx context.Context) error { return archive.Retain(ctx, s.archive) },
		onCore(archive.Scrub),
		func(ctx context.Context) error { return artifacts.CollectArtifacts(ctx, s.artifacts) },
		func(ctx context.Context) error { return artifacts.RemoveWaste(ctx, s.artifacts) },
	}
}

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

func forgetKeys(ctx context.Context, core *unit.Core) error {
	_, err := core.Repeat(ctx, func(tx storage.Tx) (int, error) {
		return tx.Messages().ForgetKeys(core.Now().Add(-unit.KeyMemory), unit.PurgeBatch)
	})
	return err
}

// archiveIdle archives what a filter selects. It is looked up outside the writer; what is left after
// sweepMost waits for the next sweep.
func archiveIdle(ctx context.Context, core *unit.Core, filter storage.IdleFilter) error {
	filter.Limit = sweepMost
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

// archiveStillIdle looks again at each conversation: somebody may have written meanwhile.
func archiveStillIdle(u *unit.Unit, ids []string, filter storage.IdleFilter) error {
	for _, id := range ids {
		p, err := conversations.Conversation(u, id)
		if _, gone := errors.AsType[unit.Unknown](err); gone {
			continue
		}
		if err != nil {
			return err
		}
		if p.ArchivedAt != nil || !p.UpdatedAt.Before(filter.Since) {
			continue
		}
		if filter.Settled {
			open, err := u.Deliveries().Open(p.ID)
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
