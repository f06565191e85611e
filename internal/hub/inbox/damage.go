package inbox

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// sift removes damaged deliveries from a take, and ends them.
func sift(ctx context.Context, core *unit.Core, caller unit.Caller, taken parley.Taken) (parley.Taken, error) {
	whole := parley.Taken{Lease: taken.Lease, For: taken.For}
	bad := map[string]*parley.Error{}
	for i, d := range taken.Deliveries {
		if why := unit.Damaged(d, taken.Messages[i]); why != nil {
			bad[d.Message] = why
			continue
		}
		whole.Deliveries, whole.Messages = append(whole.Deliveries, d), append(whole.Messages, taken.Messages[i])
	}
	if len(bad) == 0 {
		return taken, nil
	}
	err := core.Write(ctx, caller, unit.OpTake, func(u *unit.Unit) error {
		for _, d := range taken.Deliveries {
			if why := bad[d.Message]; why != nil {
				if err := work.EndDamaged(u, &d, why); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return whole, err
}
