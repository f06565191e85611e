package feed

import (
	"context"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// LastEvent returns the number of the newest event. A caller that wants only new events subscribes after it.
func (s *Service) LastEvent(ctx context.Context, caller unit.Caller) (newest int64, err error) {
	err = s.View(ctx, caller, unit.OpFollowEvents, func(u *unit.Unit) error {
		_, newest, err = u.Log().Bounds()
		return err
	})
	return newest, err
}

// checkLogReaches returns E003 if the log has no position after this event: it was erased, or does not exist yet.
func checkLogReaches(after, oldest, newest int64) error {
	var err *parley.Error
	switch {
	case after+1 >= oldest && after <= newest:
		return nil
	case oldest > newest:
		err = parley.Errorf(parley.BadInput, "the event log has no events up to %d left, so it cannot continue from %d", newest, after)
	default:
		err = parley.Errorf(parley.BadInput, "the event log goes from %d to %d and cannot continue from %d", oldest, newest, after)
	}
	return err.Because(parley.NotFound).Suggest("read the current state, then follow from %d", newest)
}
