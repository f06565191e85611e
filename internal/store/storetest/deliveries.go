package storetest

import (
	"errors"
	"fmt"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var deliveryTests = []test{
	{"a new delivery is accepted, and has the fields of its message and reach", deliveryFields},
	{"deliveries of a message come in the order in which their recipients were added", deliveryOrder},
	{"pair_seq counts each sender and recipient apart", deliveryPairs},
	{"a failed update does not count", deliveryPairsFailed},
	{"a recipient has one delivery of a message", deliveryTaken},
	{"a delivery needs a message and a recipient that exist", deliveryNotFound},
	{"a conversation is open while it has an unsettled delivery", deliveryOpen},
	{"a message without deliveries has none", deliveryNone},
}

func (f *fixture) deliveriesOf(message string) []parley.Delivery {
	f.Helper()
	return read(f, func(tx storage.Tx) ([]parley.Delivery, error) { return tx.Deliveries().OfMessage(message) })
}

func deliveryFields(f *fixture) {
	f.agents("arya", "gendry", "sansa")
	m := newMessage(f.channel("general", "arya").ID, "arya", "hello")
	m.CreatedAt = at(12)
	m = f.post(m)
	var made []parley.Delivery
	f.update(func(tx storage.Tx) (err error) {
		made, err = tx.Deliveries().Insert(m, []parley.NewDelivery{{Agent: "GENDRY", Wakes: true}, {Agent: "sansa"}})
		return err
	})
	first := parley.Delivery{
		Message: m.ID, Seq: m.Seq, Conversation: m.Conversation, From: "arya", Recipient: "gendry",
		State: parley.DeliveryAccepted, Waking: true, Priority: m.Priority, PairSeq: 1, AcceptedAt: at(12),
	}
	second := first
	second.Recipient, second.Waking = "sansa", false
	want := []parley.Delivery{first, second}
	f.same("returned", made, want)
	f.same("stored", f.deliveriesOf(m.ID), want)
}

func deliveryOrder(f *fixture) {
	f.agents("d", "c", "b", "a", "sender")
	m := f.post(newMessage(f.channel("general", "a").ID, "sender", "hello"))
	order := func(list []parley.Delivery) string {
		return joinEach(list, func(d parley.Delivery) string { return d.Recipient })
	}
	f.same("returned as asked for", order(f.deliver(m, "a", "d", "b")), "a d b")
	f.deliver(m, "c")
	f.same("by age", order(f.deliveriesOf(m.ID)), "d c b a")
}

func deliveryPairs(f *fixture) {
	f.agents("a", "b", "c")
	one, two := f.channel("one", "a"), f.channel("two", "a")
	for _, step := range []struct {
		where, from, to string
		want            int64
	}{
		{one.ID, "a", "b", 1}, {one.ID, "a", "b", 2}, {two.ID, "a", "b", 3}, // across conversations
		{one.ID, "b", "a", 1}, {one.ID, "a", "c", 1}, {two.ID, "c", "b", 1}, // each direction and pair has its own count
		{two.ID, "a", "b", 4}, {two.ID, "b", "a", 2}, {one.ID, "a", "a", 1},
	} {
		made := f.deliver(f.post(newMessage(step.where, step.from, "hello")), step.to)
		if made[0].PairSeq != step.want {
			f.Errorf("%s to %s: pair_seq %d, want %d", step.from, step.to, made[0].PairSeq, step.want)
		}
	}
}

func deliveryPairsFailed(f *fixture) {
	f.agents("a", "b")
	c := f.channel("general", "a")
	attempt := func(tx storage.Tx) error {
		m, err := post(tx, newMessage(c.ID, "a", "hello"))
		if err == nil {
			_, err = tx.Deliveries().Insert(m, reaches("b"))
		}
		return err
	}
	f.fails(errOwn, func(tx storage.Tx) error { return errors.Join(attempt(tx), errOwn) })
	f.panics(func(tx storage.Tx) error { panic(attempt(tx)) })
	f.same("pair_seq", f.deliver(f.post(newMessage(c.ID, "a", "hello")), "b")[0].PairSeq, int64(1))
}

func deliveryTaken(f *fixture) {
	f.agents("a", "b", "c")
	m := f.post(newMessage(f.channel("general", "a").ID, "a", "hello"))
	first := f.deliver(m, "b")
	for _, to := range [][]string{{"b"}, {"c", "b"}, {"B"}, {"c", "c"}} {
		f.fails(parley.ErrTaken, func(tx storage.Tx) error { return errorOf(tx.Deliveries().Insert(m, reaches(to...))) })
	}
	f.same("stored", f.deliveriesOf(m.ID), first)
	f.update(func(tx storage.Tx) error { // within the update that stores the message too
		m, err := post(tx, newMessage(m.Conversation, "a", "hello"))
		if err != nil {
			return err
		}
		if _, err := tx.Deliveries().Insert(m, reaches("b")); err != nil {
			return err
		}
		if _, err := tx.Deliveries().Insert(m, reaches("b")); !errors.Is(err, parley.ErrTaken) {
			return fmt.Errorf("got %w, want ErrTaken", err)
		}
		return nil
	})
	f.same("pair_seq after the refusal", f.deliver(f.post(newMessage(m.Conversation, "a", "hello")), "b")[0].PairSeq, int64(3))
}

func deliveryNotFound(f *fixture) {
	f.agents("a", "b")
	c := f.channel("general", "a")
	m := f.post(newMessage(c.ID, "a", "hello"))
	never := newMessage(c.ID, "a", "never stored")
	never.Seq = m.Seq + 1
	other := never
	other.Seq = m.Seq // a seq that belongs to another message
	for name, call := range map[string]func(storage.Tx) error{
		"a message that is not stored": func(tx storage.Tx) error { return errorOf(tx.Deliveries().Insert(never, reaches("b"))) },
		"a message with another's seq": func(tx storage.Tx) error { return errorOf(tx.Deliveries().Insert(other, reaches("b"))) },
		"a recipient":                  func(tx storage.Tx) error { return errorOf(tx.Deliveries().Insert(m, reaches("b", "nobody"))) },
	} {
		if err := f.store.Update(f.Context(), call); !errors.Is(err, parley.ErrNotFound) {
			f.Errorf("%s: got %v, want ErrNotFound", name, err)
		}
	}
	f.same("stored", len(f.deliveriesOf(m.ID)), 0)
}

func deliveryOpen(f *fixture) {
	f.agents("a", "b")
	c, other := f.channel("general", "a"), f.channel("other", "a")
	open := func(conversation string) bool {
		return read(f, func(tx storage.Tx) (bool, error) { return tx.Deliveries().HasOpen(conversation) })
	}
	m := f.post(newMessage(c.ID, "a", "hello"))
	f.same("without deliveries", open(c.ID), false)
	f.deliver(m, "b")
	f.same("with one", open(c.ID), true)
	f.same("by name", open("general"), true)
	f.same("elsewhere", open(other.ID), false)
	f.missing("an unknown conversation", func(tx storage.Tx) error { return errorOf(tx.Deliveries().HasOpen(newID())) })
}

func deliveryNone(f *fixture) {
	f.agents("a")
	m := f.post(newMessage(f.channel("general", "a").ID, "a", "hello"))
	f.same("to nobody", len(f.deliver(m)), 0)
	f.same("stored", len(f.deliveriesOf(m.ID)), 0)
	f.same("of an unknown message", len(f.deliveriesOf(newID())), 0)
}
