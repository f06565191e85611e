package hub

import (
	"context"
	"errors"

	"github.com/parley-hub/parley"
)

// StartQuietly starts everything but what writes down who has come, so that a test knows every event there is.
func (h *Hub) StartQuietly(ctx context.Context) {
	h.services = h.services[:len(h.services)-1]
	h.Start(ctx)
}

// PostFor posts what wakes its recipients for a purpose, as asks, tasks, callbacks and approvals do.
func (h *Hub) PostFor(ctx context.Context, caller Caller, draft parley.Draft, purpose parley.Purpose) (receipt parley.Receipt, err error) {
	draft, err = draft.Check(h.config.Limits)
	if err != nil {
		return receipt, err
	}
	p := post{draft: draft, source: caller.Source, purpose: purpose}
	if err := p.compose(); err != nil {
		return receipt, err
	}
	err = h.update(ctx, caller, opPostMessage, func(s *scene) (err error) {
		receipt, err = s.post(p)
		return err
	})
	return receipt, err
}

// Sees are all events the caller may see after a number, read by nobody else and from nowhere but the store.
func (h *Hub) Sees(ctx context.Context, caller Caller, after int64) (nums []int64, err error) {
	err = h.view(ctx, caller, opFollowEvents, func(s *scene) error {
		list, err := s.Log().Events(after, 1<<20)
		for _, e := range list {
			see, seeErr := s.maySee(e, map[string]bool{})
			if err = errors.Join(err, seeErr); see {
				nums = append(nums, e.Num)
			}
		}
		return err
	})
	return nums, err
}

// PassOn does once what the stream does by itself in a hub that is started.
func (h *Hub) PassOn(ctx context.Context) (more bool) { return h.stream.step(ctx) }

// LapseSome ends as many leases as one update of a sweep does.
func (h *Hub) LapseSome(ctx context.Context) error {
	return h.write(ctx, theHub, opItself, func(s *scene) error {
		list, err := s.lapsed(dueBatch)
		if err != nil {
			return err
		}
		return s.eachDue(list, (*scene).lapse)
	})
}

// Underway says how many calls of one sort a participant has under way.
func (h *Hub) Underway(agent string, work Work) int {
	h.load.mu.Lock()
	defer h.load.mu.Unlock()
	if s := h.load.of[parley.Fold(agent)]; s != nil {
		return len(s.slots[work])
	}
	return 0
}

// Queued is how many short calls of a participant wait for their turn.
func (h *Hub) Queued(agent string) int {
	h.load.mu.Lock()
	defer h.load.mu.Unlock()
	if s := h.load.of[parley.Fold(agent)]; s != nil {
		return s.queued
	}
	return 0
}

// Shares says of how many participants something is under way.
func (h *Hub) Shares() int {
	h.load.mu.Lock()
	defer h.load.mu.Unlock()
	return len(h.load.of)
}
