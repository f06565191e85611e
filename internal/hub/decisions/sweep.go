package decisions

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/holding"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// SweepApprovals ends expired approvals, and sends reminders of pending ones.
func (s *Service) SweepApprovals(ctx context.Context) error {
	for {
		var list []parley.Approval
		err := s.View(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) (err error) {
			u.SkipUnreadable(nil) // an approval that cannot be read must not block the others
			list, err = u.Approvals().Due(u.Now, 1)
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		err = s.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) (err error) {
			u.SkipUnreadable(nil)
			if list, err = u.Approvals().Due(u.Now, deliveries.DueBatch); err != nil {
				return err
			}
			for i := range list {
				if err := expireOrRemind(u, &list[i]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil || len(list) < deliveries.DueBatch {
			return err
		}
	}
}

func expireOrRemind(u *unit.Unit, a *parley.Approval) error {
	if a.ExpiresAt == nil || a.ExpiresAt.After(u.Now) {
		return holding.RemindDeciders(u, a)
	}
	text, err := work.DescribeDoing(u, "Approval expired for ", *a)
	if err != nil {
		return err
	}
	if err := work.SetApprovalState(u, a, parley.ApprovalExpired, nil); err != nil {
		return err
	}
	return work.TellOutcome(u, a, text)
}
