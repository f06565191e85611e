package inbox

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/sessions"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// MaxTakeBytes bounds the messages that one call takes from an inbox or shows of it, unless the first message alone is larger.
const MaxTakeBytes = 1 << 20

// PollInterval is how often a waiting Take looks for deliveries by other processes, and for deliveries to a caller that slept.
const PollInterval = 2 * time.Second

func checkTake(t parley.Take) (parley.Take, error) {
	unit.SetDefault(&t.Limit, deliveries.DefaultTake)
	unit.SetDefault(&t.Lease, deliveries.DefaultLease)
	switch {
	case t.Limit < 0 || t.Limit > deliveries.MaxTaken:
		return t, parley.Errorf(parley.BadInput, "the limit is %d", t.Limit).Suggest("take 1 to %d", deliveries.MaxTaken)
	case len(t.Only) > deliveries.MaxTaken:
		return t, parley.Errorf(parley.BadInput, "the call names %d messages", len(t.Only)).Suggest("name 1 to %d", deliveries.MaxTaken)
	case t.Lease < time.Second || t.Lease > deliveries.MaxLease:
		return t, parley.Errorf(parley.BadInput, "the lease is %s", t.Lease).Suggest("ask for 1s to %s", deliveries.MaxLease)
	case t.Wait < 0:
		return t, parley.Errorf(parley.BadInput, "the wait is %s", t.Wait).Suggest("wait 0s or longer")
	}
	t.Waking = t.Waking || t.Urgent
	if t.Session != "" {
		if err := parley.CheckSessionKey(t.Session); err != nil {
			return t, err
		}
		t.Lease = deliveries.DefaultLease // the hub extends it while the session lives
	}
	return t, parley.CheckRun(t.Run)
}

// Take leases the caller's ready deliveries to the caller and returns them. It waits for t.Wait if nothing is ready, and
// returns an empty result if nothing comes.
func (s *Service) Take(ctx context.Context, caller unit.Caller, t parley.Take) (taken parley.Taken, err error) {
	if t, err = checkTake(t); err != nil {
		return taken, err
	}
	if err := access.Limit(ctx, s.access, caller); err != nil {
		return taken, err
	}
	if t.Only, err = s.names.FindMessages(ctx, caller, unit.OpTake, t.Only); err != nil {
		return taken, err
	}
	me, err := CallerID(ctx, s.Core, caller, unit.OpTake)
	if err != nil {
		return taken, err
	}
	end := time.NewTimer(t.Wait)
	defer end.Stop()
	for {
		signal := s.InboxSignals.Listen(me) // before the check, so that no delivery is missed in between
		waiting, err := hasReady(ctx, s.Core, caller, t)
		if err != nil {
			return parley.Taken{}, err
		}
		if waiting {
			if taken, err = takeWithMessages(ctx, s.Core, caller, me, t); err != nil || len(taken.Deliveries) > 0 {
				return taken, err
			}
		}
		if t.Wait == 0 {
			return parley.Taken{}, nil
		}
		t.Again = false // what the session takes while this call waits, another call of it takes, such as a hook
		select {
		case <-signal:
		case <-time.After(PollInterval):
		case <-end.C:
			return parley.Taken{}, nil
		case <-ctx.Done():
			return parley.Taken{}, s.Explain(ctx, caller, ctx.Err())
		}
	}
}

// CallerID returns the id of the caller.
func CallerID(ctx context.Context, core *unit.Core, caller unit.Caller, do unit.Op) (id string, err error) {
	err = core.View(ctx, caller, do, func(u *unit.Unit) error {
		id = u.Me.ID
		return nil
	})
	return id, err
}

// findSession returns the lease of a take, and the deliveries that wait for the session of the take alone, or that an earlier take of
// the session had if its answer was lost. A run has no session.
func findSession(u *unit.Unit, caller unit.Caller, t parley.Take) (lease string, waiting []parley.Delivery, err error) {
	if t.Session == "" {
		return uuid.NewString(), nil, nil
	}
	if caller.By != "" || caller.Run != "" {
		return "", nil, parley.UnknownSession(t.Session)
	}
	row, err := sessions.Find(u, u.Me.ID, t.Session)
	if err != nil {
		return "", nil, err
	}
	waiting, unsettled, err := sessions.Held(u, row)
	if t.Again {
		unseen := slices.DeleteFunc(unsettled, func(d parley.Delivery) bool { return d.State != parley.DeliveryDelivered })
		waiting = append(unseen, waiting...)
	}
	if len(t.Only) > 0 {
		waiting = slices.DeleteFunc(waiting, func(d parley.Delivery) bool { return !slices.Contains(t.Only, d.Message) })
	}
	return row.ID, waiting, err
}

// hasReady reports whether there is something to take. It only reads, so that waiting callers do not block writers.
func hasReady(ctx context.Context, core *unit.Core, caller unit.Caller, t parley.Take) (found bool, err error) {
	t.Limit = 1
	err = core.View(ctx, caller, unit.OpTake, func(u *unit.Unit) error {
		_, waiting, err := findSession(u, caller, t)
		if err != nil || len(waiting) > 0 {
			found = len(waiting) > 0
			return err
		}
		list, err := deliveries.Ready(u, t, 0)
		found = len(list) > 0
		return err
	})
	return found, err
}

func takeWithMessages(ctx context.Context, core *unit.Core, caller unit.Caller, me string, t parley.Take) (taken parley.Taken, err error) {
	defer core.ObserveRead(time.Now(), &err)
	if err := core.Hooks.Recovered(ctx); err != nil {
		return taken, err
	}
	for {
		taken, err = takeOnce(ctx, core, caller, me, t)
		if err != nil || len(taken.Deliveries) == 0 {
			return parley.Taken{}, err
		}
		// The deliveries are leased to the caller now, so read their messages even if the caller has stopped waiting.
		ctx := context.WithoutCancel(ctx)
		read, err := readMessages(ctx, core, caller, unit.OpTake, taken.Deliveries)
		taken.Deliveries, taken.Messages, taken.Answered = read.deliveries, read.messages, read.answered
		if err != nil {
			return taken, err
		}
		had := len(taken.Deliveries)
		if taken, err = endDamagedTaken(ctx, core, caller, taken); err != nil || len(taken.Deliveries) > 0 || had == 0 {
			return taken, err
		}
	}
}

// takeOnce takes what is ready, without its messages.
func takeOnce(ctx context.Context, core *unit.Core, caller unit.Caller, me string, t parley.Take) (taken parley.Taken, err error) {
	turn := core.TakeCounts.At(me)
	err = core.Write(ctx, caller, unit.OpTake, func(u *unit.Unit) error {
		lease, waiting, err := findSession(u, caller, t)
		if err != nil {
			return err
		}
		list, err := takeReady(u, t, turn, lease, waiting)
		taken = parley.Taken{Deliveries: list}
		if usesLeases(u) && !t.AtMostOnce {
			taken.Lease, taken.For, taken.ForAsks, taken.Attempts = lease, t.Lease, askLease(u, list, t), u.Me.Attempts
		}
		return err
	})
	if err != nil || len(taken.Deliveries) == 0 {
		return parley.Taken{}, err
	}
	if t.Urgent {
		core.TakeCounts.Add(me, len(taken.Deliveries))
	}
	return taken, nil
}

// readDeliveries are deliveries with their messages, in the same order.
type readDeliveries struct {
	deliveries []parley.Delivery
	messages   []parley.Message
	answered   parley.ShortNames
}

// readMessages reads the messages of deliveries. The recipient of a message may read it, even without other rights to the
// conversation. Deliveries whose message was deleted are left out.
func readMessages(ctx context.Context, core *unit.Core, caller unit.Caller, do unit.Op, list []parley.Delivery) (read readDeliveries, err error) {
	ids := make([]string, len(list))
	for i, d := range list {
		ids[i] = d.Message
	}
	err = core.View(ctx, caller, do, func(u *unit.Unit) error {
		found := map[string]parley.Message{}
		for left, before := ids, -1; len(found) > before; { // the store returns large messages in parts
			before = len(found)
			part, err := u.Messages().GetAll(left)
			if err != nil {
				return err
			}
			for _, m := range part {
				found[m.ID] = m
			}
			left = slices.DeleteFunc(slices.Clone(left), func(id string) bool { return found[id].ID != "" })
		}
		if err := addDamageNotices(u, list, found); err != nil {
			return err
		}
		read = readDeliveries{}
		for _, d := range list {
			if m := found[d.Message]; m.ID != "" {
				read.deliveries, read.messages = append(read.deliveries, d), append(read.messages, m)
			}
		}
		var err error
		read.answered, err = messages.Answered(u, read.messages)
		return err
	})
	if err != nil {
		read = readDeliveries{deliveries: list}
	}
	return read, err
}

// addDamageNotices puts a damage notice in the place of each message that is missing or whose delivery is damaged.
func addDamageNotices(u *unit.Unit, list []parley.Delivery, found map[string]parley.Message) error {
	for _, d := range list {
		if d.Damage != nil {
			found[d.Message] = parley.DamagedMessage(*d.Damage, d.Conversation)
		}
		if found[d.Message].ID != "" {
			continue
		}
		m, lost, err := work.StandInForLost(u, d)
		if err != nil {
			return err
		}
		if lost {
			found[d.Message] = m
		}
	}
	return nil
}

// usesLeases reports whether the hub leases to the caller what it takes. It leases nothing to people, who have no deadline.
func usesLeases(u *unit.Unit) bool { return u.Me.Kind == parley.KindAgent }

// takeReady takes ready deliveries, and ends the expired ones that no sweep has ended yet.
func takeReady(u *unit.Unit, t parley.Take, turn int, lease string, waiting []parley.Delivery) ([]parley.Delivery, error) {
	now, err := u.Queue().Now()
	if err != nil {
		return nil, err
	}
	for {
		list, err := deliveries.Ready(u, t, turn)
		if err != nil {
			return nil, err
		}
		if len(waiting) > 0 {
			list = append(waiting, list...)
			list, waiting = list[:min(len(list), t.Limit)], nil
		}
		if list, err = cutToSize(u, list); err != nil {
			return nil, err
		}
		expired := 0
		for i := range list {
			if list[i].ExpiresAt != nil && !list[i].ExpiresAt.After(u.Now) {
				expired++
				err = work.Expire(u, &list[i])
			} else {
				err = handDelivery(u, &list[i], t, lease, now)
			}
			if err != nil {
				return nil, err
			}
		}
		list = slices.DeleteFunc(list, func(d parley.Delivery) bool { return d.State == parley.DeliveryExpired })
		if len(list) > 0 || expired == 0 {
			return list, nil
		}
	}
}

// cutToSize shortens a list of deliveries whose messages are too large for one answer. The next take gets the rest.
func cutToSize(u *unit.Unit, list []parley.Delivery) ([]parley.Delivery, error) {
	if len(list)*u.Core.Config.Limits.Body <= MaxTakeBytes { // they fit, whatever their sizes are
		return list, nil
	}
	seqs := make([]int64, len(list))
	for i, d := range list {
		seqs[i] = d.Seq
	}
	sizes, err := u.Messages().Sizes(seqs)
	size := 0
	for i, d := range list {
		if size += sizes[d.Seq]; size > MaxTakeBytes {
			return list[:max(i, 1)], err
		}
	}
	return list, err
}

// handDelivery moves one delivery to the caller: acknowledged, seen or delivered, as the take says.
func handDelivery(u *unit.Unit, d *parley.Delivery, t parley.Take, lease string, now parley.Tick) error {
	to := parley.DeliveryDelivered
	switch {
	case t.AtMostOnce:
		u.Fetching = true
		return deliveries.SetState(u, d, parley.DeliveryAcked, func(d *parley.Delivery) { d.Run = t.Run })
	case t.Seen:
		to = parley.DeliverySeen
	}
	if d.State == to { // an earlier take of the same session had it
		return nil
	}
	length, err := leaseLength(u, *d, t)
	if err != nil {
		return err
	}
	return deliveries.SetState(u, d, to, func(d *parley.Delivery) {
		if d.Run = t.Run; usesLeases(u) {
			d.Lease, d.Until = lease, now.After(length)
		}
	})
}

// leaseLength returns how long the lease of a delivery lasts. An ask is delivered once, so its plain lease lasts until the ask is late: for
// an asker whose call ends earlier, as long as an ask waits by default.
func leaseLength(u *unit.Unit, d parley.Delivery, t parley.Take) (time.Duration, error) {
	if d.Purpose != parley.PurposeAsk || t.Session != "" || t.Lease != deliveries.DefaultLease {
		return t.Lease, nil
	}
	w, err := u.Waits().Ask(d.Message)
	if err != nil {
		return t.Lease, unit.IgnoreNotFound(err)
	}
	window := max(w.Until.Sub(w.Since), u.Core.Config.Asks.Wait)
	return max(t.Lease, w.Since.Add(window).Sub(u.Now)), nil
}

// askLease returns how long the lease of an ask in a list lasts at least, or 0 if there is no ask.
func askLease(u *unit.Unit, list []parley.Delivery, t parley.Take) (least time.Duration) {
	for _, d := range list {
		if d.Purpose != parley.PurposeAsk {
			continue
		}
		length := t.Lease
		if length == deliveries.DefaultLease {
			length = max(length, d.AcceptedAt.Add(u.Core.Config.Asks.Wait).Sub(u.Now))
		}
		if least == 0 || length < least {
			least = length
		}
	}
	return least
}

// endDamagedTaken removes damaged deliveries from what was taken, and ends them.
func endDamagedTaken(ctx context.Context, core *unit.Core, caller unit.Caller, taken parley.Taken) (parley.Taken, error) {
	kept := taken
	kept.Deliveries, kept.Messages = nil, nil
	failures := map[string]*parley.Error{}
	for i, d := range taken.Deliveries {
		if why := unit.Damaged(d, taken.Messages[i]); why != nil {
			failures[d.Message] = why
			continue
		}
		kept.Deliveries, kept.Messages = append(kept.Deliveries, d), append(kept.Messages, taken.Messages[i])
	}
	if len(failures) == 0 {
		return taken, nil
	}
	err := core.Write(ctx, caller, unit.OpTake, func(u *unit.Unit) error {
		for _, d := range taken.Deliveries {
			if why := failures[d.Message]; why != nil {
				if err := work.EndDamaged(u, &d, why); err != nil {
					return err
				}
			}
		}
		return nil
	})
	return kept, err
}
