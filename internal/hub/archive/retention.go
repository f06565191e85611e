package archive

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/artifacts"
	"github.com/parley-hub/parley/internal/hub/unit"
)

const (
	eraseBatch     = 200
	countBatch     = 2000 // messages in one update
	scrubsPerSweep = 500  // parts of the index rewritten in one sweep
)

// erasedTotals counts what a sweep has erased because of the retention limits.
type erasedTotals struct {
	Messages      int   `json:"messages"`
	MessageBytes  int64 `json:"message_bytes"`
	Artifacts     int   `json:"artifacts"`
	ArtifactBytes int64 `json:"artifact_bytes"`
	Events        int   `json:"events"`
	Outputs       int   `json:"outputs,omitempty"`
}

// EraseOld erases what exceeds the retention limits, the oldest first, and logs it.
func EraseOld(ctx context.Context, s *Service) error {
	var done erasedTotals
	err := errors.Join(eraseOldMessages(ctx, s.Core, &done), s.eraseOldArtifacts(ctx, &done), eraseOldEvents(ctx, s.Core, &done),
		eraseOldOutputs(ctx, s.Core, &done))
	return errors.Join(err, reportErased(context.WithoutCancel(ctx), s.Core, done))
}

func reportErased(ctx context.Context, core *unit.Core, done erasedTotals) error {
	if done == (erasedTotals{}) {
		return nil
	}
	level := slog.LevelInfo
	if done.Messages+done.Artifacts == 0 {
		level = slog.LevelDebug // old events are erased all the time
	}
	core.Config.Log.Log(ctx, level, "retention has erased content beyond the limits",
		"messages", done.Messages, "message_bytes", done.MessageBytes,
		"artifacts", done.Artifacts, "artifact_bytes", done.ArtifactBytes, "events", done.Events, "outputs", done.Outputs)
	if done.Messages+done.Artifacts == 0 {
		return nil
	}
	return core.Update(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error { return access.Audit(u, "retention.erase", "hub", done) })
}

func eraseOldMessages(ctx context.Context, core *unit.Core, done *erasedTotals) error {
	limits := core.Config.Retention.Messages
	if limits.Age > 0 {
		if err := eraseMessages(ctx, core, done, olderThan(core.Now().Add(-limits.Age))); err != nil {
			return err
		}
	}
	if limits.Bytes <= 0 {
		return nil
	}
	total, err := countMessageBytes(ctx, core)
	if err != nil {
		return err
	}
	return eraseMessages(ctx, core, done, inExcess(total-limits.Bytes))
}

// olderThan chooses messages from before a time. It stops at the first younger message, so that a clock that was set back
// erases nothing out of order.
func olderThan(before time.Time) func([]storage.OldMessage) int64 {
	return func(list []storage.OldMessage) (upTo int64) {
		for _, m := range list {
			if !m.CreatedAt.Before(before) {
				break
			}
			upTo = m.Seq
		}
		return upTo
	}
}

// inExcess chooses messages until they have the given number of bytes. It does not count messages that the store must keep.
func inExcess(excess int64) func([]storage.OldMessage) int64 {
	return func(list []storage.OldMessage) (upTo int64) {
		for _, m := range list {
			if excess <= 0 {
				break
			}
			if !m.Owed {
				excess -= m.Bytes
			}
			upTo = m.Seq
		}
		return upTo
	}
}

// eraseMessages erases messages in their order, a few in one update. choose gets the next messages and returns the seq of
// the last one to erase, or 0.
func eraseMessages(ctx context.Context, core *unit.Core, done *erasedTotals, choose func([]storage.OldMessage) int64) error {
	for after := int64(0); ; {
		var list []storage.OldMessage
		err := core.Store.View(ctx, func(tx storage.Tx) (err error) {
			list, err = tx.Retention().Oldest(after, eraseBatch)
			return err
		})
		if err != nil {
			return err
		}
		upTo := choose(list)
		if upTo == 0 {
			return nil
		}
		var erased storage.Erased
		err = core.Store.Update(ctx, func(tx storage.Tx) (err error) {
			erased, err = tx.Retention().Erase(after, upTo)
			return err
		})
		if err != nil {
			return err
		}
		done.Messages += erased.Messages
		done.MessageBytes += erased.Bytes
		after = upTo
	}
}

// countMessageBytes returns how many bytes the bodies of all messages have.
func countMessageBytes(ctx context.Context, core *unit.Core) (total int64, err error) {
	for more := true; more && err == nil; {
		err = core.Store.Update(ctx, func(tx storage.Tx) (err error) {
			total, more, err = tx.Retention().CountBytes(countBatch)
			return err
		})
	}
	return total, err
}

// eraseOldArtifacts removes bodies that messages may still refer to. A caller that opens such a body gets an error.
func (s *Service) eraseOldArtifacts(ctx context.Context, done *erasedTotals) error {
	limits := s.Config.Retention.Artifacts
	if limits.Age <= 0 && limits.Bytes <= 0 {
		return nil
	}
	for {
		list, totals, err := oldestArtifacts(ctx, s.Core)
		if err != nil {
			return err
		}
		removed := 0
		for _, a := range list {
			old := limits.Age > 0 && a.StoredAt.Before(s.Now().Add(-limits.Age))
			if excess := limits.Bytes > 0 && totals.Bytes > limits.Bytes; !old && !excess {
				return nil
			}
			ok, err := s.expireArtifact(ctx, a)
			if err != nil {
				return err
			}
			if ok {
				removed++
				totals.Bytes -= a.Size
				done.Artifacts++
				done.ArtifactBytes += a.Size
			}
		}
		if removed == 0 { // there is nothing to remove, or it cannot be removed now
			return nil
		}
	}
}

func oldestArtifacts(ctx context.Context, core *unit.Core) (list []storage.StoredArtifact, totals parley.ArtifactTotals, err error) {
	err = core.Store.View(ctx, func(tx storage.Tx) (err error) {
		if totals, err = tx.Artifacts().Totals(); err != nil {
			return err
		}
		list, err = tx.Artifacts().Oldest(artifacts.ArtifactBatch)
		return err
	})
	return list, totals, err
}

// expireArtifact removes a body unless it was stored again meanwhile, and reports whether it did.
func (s *Service) expireArtifact(ctx context.Context, a storage.StoredArtifact) (removed bool, err error) {
	err = s.Store.Blobs().Remove(ctx, a.SHA256, func() (bool, error) {
		err := s.Store.Update(ctx, func(tx storage.Tx) (err error) {
			removed, err = tx.Artifacts().Expire(a.SHA256, a.StoredAt, s.Now())
			return err
		})
		return removed, err
	})
	if err != nil {
		s.artifacts.WasteDue.Store(true) // its row may say that the body was removed
	}
	return removed, err
}

func eraseOldEvents(ctx context.Context, core *unit.Core, done *erasedTotals) (err error) {
	limits := core.Config.Retention.Events
	if limits < 0 {
		return nil
	}
	done.Events, err = core.Repeat(ctx, func(tx storage.Tx) (int, error) {
		return tx.Log().Prune(core.Now().Add(-limits), unit.PurgeBatch)
	})
	return err
}

// ScrubSearchIndex removes what redacted messages left in the search index. If others post meanwhile, it continues in the next
// sweep.
func ScrubSearchIndex(ctx context.Context, core *unit.Core) error {
	more := true
	for range scrubsPerSweep {
		if !more {
			return nil
		}
		err := core.Store.Update(ctx, func(tx storage.Tx) (err error) {
			more, err = tx.Search().Scrub()
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// eraseOldOutputs erases the output of runs that ended long ago.
func eraseOldOutputs(ctx context.Context, core *unit.Core, done *erasedTotals) (err error) {
	if core.Config.Retention.Outputs <= 0 {
		return nil
	}
	done.Outputs, err = core.Repeat(ctx, func(tx storage.Tx) (int, error) {
		return tx.Runs().ForgetOutputs(core.Now().Add(-core.Config.Retention.Outputs), eraseBatch)
	})
	return err
}

// PurgeConversations erases the remaining rows of deleted conversations.
func PurgeConversations(ctx context.Context, core *unit.Core) error {
	_, err := core.Repeat(ctx, func(tx storage.Tx) (int, error) { return tx.Conversations().Purge(unit.PurgeBatch) })
	return err
}
