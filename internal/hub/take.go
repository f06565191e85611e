package hub

import (
	"context"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

const (
	defaultLease = time.Minute
	longestLease = 12 * time.Hour
	defaultTake  = 20
	mostTaken    = 500
	takenBytes   = 1 << 20         // of what is taken or looked at in an inbox at once, unless the first message has more
	takePoll     = 2 * time.Second // for what other processes have written, and who has slept
)

func checkTake(t parley.Take) (parley.Take, error) {
	setDefault(&t.Limit, defaultTake)
	setDefault(&t.Lease, defaultLease)
	switch {
	case t.Limit < 0 || t.Limit > mostTaken:
		return t, parley.Errorf(parley.BadInput, "the limit is %d", t.Limit).Suggest("take 1 to %d", mostTaken)
	case len(t.Only) > mostTaken:
		return t, parley.Errorf(parley.BadInput, "%d messages are named", len(t.Only)).Suggest("name 1 to %d", mostTaken)
	case t.Lease < time.Second || t.Lease > longestLease:
		return t, parley.Errorf(parley.BadInput, "the lease is %s", t.Lease).Suggest("ask for 1s to %s", longestLease)
	case t.Wait < 0:
		return t, parley.Errorf(parley.BadInput, "the wait is %s", t.Wait).Suggest("wait 0s or longer")
	}
	t.Waking = t.Waking || t.Urgent
	return t, parley.CheckRun(t.Run)
}

// Take hands deliveries that are ready to the caller, whose they are, and leases them to it. It waits
// if told to, and returns nothing where nothing has come.
func (h *Hub) Take(ctx context.Context, caller Caller, t parley.Take) (taken parley.Taken, err error) {
	if t, err = checkTake(t); err != nil {
		return taken, err
	}
	if err := h.limit(ctx, caller); err != nil {
		return taken, err
	}
	if t.Only, err = h.findMessages(ctx, caller, opTake, t.Only); err != nil {
		return taken, err
	}
	me, err := h.whoIs(ctx, caller, opTake)
	if err != nil {
		return taken, err
	}
	end := time.NewTimer(t.Wait)
	defer end.Stop()
	for {
		bell := h.bells.listen(me) // before looking, so that nothing falls between
		waiting, err := h.isReady(ctx, caller, t)
		if err != nil {
			return parley.Taken{}, err
		}
		if waiting {
			if taken, err = h.take(ctx, caller, me, t); err != nil || len(taken.Deliveries) > 0 {
				return taken, err
			}
		}
		if t.Wait == 0 {
			return parley.Taken{}, nil
		}
		select {
		case <-bell:
		case <-time.After(takePoll):
		case <-end.C:
			return parley.Taken{}, nil
		case <-ctx.Done():
			return parley.Taken{}, h.explain(ctx, caller, ctx.Err())
		}
	}
}

func (h *Hub) whoIs(ctx context.Context, caller Caller, do op) (id string, err error) {
	err = h.view(ctx, caller, do, func(s *scene) error {
		id = s.me.ID
		return nil
	})
	return id, err
}

// isReady says whether there is something to take. It only reads: whoever waits does not hold up those
// who write.
func (h *Hub) isReady(ctx context.Context, caller Caller, t parley.Take) (found bool, err error) {
	t.Limit = 1
	err = h.view(ctx, caller, opTake, func(s *scene) error {
		list, err := s.ready(t, 0)
		found = len(list) > 0
		return err
	})
	return found, err
}

func (h *Hub) take(ctx context.Context, caller Caller, me string, t parley.Take) (taken parley.Taken, err error) {
	defer h.read(time.Now(), &err)
	if err := h.hooks.recovered(ctx); err != nil {
		return taken, err
	}
	for {
		taken, err = h.takeOnce(ctx, caller, me, t)
		if err != nil || len(taken.Deliveries) == 0 {
			return parley.Taken{}, err
		}
		// What is taken is the caller's: it gets it, even if it has stopped waiting meanwhile.
		ctx := context.WithoutCancel(ctx)
		if taken.Deliveries, taken.Messages, err = h.bodies(ctx, caller, opTake, taken.Deliveries); err != nil {
			return taken, err
		}
		had := len(taken.Deliveries)
		if taken, err = h.sift(ctx, caller, taken); err != nil || len(taken.Deliveries) > 0 || had == 0 {
			return taken, err
		}
	}
}

// takeOnce takes what is ready, without its messages.
func (h *Hub) takeOnce(ctx context.Context, caller Caller, me string, t parley.Take) (taken parley.Taken, err error) {
	turn := h.turns.at(me)
	err = h.write(ctx, caller, opTake, func(s *scene) error {
		lease := uuid.NewString()
		list, err := s.takeReady(t, turn, lease)
		taken = parley.Taken{Deliveries: list}
		if s.leases() && !t.AtMostOnce {
			taken.Lease, taken.For = lease, t.Lease
		}
		return err
	})
	if err != nil || len(taken.Deliveries) == 0 {
		return parley.Taken{}, err
	}
	if t.Urgent {
		h.turns.move(me, len(taken.Deliveries))
	}
	return taken, nil
}

// bodies reads the messages of deliveries. Whom a message is delivered to may read it, whatever it
// may read otherwise. What was deleted meanwhile is left out.
func (h *Hub) bodies(ctx context.Context, caller Caller, do op, list []parley.Delivery) ([]parley.Delivery, []parley.Message, error) {
	ids := make([]string, len(list))
	for i, d := range list {
		ids[i] = d.Message
	}
	found := map[string]parley.Message{}
	err := h.view(ctx, caller, do, func(s *scene) error {
		for left, before := ids, -1; len(found) > before; { // large ones come in parts
			before = len(found)
			messages, err := s.Messages().GetAll(left)
			if err != nil {
				return err
			}
			for _, m := range messages {
				found[m.ID] = m
			}
			left = slices.DeleteFunc(slices.Clone(left), func(id string) bool { return found[id].ID != "" })
		}
		return s.standIns(list, found)
	})
	if err != nil {
		return list, nil, err
	}
	list = slices.DeleteFunc(list, func(d parley.Delivery) bool { return found[d.Message].ID == "" })
	messages := make([]parley.Message, len(list))
	for i, d := range list {
		messages[i] = found[d.Message]
	}
	return list, messages, nil
}

// standIns puts a damage notice in the place of each message that must not be shown or cannot be found.
func (s *scene) standIns(list []parley.Delivery, found map[string]parley.Message) error {
	for _, d := range list {
		if d.Damage != nil {
			found[d.Message] = parley.DamagedMessage(*d.Damage, d.Conversation)
		}
		if found[d.Message].ID != "" {
			continue
		}
		m, lost, err := s.lost(d)
		if err != nil {
			return err
		}
		if lost {
			found[d.Message] = m
		}
	}
	return nil
}

// leases says whether what the caller takes is leased to it: people have all the time they need.
func (s *scene) leases() bool { return s.me.Kind == parley.KindAgent }

// takeReady takes what is ready, and ends what has expired unnoticed.
func (s *scene) takeReady(t parley.Take, turn int, lease string) ([]parley.Delivery, error) {
	now, err := s.Queue().Now()
	if err != nil {
		return nil, err
	}
	for {
		list, err := s.ready(t, turn)
		if err != nil {
			return nil, err
		}
		if list, err = s.fitting(list); err != nil {
			return nil, err
		}
		expired := 0
		for i := range list {
			if list[i].ExpiresAt != nil && !list[i].ExpiresAt.After(s.now) {
				expired++
				err = s.expire(&list[i])
			} else {
				err = s.hand(&list[i], t, lease, now)
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

// fitting cuts a list of deliveries whose messages are too large for one answer. The next take gets the rest.
func (s *scene) fitting(list []parley.Delivery) ([]parley.Delivery, error) {
	if len(list)*s.hub.config.Limits.Body <= takenBytes { // they fit, whatever they are
		return list, nil
	}
	seqs := make([]int64, len(list))
	for i, d := range list {
		seqs[i] = d.Seq
	}
	sizes, err := s.Messages().Sizes(seqs)
	size := 0
	for i, d := range list {
		if size += sizes[d.Seq]; size > takenBytes {
			return list[:max(i, 1)], err
		}
	}
	return list, err
}

// hand gives one delivery to the caller.
func (s *scene) hand(d *parley.Delivery, t parley.Take, lease string, now parley.Tick) error {
	to := parley.DeliveryDelivered
	switch {
	case t.AtMostOnce:
		s.fetching = true
		return s.move(d, parley.DeliveryAcked, func(d *parley.Delivery) { d.Run = t.Run })
	case t.Seen:
		to = parley.DeliverySeen
	}
	return s.move(d, to, func(d *parley.Delivery) {
		if d.Run = t.Run; s.leases() {
			d.Lease, d.Until = lease, now.After(t.Lease)
		}
	})
}
