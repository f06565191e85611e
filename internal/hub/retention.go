package hub

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/parley-hub/parley"
)

// Retention is how much is kept.
type Retention struct {
	Messages  Keep
	Artifacts Keep
	Events    time.Duration // default: 7 days; negative: for ever
	Outputs   time.Duration // of runs; 0: for ever
}

// Keep is how long and how much of something is kept. What is 0 does not limit.
type Keep struct {
	Age   time.Duration
	Bytes int64
}

const (
	eventsKept  = 7 * 24 * time.Hour
	eraseBatch  = 200
	weighBatch  = 2000 // numbers of the order
	scrubsInOne = 500  // parts of the index rewritten in one sweep
)

// retained is what a sweep has erased because it was too old or too much.
type retained struct {
	Messages      int   `json:"messages"`
	MessageBytes  int64 `json:"message_bytes"`
	Artifacts     int   `json:"artifacts"`
	ArtifactBytes int64 `json:"artifact_bytes"`
	Events        int   `json:"events"`
	Outputs       int   `json:"outputs,omitempty"`
}

// retain erases what is beyond the limits, the oldest first, and says what it was.
func (h *Hub) retain(ctx context.Context) error {
	var gone retained
	err := errors.Join(h.retainMessages(ctx, &gone), h.retainArtifacts(ctx, &gone), h.retainEvents(ctx, &gone),
		h.retainOutputs(ctx, &gone))
	return errors.Join(err, h.reportRetained(context.WithoutCancel(ctx), gone))
}

func (h *Hub) reportRetained(ctx context.Context, gone retained) error {
	if gone == (retained{}) {
		return nil
	}
	level := slog.LevelInfo
	if gone.Messages+gone.Artifacts == 0 {
		level = slog.LevelDebug // old events go all the time
	}
	h.config.Log.Log(ctx, level, "retention has erased what is too old or too much",
		"messages", gone.Messages, "message_bytes", gone.MessageBytes,
		"artifacts", gone.Artifacts, "artifact_bytes", gone.ArtifactBytes, "events", gone.Events, "outputs", gone.Outputs)
	if gone.Messages+gone.Artifacts == 0 {
		return nil
	}
	return h.update(ctx, theHub, opItself, func(s *scene) error { return s.audit("retention.erase", "hub", gone) })
}

func (h *Hub) retainMessages(ctx context.Context, gone *retained) error {
	keep := h.config.Retention.Messages
	if keep.Age > 0 {
		if err := h.eraseMessages(ctx, gone, olderThan(h.now().Add(-keep.Age))); err != nil {
			return err
		}
	}
	if keep.Bytes <= 0 {
		return nil
	}
	total, err := h.weighMessages(ctx)
	if err != nil {
		return err
	}
	return h.eraseMessages(ctx, gone, beyond(total-keep.Bytes))
}

// olderThan chooses messages from before a time, and none that comes after one which is not: whatever
// the clock did, nothing goes before what was said earlier.
func olderThan(before time.Time) func([]parley.OldMessage) int64 {
	return func(list []parley.OldMessage) (upTo int64) {
		for _, m := range list {
			if !m.CreatedAt.Before(before) {
				break
			}
			upTo = m.Seq
		}
		return upTo
	}
}

// beyond chooses messages until so many bytes are gone.
func beyond(excess int64) func([]parley.OldMessage) int64 {
	return func(list []parley.OldMessage) (upTo int64) {
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

// eraseMessages erases messages in their order, a few in one update, up to those that choose names. It
// is shown the next ones, and returns the seq of the last that goes, or 0.
func (h *Hub) eraseMessages(ctx context.Context, gone *retained, choose func([]parley.OldMessage) int64) error {
	for after := int64(0); ; {
		var list []parley.OldMessage
		err := h.store.View(ctx, func(tx parley.Tx) (err error) {
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
		var erased parley.Erased
		err = h.store.Update(ctx, func(tx parley.Tx) (err error) {
			erased, err = tx.Retention().Erase(after, upTo)
			return err
		})
		if err != nil {
			return err
		}
		gone.Messages += erased.Messages
		gone.MessageBytes += erased.Bytes
		after = upTo
	}
}

// weighMessages is how many bytes the bodies of all messages have.
func (h *Hub) weighMessages(ctx context.Context) (total int64, err error) {
	for more := true; more && err == nil; {
		err = h.store.Update(ctx, func(tx parley.Tx) (err error) {
			total, more, err = tx.Retention().Weigh(weighBatch)
			return err
		})
	}
	return total, err
}

// retainArtifacts removes bodies, though messages refer to them. Those who open one are told.
func (h *Hub) retainArtifacts(ctx context.Context, gone *retained) error {
	keep := h.config.Retention.Artifacts
	if keep.Age <= 0 && keep.Bytes <= 0 {
		return nil
	}
	for {
		list, totals, err := h.oldestArtifacts(ctx)
		if err != nil {
			return err
		}
		removed := 0
		for _, a := range list {
			old := keep.Age > 0 && a.StoredAt.Before(h.now().Add(-keep.Age))
			if much := keep.Bytes > 0 && totals.Bytes > keep.Bytes; !old && !much {
				return nil
			}
			yes, err := h.expireArtifact(ctx, a)
			if err != nil {
				return err
			}
			if yes {
				removed++
				totals.Bytes -= a.Size
				gone.Artifacts++
				gone.ArtifactBytes += a.Size
			}
		}
		if removed == 0 { // there is nothing, or it cannot be removed now
			return nil
		}
	}
}

func (h *Hub) oldestArtifacts(ctx context.Context) (list []parley.StoredArtifact, totals parley.ArtifactTotals, err error) {
	err = h.store.View(ctx, func(tx parley.Tx) (err error) {
		if totals, err = tx.Artifacts().Totals(); err != nil {
			return err
		}
		list, err = tx.Artifacts().Oldest(artifactBatch)
		return err
	})
	return list, totals, err
}

// expireArtifact removes a body unless somebody has handed it in again, and says whether it did.
func (h *Hub) expireArtifact(ctx context.Context, a parley.StoredArtifact) (removed bool, err error) {
	err = h.store.Blobs().Remove(ctx, a.SHA256, func() (bool, error) {
		err := h.store.Update(ctx, func(tx parley.Tx) (err error) {
			removed, err = tx.Artifacts().Expire(a.SHA256, a.StoredAt, h.now())
			return err
		})
		return removed, err
	})
	if err != nil {
		h.wasteDue.Store(true) // its row may say that it is gone
	}
	return removed, err
}

func (h *Hub) retainEvents(ctx context.Context, gone *retained) (err error) {
	keep := h.config.Retention.Events
	if keep < 0 {
		return nil
	}
	gone.Events, err = h.repeat(ctx, func(tx parley.Tx) (int, error) {
		return tx.Log().Prune(h.now().Add(-keep), purgeBatch)
	})
	return err
}

// scrub clears the search index of what redacted messages have left in it. Where others post it may not
// come to its end, and goes on with the next sweep.
func (h *Hub) scrub(ctx context.Context) error {
	more := true
	for range scrubsInOne {
		if !more {
			return nil
		}
		err := h.store.Update(ctx, func(tx parley.Tx) (err error) {
			more, err = tx.Search().Scrub()
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// retainOutputs erases what runs that ended long ago have put out.
func (h *Hub) retainOutputs(ctx context.Context, gone *retained) (err error) {
	if h.config.Retention.Outputs <= 0 {
		return nil
	}
	gone.Outputs, err = h.repeat(ctx, func(tx parley.Tx) (int, error) {
		return tx.Runs().ForgetOutputs(h.now().Add(-h.config.Retention.Outputs), eraseBatch)
	})
	return err
}
