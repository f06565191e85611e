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

// StartQuietly starts all services except the one that records the presence of agents, so that a test knows every event.
func (h *Hub) StartQuietly(ctx context.Context) {
	h.services = h.services[:len(h.services)-1]
	h.Start(ctx)
}

// PostFor posts a message whose deliveries have a purpose, as the hub does for asks, tasks, callbacks and approvals.
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

// Sees returns the numbers of all events after a number that the caller may see. It reads them directly from the store.
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

// PassOn does one step of the stream of events, which runs by itself in a started hub.
func (h *Hub) PassOn(ctx context.Context) (more bool) { return feed.StepStream(ctx, h.feedCases) }

// LapseSome ends leases that have lapsed, as many as one update of a sweep.
func (h *Hub) LapseSome(ctx context.Context) error {
	return h.core.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error {
		list, err := turns.LapsedDeliveries(u, deliveries.DueBatch)
		if err != nil {
			return err
		}
		return turns.ForEachUnchanged(u, list, turns.EndLeaseOrPause)
	})
}

// Watchers returns the number of calls that watch a subject.
func (h *Hub) Watchers(subject string) int { return h.core.Watches.Watchers(subject) }
