package hub

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/parley-hub/parley"
)

// recovery says whether the hub has returned the leases of its former process.
type recovery struct {
	pending atomic.Bool // it has begun to, and has not succeeded
	mu      sync.Mutex  // held while it does
}

// Recover returns the leases of a former process of this hub. Deliveries that the process had leased, to a run or to a
// caller, are ready at once, in their order, and no attempt counts. Callers that were connected to it no longer
// wait: see RecoverWaits.
//
// Start calls it before the hub serves anybody. If it fails, as it does on a full disk, the hub tries again every
// DueEvery, and before it does anything for a caller or starts a run.
func (h *Hub) Recover(ctx context.Context) error {
	h.recovery.pending.Store(true)
	return h.recovered(ctx)
}

// recovered does the work of Recover, unless it has been done.
func (h *Hub) recovered(ctx context.Context) error {
	if !h.recovery.pending.Load() {
		return nil
	}
	h.recovery.mu.Lock()
	defer h.recovery.mu.Unlock()
	if !h.recovery.pending.Load() {
		return nil
	}
	if err := h.RecoverWaits(ctx); err != nil {
		return err
	}
	if err := h.putBackLeft(ctx); err != nil {
		return err
	}
	// Where the lease clock begins anew with the process, the pauses before another attempt are over.
	if err := h.sweepEach(ctx, (*scene).lapsedPauses, (*scene).lapse); err != nil {
		return err
	}
	h.recovery.pending.Store(false)
	return nil
}

// putBackLeft puts back deliveries that a former process has leased. It works in small updates, the oldest delivery first:
// another hub on the database may hand them out as soon as they are back.
func (h *Hub) putBackLeft(ctx context.Context) error {
	var left []parley.Delivery
	err := h.view(ctx, theHub, opItself, func(s *scene) (err error) {
		left, err = s.Queue().Left(h.config.Node)
		return err
	})
	for part := range slices.Chunk(left, dueBatch) {
		if err == nil {
			err = h.write(ctx, theHub, opItself, func(s *scene) error { return s.putBackAll(part) })
		}
	}
	return err
}

// lapsedPauses are deliveries whose pause before another attempt is over.
func (s *scene) lapsedPauses(limit int) ([]parley.Delivery, error) {
	list, err := s.lapsed(limit)
	return slices.DeleteFunc(list, func(d parley.Delivery) bool { return d.State != parley.DeliveryAccepted }), err
}

// putBackAll puts back deliveries that nobody has taken or settled since they were found.
func (s *scene) putBackAll(list []parley.Delivery) error {
	for _, found := range list {
		d, err := s.Deliveries().Get(found.Message, found.Recipient)
		if errors.Is(err, parley.ErrNotFound) || err == nil && (d.Lease != found.Lease || d.Node != found.Node) {
			continue
		}
		if err != nil {
			return err
		}
		r, lives, err := s.runOf(d)
		switch {
		case err != nil:
		case lives:
			err = s.crashed(&r)
		default:
			err = s.putBack(&d, nil)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// crashed ends a run that ended with its hub, and puts back what woke it.
func (s *scene) crashed(r *parley.Run) error {
	keep := func(*parley.Run) {}
	if r.Cancel != "" {
		return s.endCancelled(r, keep)
	}
	cause := failed(r.Agent, parley.Trouble{Failure: parley.FailureLost, Reason: whyLost})
	if err := s.eachLeased(*r, func(d *parley.Delivery) error { return s.putBack(d, cause) }); err != nil {
		return err
	}
	return s.endFailed(r, parley.FailureLost, cause, keep)
}

// mostCrashes is how many runs of one delivery may end with their hub. Then the delivery becomes a dead letter, because it may
// be the cause.
const mostCrashes = 20

// putBack makes a delivery ready that was leased when the hub ended: at once, in its order, and no attempt counts. cause is the
// failure of the run that had it, or nil. An ask that a run had begun to answer fails, because an ask has one attempt.
func (s *scene) putBack(d *parley.Delivery, cause *parley.Error) error {
	recipient, err := s.Agents().Find(d.Recipient)
	if err != nil {
		return err
	}
	if over, err := s.unwanted(d, recipient); err != nil || over {
		return err
	}
	if cause == nil {
		return s.move(d, parley.DeliveryAccepted, nil)
	}
	if d.Purpose == parley.PurposeAsk {
		return s.end(d, parley.DeliveryFailed, cause)
	}
	crashes, err := s.crashes(*d)
	if err != nil {
		return err
	}
	if crashes >= mostCrashes {
		return s.die(d, parley.Errorf(cause.Code, "%s, %d times", cause.Message, crashes))
	}
	return s.move(d, parley.DeliveryAccepted, func(d *parley.Delivery) { d.Failure = cause })
}

// crashes counts the runs of a delivery that were lost without counting as an attempt, including the one that has it.
func (s *scene) crashes(d parley.Delivery) (int, error) {
	runs, err := s.Runs().WokenBy(d.Message, d.Recipient)
	lost := 1
	for _, r := range runs {
		if r.State == parley.RunLost {
			lost++
		}
	}
	return lost - d.Attempt, err
}
