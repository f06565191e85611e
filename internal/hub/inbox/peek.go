package inbox

import (
	"context"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
	"github.com/parley-hub/parley/internal/storage"
)

// Peek shows what is open for the caller, oldest first: what waits, what somebody has taken, and what
// pauses before another try.
func (s *Service) Peek(ctx context.Context, caller unit.Caller, limit int) (parley.Peeked, error) {
	return s.PeekAfter(ctx, caller, 0, limit)
}

// PeekAfter is Peek of what is after a seq. Where messages are large it shows fewer than asked for.
func (s *Service) PeekAfter(ctx context.Context, caller unit.Caller, after int64, limit int) (p parley.Peeked, err error) {
	defer s.Read(time.Now(), &err)
	limit = unit.Clamp(limit, deliveries.DefaultTake, deliveries.MostTaken)
	err = s.View(ctx, caller, unit.OpPeekInbox, func(u *unit.Unit) error {
		if p.Inbox, err = u.Queue().Inbox(u.Me.ID); err != nil {
			return err
		}
		p.Deliveries, err = openAfter(u, after, limit)
		return err
	})
	if err == nil {
		p.Deliveries, p.Messages, err = readMessages(ctx, s.Core, caller, unit.OpPeekInbox, p.Deliveries)
	}
	return p, err
}

// PeekNewest shows what is in the caller's inbox before a seq (0: from the newest), the newest message first. Beside what is
// open it has what the caller has seen and must still act on. More says how much there is before the last one shown.
func (s *Service) PeekNewest(ctx context.Context, caller unit.Caller, before int64, limit int) (p parley.Peeked, err error) {
	defer s.Read(time.Now(), &err)
	limit = unit.Clamp(limit, deliveries.DefaultTake, deliveries.MostTaken)
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
		if p.More = all - len(p.Deliveries); all == work.MostWanted && before == 0 {
			p.More = max(p.More, p.Waking+p.Quiet+p.Work-len(p.Deliveries))
		}
		return nil
	})
	if err == nil {
		p.Deliveries, p.Messages, err = readMessages(ctx, s.Core, caller, unit.OpPeekInbox, p.Deliveries)
	}
	return p, err
}

// newestDeliveries are the newest deliveries in the caller's inbox. A task or an approval that has ended wants nothing any more.
func newestDeliveries(u *unit.Unit, before int64) ([]parley.Delivery, error) {
	list, err := u.Queue().Newest(storage.InboxPage{Recipient: u.Me.ID, Before: before, Limit: work.MostWanted})
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

// wantsAction is wants for a delivery whose message is not read yet.
func wantsAction(u *unit.Unit, d parley.Delivery) (bool, error) {
	m, err := u.Messages().Get(d.Message)
	if err != nil {
		return false, unit.IgnoreNotFound(err)
	}
	return work.Wants(u, d, m)
}

// openAfter is the caller's open deliveries by seq, after one.
func openAfter(u *unit.Unit, after int64, limit int) ([]parley.Delivery, error) {
	list, err := u.Queue().Held(u.Me.ID, after, limit)
	for _, wakes := range []bool{true, false} {
		if err != nil {
			return nil, err
		}
		var more []parley.Delivery
		more, err = u.Queue().Ready(storage.Queue{Recipient: u.Me.ID, Wakes: wakes, After: after, Limit: limit})
		list = append(list, more...)
	}
	slices.SortFunc(list, deliveries.BySeq)
	if err != nil {
		return nil, err
	}
	return cutToSize(u, list[:min(limit, len(list))])
}
