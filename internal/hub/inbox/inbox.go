// Package inbox holds taking, acknowledging and settling deliveries, looking into an inbox, dead letters, and what a person was
// shown.
//
// Take gives ready deliveries to their recipient under a lease, in the order of seq or by priority. While nothing is ready, it
// waits for a signal, which comes after each commit that has a delivery for the recipient. Ack settles, Nack returns, Extend keeps the lease, See records that a
// turn has started, and Settle ends everything that a lease holds. A reply answers the message it replies to.
package inbox

import (
	"context"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/names"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
	"github.com/parley-hub/parley/internal/storage"
)

// Service has the use cases of this package.
type Service struct {
	*unit.Core
	access *access.Service
	names  *names.Service
}

// New makes the use cases on the core of a hub, and on the use cases of other packages that they need.
func New(core *unit.Core, access *access.Service, names *names.Service) *Service {
	return &Service{Core: core, access: access, names: names}
}

// Peek shows the caller's open deliveries, oldest first: ready deliveries, leased ones, and those that pause before the next
// attempt.
func (s *Service) Peek(ctx context.Context, caller unit.Caller, limit int) (parley.Peeked, error) {
	return s.PeekAfter(ctx, caller, 0, limit)
}

// PeekAfter is Peek for deliveries after a seq. If messages are large, it returns fewer deliveries than the limit.
func (s *Service) PeekAfter(ctx context.Context, caller unit.Caller, after int64, limit int) (p parley.Peeked, err error) {
	defer s.ObserveRead(time.Now(), &err)
	limit = unit.Clamp(limit, deliveries.DefaultTake, deliveries.MaxTaken)
	err = s.View(ctx, caller, unit.OpPeekInbox, func(u *unit.Unit) error {
		if p.Inbox, err = u.Queue().Inbox(u.Me.ID); err != nil {
			return err
		}
		p.Deliveries, err = openAfter(u, after, limit)
		return err
	})
	if err == nil {
		err = s.addMessages(ctx, caller, &p)
	}
	return p, err
}

// PeekNewest shows the caller's inbox before a seq (0: from the newest), newest message first. It contains open deliveries, and
// deliveries that the caller has seen and must still act on. More is the number of deliveries before the last one shown.
func (s *Service) PeekNewest(ctx context.Context, caller unit.Caller, before int64, limit int) (p parley.Peeked, err error) {
	defer s.ObserveRead(time.Now(), &err)
	limit = unit.Clamp(limit, deliveries.DefaultTake, deliveries.MaxTaken)
	err = s.View(ctx, caller, unit.OpPeekInbox, func(u *unit.Unit) error {
		if p.Inbox, err = u.Queue().Inbox(u.Me.ID); err != nil {
			return err
		}
		if p.Deliveries, err = newestDeliveries(u, before); err != nil {
			return err
		}
		all := len(p.Deliveries)
		if p.Deliveries, err = cutToSize(u, p.Deliveries[:min(limit, all)]); err != nil {
			return err
		}
		if p.More = all - len(p.Deliveries); all == work.MaxWanted && before == 0 {
			p.More = max(p.More, p.Waking+p.Quiet+p.Work-len(p.Deliveries))
		}
		return nil
	})
	if err == nil {
		err = s.addMessages(ctx, caller, &p)
	}
	return p, err
}

// addMessages reads the messages of the deliveries that a look into an inbox shows.
func (s *Service) addMessages(ctx context.Context, caller unit.Caller, p *parley.Peeked) error {
	read, err := readMessages(ctx, s.Core, caller, unit.OpPeekInbox, p.Deliveries)
	p.Deliveries, p.Messages, p.Answered = read.deliveries, read.messages, read.answered
	return err
}

// newestDeliveries returns the newest deliveries in the caller's inbox. It leaves out tasks and approvals that have ended,
// because they need no action.
func newestDeliveries(u *unit.Unit, before int64) ([]parley.Delivery, error) {
	list, err := u.Queue().Newest(storage.InboxPage{Recipient: u.Me.ID, Before: before, Limit: work.MaxWanted})
	kept := list[:0]
	for _, d := range list {
		wanted := true
		if err == nil && d.State == parley.DeliverySeen && d.Lease == "" {
			wanted, err = wantsAction(u, d)
		}
		if err != nil {
			return nil, err
		}
		if wanted {
			kept = append(kept, d)
		}
	}
	return kept, err
}

// wantsAction reports whether a delivery needs an action of its recipient. It is work.IsWanted, but reads the message first. It
// returns false if the message was deleted.
func wantsAction(u *unit.Unit, d parley.Delivery) (bool, error) {
	m, err := u.Messages().Get(d.Message)
	if err != nil {
		return false, unit.IgnoreNotFound(err)
	}
	return work.IsWanted(u, d, m)
}

// openAfter returns the caller's open deliveries after a seq, in the order of their seq.
func openAfter(u *unit.Unit, after int64, limit int) ([]parley.Delivery, error) {
	list, err := u.Queue().LeasedOrPaused(u.Me.ID, after, limit)
	for _, wakes := range []bool{true, false} {
		if err != nil {
			return nil, err
		}
		var more []parley.Delivery
		more, err = u.Queue().Ready(storage.QueueFilter{Recipient: u.Me.ID, Wakes: wakes, After: after, Limit: limit})
		list = append(list, more...)
	}
	slices.SortFunc(list, deliveries.BySeq)
	if err != nil {
		return nil, err
	}
	return cutToSize(u, list[:min(limit, len(list))])
}
