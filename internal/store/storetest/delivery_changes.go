package storetest

import (
	"reflect"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var deliveryChangeTests = []test{
	{"every field can be set and reset", putEveryField},
	{"a delivery is found by message and recipient, by any name of the recipient", getOne},
	{"a missing delivery is not found", getMissing},
	{"a delivery is replaced only if it has not changed", putCompares},
	{"an update sees its own changes", putSeesItself},
	{"a delivery is open while it is accepted, delivered, or seen and leased", openStates},
	{"deliveries in a part of a conversation come in order", betweenPart},
	{"the last pair_seq of a pair is found", pairLast},
	{"the sender's own pair_seq replaces the store's", pairSequence},
}

func (f *fixture) delivery(message, recipient string) parley.Delivery {
	f.Helper()
	return read(f, func(tx storage.Tx) (parley.Delivery, error) { return tx.Deliveries().Get(message, recipient) })
}

// putEveryField sets every field of a delivery. It fails if a field has no value, so that a new field must be added here.
func putEveryField(f *fixture) {
	m := newInboxFixture(f)
	urgent, err := parley.ParsePriority("urgent")
	if err != nil {
		f.Fatal(err)
	}
	plain := m.write("full", draft{
		to: parley.NewDelivery{Wakes: true, Purpose: parley.PurposeTask},
		edit: func(msg *parley.Message) {
			msg.Priority, msg.ExpiresAt, msg.Deadline = urgent, atPointer(50), atPointer(60)
		},
	})
	f.same("stored", f.delivery(plain.Message, "gendry"), plain)
	full := m.put("full", func(d *parley.Delivery) {
		d.State, d.Attempt = parley.DeliverySeen, 3
		d.DeliveredAt, d.SeenAt, d.SettledAt, d.AnsweredAt = atPointer(2), atPointer(3), atPointer(4), atPointer(5)
		d.Run, d.Answer, d.Overdue, d.Late = "run-1", newID(), true, true
		d.Failure = parley.Errorf(parley.Unavailable, "it was away").Because(parley.RateLimited).Suggest("wait")
		d.Lease, d.Until, d.Node = newID(), 1234, "node-1"
	})
	for i := range reflect.TypeFor[parley.Delivery]().NumField() {
		if name := reflect.TypeFor[parley.Delivery]().Field(i).Name; name != "Damage" && reflect.ValueOf(full).Field(i).IsZero() {
			f.Errorf("%s has no value: the test shows nothing for it", reflect.TypeFor[parley.Delivery]().Field(i).Name)
		}
	}
	f.requireSameFailure(f.delivery(full.Message, "gendry"), full)
	m.put("full", func(d *parley.Delivery) { *d = plain })
	f.same("taken back", f.delivery(plain.Message, "gendry"), plain)
}

// requireSameFailure compares deliveries. It compares errors by the parts that their receiver sees.
func (f *fixture) requireSameFailure(got, want parley.Delivery) {
	f.Helper()
	if got.Failure == nil || got.Failure.Error() != want.Failure.Error() || got.Failure.Reason != want.Failure.Reason ||
		got.Failure.Recoverable != want.Failure.Recoverable {
		f.Errorf("the failure is %+v, want %+v", got.Failure, want.Failure)
	}
	got.Failure, want.Failure = nil, nil
	f.same("changed", got, want)
}

func getOne(f *fixture) {
	m := newInboxFixture(f)
	m.writeWaking("a", "b")
	for _, name := range []string{"gendry", "GENDRY", "GendryBot", f.findAgent("gendry").UUID} {
		f.same("for "+name, f.delivery(m.deliveries["b"].Message, name), m.deliveries["b"])
	}
}

func getMissing(f *fixture) {
	m := newInboxFixture(f)
	m.writeWaking("a")
	for what, key := range map[string][2]string{
		"an unknown message":      {newID(), "gendry"},
		"no id at all":            {"nothing", "gendry"},
		"another recipient":       {m.deliveries["a"].Message, "sansa"},
		"the sender":              {m.deliveries["a"].Message, "arya"},
		"an unknown participant":  {m.deliveries["a"].Message, "nobody"},
		"neither, and both empty": {"", ""},
	} {
		f.missing(what, func(tx storage.Tx) error { return errorOf(tx.Deliveries().Get(key[0], key[1])) })
	}
}

// putCompares calls Put with a wrong old delivery. Nothing of the new one may be stored.
func putCompares(f *fixture) {
	m := newInboxFixture(f)
	m.writeWaking("a")
	now := m.put("a", func(d *parley.Delivery) {
		leaseTo(newID(), 70)(d)
		d.Attempt = 1
	})
	inbox := m.inbox("gendry")
	for what, edit := range map[string]func(*parley.Delivery){
		"another state":      func(d *parley.Delivery) { d.State = parley.DeliverySeen },
		"an earlier attempt": func(d *parley.Delivery) { d.Attempt = 0 },
		"another lease":      func(d *parley.Delivery) { d.Lease = newID() },
		"no lease":           func(d *parley.Delivery) { d.Lease = "" },
		"another recipient":  func(d *parley.Delivery) { d.Recipient = "sansa" },
		"nobody":             func(d *parley.Delivery) { d.Recipient = "nobody" },
		"another message":    func(d *parley.Delivery) { d.Seq++ },
	} {
		stale := now
		edit(&stale)
		after := stale
		setState(parley.DeliveryAcked)(&after)
		if err := f.store.Update(f.Context(), func(tx storage.Tx) error { return tx.Deliveries().Put(stale, after) }); err == nil {
			f.Errorf("%s: it was replaced", what)
		}
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Deliveries().Put(stale, after) })
		f.same("after "+what, f.delivery(now.Message, "gendry"), now)
		f.same("inbox after "+what, m.inbox("gendry"), inbox)
	}
	m.put("a", setState(parley.DeliveryAcked))
}

func putSeesItself(f *fixture) {
	m := newInboxFixture(f)
	m.writeWaking("a")
	before, after := m.deliveries["a"], m.deliveries["a"]
	setState(parley.DeliveryAcked)(&after)
	var got parley.Delivery
	var inbox parley.Inbox
	f.update(func(tx storage.Tx) (err error) {
		if _, err = tx.Queue().Inbox("gendry"); err != nil {
			return err
		}
		if err = tx.Deliveries().Put(before, after); err != nil {
			return err
		}
		if got, err = tx.Deliveries().Get(after.Message, "gendry"); err != nil {
			return err
		}
		inbox, err = tx.Queue().Inbox("gendry")
		return err
	})
	f.same("inside", got, after)
	f.same("inbox inside", inbox, parley.Inbox{})
}

func openStates(f *fixture) {
	m := newInboxFixture(f)
	m.writeWaking("a")
	is := func(want bool) {
		f.Helper()
		d := m.deliveries["a"]
		f.same("the domain's word for "+string(d.State), d.Open(), want)
		got := read(f, func(tx storage.Tx) (bool, error) { return tx.Deliveries().HasOpen(m.channel.ID) })
		f.same("open while "+string(d.State), got, want)
		idle := read(f, func(tx storage.Tx) ([]string, error) {
			return tx.Conversations().Idle(storage.IdleFilter{
				Kinds: []parley.ConversationKind{parley.Channel}, Since: at(100), Settled: true, Limit: 9,
			})
		})
		f.same("idle while "+string(d.State), len(idle) == 1, !want)
		f.same("in the inbox while "+string(d.State), m.inbox("gendry").Waking == 1, want)
	}
	is(true)
	m.put("a", leaseTo(newID(), 50))
	is(true)
	m.put("a", func(d *parley.Delivery) { d.State = parley.DeliverySeen })
	is(true)
	m.put("a", setState(parley.DeliverySeen)) // no session works on the message any more
	is(false)
	m.put("a", leaseTo("", 0)) // a person has the message
	is(true)
	m.put("a", pause(99))
	is(true)
	for _, ended := range []parley.DeliveryState{
		parley.DeliveryAcked, parley.DeliveryAnswered, parley.DeliveryFailed, parley.DeliveryExpired,
		parley.DeliveryEvicted, parley.DeliveryDead, parley.DeliveryDropped,
	} {
		m.put("a", setState(ended))
		is(false)
		m.put("a", setState(parley.DeliveryAccepted))
		is(true)
	}
}

func betweenPart(f *fixture) {
	m := newInboxFixture(f)
	m.writeWaking("a", "b")
	m.write("other recipient", draft{to: parley.NewDelivery{Agent: "sansa"}})
	m.writeWaking("c", "d")
	elsewhere := f.channel("other", "arya")
	m.write("elsewhere", draft{edit: func(msg *parley.Message) { msg.Conversation = elsewhere.ID }})
	m.put("b", setState(parley.DeliveryAcked)) // deliveries in every state are listed
	seq := func(name string) int64 { return m.deliveries[name].Seq }
	for _, c := range []struct {
		after, upTo int64
		limit       int
		want        string
	}{
		{0, seq("d"), 9, "a b c d"},
		{seq("a"), seq("c"), 9, "b c"},
		{seq("a"), seq("a"), 9, ""},
		{0, seq("elsewhere"), 2, "a b"},
		{seq("d"), seq("elsewhere"), 9, ""},
		{0, seq("d"), 0, ""},
	} {
		m.requireList("between", c.want, func(tx storage.Tx) ([]parley.Delivery, error) {
			return tx.Deliveries().Between(m.channel.ID, "gendry", c.after, c.upTo, c.limit)
		})
	}
	m.requireList("between, by name", "elsewhere", func(tx storage.Tx) ([]parley.Delivery, error) {
		return tx.Deliveries().Between("other", "GendryBot", 0, seq("elsewhere"), 9)
	})
}

func (f *fixture) lastPairSeq(from, to string) int64 {
	f.Helper()
	return read(f, func(tx storage.Tx) (int64, error) { return tx.Deliveries().PairSeq(from, to) })
}

func pairLast(f *fixture) {
	m := newInboxFixture(f)
	f.same("before any", f.lastPairSeq("arya", "gendry"), int64(0))
	m.writeWaking("a", "b")
	f.same("after two", f.lastPairSeq("arya", "gendry"), int64(2))
	f.same("the other way", f.lastPairSeq("gendry", "arya"), int64(0))
	f.same("to another", f.lastPairSeq("arya", "sansa"), int64(0))
	f.fails(errOwn, func(tx storage.Tx) error {
		if n, err := tx.Deliveries().PairSeq("arya", "gendry"); err != nil || n != 2 {
			return err
		}
		msg, err := post(tx, newMessage(m.channel.ID, "arya", "c"))
		if err == nil {
			_, err = tx.Deliveries().Insert(msg, reaches("gendry"))
		}
		if n, pairErr := tx.Deliveries().PairSeq("arya", "gendry"); err != nil || pairErr != nil || n != 3 {
			return err
		}
		return errOwn
	})
	f.same("after one that failed", f.lastPairSeq("arya", "gendry"), int64(2))
	for pair, n := range map[[2]string]int64{{"arya", "gendry"}: 7, {"gendry", "arya"}: 1} {
		f.update(func(tx storage.Tx) error { return tx.Deliveries().SetPairSeq(pair[0], pair[1], n) })
		f.same("as the sender counts", f.lastPairSeq(pair[0], pair[1]), n)
	}
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Deliveries().SetPairSeq("arya", "nobody", 1) })
}

func pairSequence(f *fixture) {
	m := newInboxFixture(f)
	for i, step := range []struct{ own, want int64 }{{0, 1}, {7, 7}, {0, 8}, {1, 1}, {0, 2}} {
		d := m.write(string(rune('a'+i)), draft{to: parley.NewDelivery{Sequence: step.own}})
		f.same("pair_seq", d.PairSeq, step.want)
		f.same("stored", f.delivery(d.Message, "gendry").PairSeq, step.want)
		f.same("the last", f.lastPairSeq("arya", "gendry"), step.want)
	}
}
