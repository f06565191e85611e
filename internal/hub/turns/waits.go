package turns

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// SweepWaits ends asks whose time is up and whose caller is not connected.
func (s *Service) SweepWaits(ctx context.Context) error {
	return work.EachWait(ctx, s.Core, func(u *unit.Unit, limit int) ([]parley.Wait, error) { return u.Waits().Due(u.Now, limit) }, work.MakeWaitLate)
}

// RecoverWaits detaches the waits of callers that were connected to a former process of this hub.
func (s *Service) RecoverWaits(ctx context.Context) error {
	return work.EachWait(ctx, s.Core, func(u *unit.Unit, limit int) ([]parley.Wait, error) {
		list, err := u.Waits().At(s.Config.Node)
		return list[:min(limit, len(list))], err
	}, work.RecoverWait)
}
