package turns

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/clients"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// recovery remembers whether the hub has returned the leases of its former process.
type recovery struct {
	pending atomic.Bool // Recover was called and has not succeeded yet
	mu      sync.Mutex  // held during a recovery
}

// Recover returns the leases of a former process of this hub. Deliveries that the process had leased, to a run or to a caller,
// are ready at once, in their order, and no attempt counts. Callers that were connected to it no longer wait: see RecoverWaits.
//
// The start of the hub calls it before the hub serves anybody. If it fails, for example on a full disk, the hub retries it
// every DueEvery, and before it does anything for a caller or starts a run.
func (s *Service) Recover(ctx context.Context) error {
	s.recovery.pending.Store(true)
	return FinishRecovery(ctx, s)
}

// FinishRecovery finishes Recover if it has not succeeded yet. It returns nil if there is nothing left to do.
func FinishRecovery(ctx context.Context, s *Service) error {
	if !s.recovery.pending.Load() {
		return nil
	}
	s.recovery.mu.Lock()
	defer s.recovery.mu.Unlock()
	if !s.recovery.pending.Load() {
		return nil
	}
	if err := s.RecoverWaits(ctx); err != nil {
		return err
	}
	sessions, err := clients.RecoverSessions(ctx, s.clients)
	if err != nil {
		return err
	}
	if err := returnFormerLeases(ctx, s.Core, sessions); err != nil {
		return err
	}
	// A lease clock that starts with the process does not know when the pauses began, so they are over.
	if err := sweepEach(ctx, s.Core, lapsedPauses, EndLeaseOrPause); err != nil {
		return err
	}
	s.recovery.pending.Store(false)
	return nil
}

// returnFormerLeases returns the deliveries that a former process had leased. It works in small updates and starts with the
// oldest delivery, because another hub on the same database may hand out deliveries as soon as they are returned. What a live client
// session holds stays leased to it.
func returnFormerLeases(ctx context.Context, core *unit.Core, sessions map[string]bool) error {
	var leased []parley.Delivery
	err := core.View(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) (err error) {
		leased, err = u.Queue().LeasedByNode(core.Config.Node)
		return err
	})
	leased = slices.DeleteFunc(leased, func(d parley.Delivery) bool { return sessions[d.Lease] })
	for part := range slices.Chunk(leased, deliveries.DueBatch) {
		if err == nil {
			err = core.Write(ctx, unit.TheHub, unit.OpItself, func(u *unit.Unit) error { return returnLeases(u, part) })
		}
	}
	return err
}

// lapsedPauses returns deliveries whose pause before the next attempt is over.
func lapsedPauses(u *unit.Unit, limit int) ([]parley.Delivery, error) {
	list, err := LapsedDeliveries(u, limit)
	return slices.DeleteFunc(list, func(d parley.Delivery) bool { return d.State != parley.DeliveryAccepted }), err
}

// returnLeases returns deliveries that nobody has taken or settled since they were found.
func returnLeases(u *unit.Unit, list []parley.Delivery) error {
	for _, found := range list {
		d, err := u.Deliveries().Get(found.Message, found.Recipient)
		if errors.Is(err, parley.ErrNotFound) || err == nil && (d.Lease != found.Lease || d.Node != found.Node) {
			continue
		}
		if err != nil {
			return err
		}
		r, lives, err := runs.RunOf(u, d)
		switch {
		case err != nil:
		case lives:
			err = endCrashedRun(u, &r)
		default:
			err = returnLease(u, &d, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// endCrashedRun ends a run that ended with its hub, and returns the deliveries that woke it.
func endCrashedRun(u *unit.Unit, r *parley.Run) error {
	keep := func(*parley.Run) {}
	if r.Cancel != "" {
		return endCancelled(u, r, keep)
	}
	cause := deliveries.Failed(r.Agent, parley.Trouble{Failure: parley.FailureLost, Reason: lostReason})
	if err := forEachLeased(u, *r, func(d *parley.Delivery) error { return returnLease(u, d, cause) }); err != nil {
		return err
	}
	return storeFailure(u, r, parley.FailureLost, cause, keep)
}

// maxCrashes is how many runs of one delivery may end with their hub. Then the delivery becomes a dead letter, because it may
// be the cause.
const maxCrashes = 20

// returnLease makes a delivery that was leased when the hub ended ready at once, in its order. No attempt counts. cause is the
// failure of the run that held it, or nil. If a run had begun to answer an ask, the ask fails, because an ask has one attempt.
func returnLease(u *unit.Unit, d *parley.Delivery, cause *parley.Error) error {
	recipient, err := u.Agents().Find(d.Recipient)
	if err != nil {
		return err
	}
	if over, err := work.EndUnwanted(u, d, recipient); err != nil || over {
		return err
	}
	if d.State == parley.DeliveryAccepted {
		return returnLost(u, d) // it waited for a client session that is lost
	}
	if cause == nil {
		return deliveries.SetState(u, d, parley.DeliveryAccepted, nil)
	}
	if d.Purpose == parley.PurposeAsk {
		return deliveries.End(u, d, parley.DeliveryFailed, cause)
	}
	crashes, err := countCrashes(u, *d)
	if err != nil {
		return err
	}
	if crashes >= maxCrashes {
		return work.MakeDeadLetter(u, d, parley.Errorf(cause.Code, "%s, %d times", cause.Message, crashes))
	}
	return deliveries.SetState(u, d, parley.DeliveryAccepted, func(d *parley.Delivery) { d.Failure = cause })
}

// countCrashes counts the runs of a delivery that were lost without counting as an attempt, including the present run.
func countCrashes(u *unit.Unit, d parley.Delivery) (int, error) {
	runs, err := u.Runs().WokenBy(d.Message, d.Recipient)
	lost := 1
	for _, r := range runs {
		if r.State == parley.RunLost {
			lost++
		}
	}
	return lost - d.Attempt, err
}
