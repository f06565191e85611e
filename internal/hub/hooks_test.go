package hub

import (
	"context"

	"github.com/parley-hub/parley"
)

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
	err = h.update(ctx, caller, func(s *scene) (err error) {
		receipt, err = s.post(p)
		return err
	})
	return receipt, err
}
