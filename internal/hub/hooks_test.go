package hub

import (
	"context"
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/feed"
	"github.com/parley-hub/parley/internal/hub/post"
	"github.com/parley-hub/parley/internal/hub/turns"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// StartQuietly starts everything but what writes down who has come, so that a test knows every event there is.
func (h *Hub) StartQuietly(ctx context.Context) {
	h.services = h.services[:len(h.services)-1]
	h.Start(ctx)
}

// PostFor posts what wakes its recipients for a purpose, as asks, tasks, callbacks and approvals do.
func (h *Hub) PostFor(ctx context.Context, caller Caller, draft parley.Draft, purpose parley.Purpose) (receipt parley.Receipt, err error) {
	draft, err = draft.Check(h.core.Config.Limits)
	if err != nil {
		return receipt, err
	}
	p := post.Posting{Draft: draft, Source: caller.Source, Purpose: purpose}
	if err := p.Compose(); err != nil {
		return receipt, err
	}
	err = h.core.Update(ctx, caller, unit.OpPostMessage, func(u *unit.Unit) (err error) {
		receipt, err = post.Store(u, p)
		return err
	})
	return receipt, err
}

// Sees are all events the caller may see after a number, read by nobody else and from nowhere but the store.
func (h *Hub) Sees(ctx context.Context, caller Caller, after int64) (nums []int64, err error) {
	err = h.core.View(ctx, caller, unit.OpFollowEvents, func(u *unit.Unit) error {
		list, err := u.Log().Events(after, 1<<20)
		for _, e := range list {
			see, seeErr := feed.MaySee(u, e, map[string]bool{})
			if err = errors.Join(err, seeErr); see {
				nums = append(nums, e.Num)
			}
		}
		return err
	})
	return nums, err
}

// PassOn does once what the stream does by itself in a hub that is started.
func (h *Hub) PassOn(ctx context.Context) (more bool) { return feed.StepStream(ctx, h.feedCases) }

// LapseSome ends as many leases as one update of a sweep does.
func (h *Hub) LapseSome(ctx context.Context) error {
	return h.core.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		list, err := turns.LapsedDeliveries(u, deliveries.DueBatch)
		if err != nil {
			return err
		}
		return turns.ForEachUnchanged(u, list, turns.EndLeaseOrPause)
	})
}

// Watchers is how many calls watch a subject.
func (h *Hub) Watchers(subject string) int { return h.core.Watches.Watchers(subject) }
