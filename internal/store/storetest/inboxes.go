package storetest

import (
	"errors"
	"fmt"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var inboxTests = []test{
	{"open deliveries are counted, waking and quiet ones apart", inboxCounts},
	{"totals count agents, conversations, messages and deliveries", inboxTotals},
	{"a delivery with a purpose does not count towards the depth", inboxPurposes},
	{"the count of evicted deliveries never decreases", inboxEvicted},
	{"an update sees its own changes of the counts", inboxWithinUpdate},
	{"a failed update changes no count, queue or delivery", queueUndone},
	{"deliveries of a deleted conversation are in no queue", deleteHidesQueue},
	{"purging a conversation lowers the counts of the inbox", purgeLowersCounts},
	{"the time until which an agent sleeps is stored", agentSleeps},
}

func inboxCounts(f *fixture) {
	m := newInboxFixture(f)
	f.same("nothing", m.inbox("gendry"), parley.Inbox{})
	m.writeWaking("a", "b")
	m.write("quiet", draft{})
	m.write("sansa's", draft{to: parley.NewDelivery{Agent: "sansa", Wakes: true}})
	f.same("accepted", m.inbox("gendry"), parley.Inbox{Waking: 2, Quiet: 1})
	f.same("by another name", m.inbox("GendryBot"), parley.Inbox{Waking: 2, Quiet: 1})
	m.put("a", leaseTo(newID(), 50))
	m.put("quiet", leaseTo(newID(), 50))
	f.same("taken", m.inbox("gendry"), parley.Inbox{Waking: 2, Quiet: 1})
	m.put("a", pause(60))
	f.same("given back", m.inbox("gendry"), parley.Inbox{Waking: 2, Quiet: 1})
	m.put("quiet", setState(parley.DeliverySeen))
	m.put("a", setState(parley.DeliveryDead))
	f.same("seen and dead", m.inbox("gendry"), parley.Inbox{Waking: 1})
	m.put("a", setState(parley.DeliveryAccepted))
	f.same("retried", m.inbox("gendry"), parley.Inbox{Waking: 2})
	f.same("another's", m.inbox("sansa"), parley.Inbox{Waking: 1})
	all := read(f, func(tx storage.Tx) (map[string]parley.Inbox, error) { return tx.Queue().Inboxes() })
	f.same("all", all, map[string]parley.Inbox{"gendry": {Waking: 2}, "sansa": {Waking: 1}})
}

func inboxTotals(f *fixture) {
	totals := func() parley.Totals {
		return read(f, func(tx storage.Tx) (parley.Totals, error) { return tx.Counts().Totals() })
	}
	f.same("of nothing", totals(), parley.Totals{})
	m := newInboxFixture(f)
	start := totals()
	m.writeWaking("a", "b")
	m.write("quiet", draft{})
	m.write("sansa's", draft{to: parley.NewDelivery{Agent: "sansa", Wakes: true}})
	m.put("b", leaseTo(newID(), 50))
	m.put("b", setState(parley.DeliveryDead))
	f.same("of what came", totals(), parley.Totals{
		Agents: start.Agents, Conversations: start.Conversations, Messages: 4, OpenDeliveries: 3, DeadLetters: 1,
	})
	list := read(f, func(tx storage.Tx) ([]parley.Conversation, error) { return tx.Conversations().Scan("", 100) })
	for _, c := range list {
		f.update(func(tx storage.Tx) error { return tx.Conversations().Delete(c.ID) })
	}
	f.same("of what is left", totals(), parley.Totals{Agents: start.Agents})
}

func inboxPurposes(f *fixture) {
	m := newInboxFixture(f)
	for _, p := range []parley.Purpose{
		parley.PurposeAsk, parley.PurposeTask, parley.PurposeCallback, parley.PurposeApproval, parley.PurposeError,
	} {
		m.write(string(p), draft{to: parley.NewDelivery{Wakes: p != parley.PurposeError, Purpose: p}})
		f.same("with "+string(p), m.inbox("gendry"), parley.Inbox{Work: 1})
		m.put(string(p), setState(parley.DeliveryAcked))
		f.same("after "+string(p), m.inbox("gendry"), parley.Inbox{})
	}
}

func inboxEvicted(f *fixture) {
	m := newInboxFixture(f)
	m.writeWaking("a", "b")
	m.write("quiet", draft{})
	m.write("replaced", draft{})
	m.put("replaced", func(d *parley.Delivery) { d.State = parley.DeliveryEvicted })
	f.same("replaced", m.inbox("gendry"), parley.Inbox{Waking: 2, Quiet: 1})
	m.put("a", setState(parley.DeliveryEvicted))
	m.put("quiet", setState(parley.DeliveryEvicted))
	f.same("evicted", m.inbox("gendry"), parley.Inbox{Waking: 1, Evicted: 2})
	m.put("a", func(d *parley.Delivery) { d.AnsweredAt = atPointer(5) })
	f.same("once each", m.inbox("gendry"), parley.Inbox{Waking: 1, Evicted: 2})
	m.writeWaking("c")
	f.same("and on", m.inbox("gendry"), parley.Inbox{Waking: 2, Evicted: 2})
}

// inboxWithinUpdate reads the counts several times within one update, because a store may cache them.
func inboxWithinUpdate(f *fixture) {
	m := newInboxFixture(f)
	m.writeWaking("a")
	var counts []parley.Inbox
	f.update(func(tx storage.Tx) error {
		counts = nil
		look := func() error {
			for _, agent := range []string{"gendry", "sansa"} {
				inbox, err := tx.Queue().Inbox(agent)
				if err != nil {
					return err
				}
				counts = append(counts, inbox)
			}
			return nil
		}
		msg, err := post(tx, newMessage(m.channel.ID, "arya", "b"))
		if err != nil {
			return err
		}
		made, err := tx.Deliveries().Insert(msg, []parley.NewDelivery{{Agent: "sansa"}, {Agent: "gendry", Wakes: true}})
		if err != nil {
			return err
		}
		after := made[1]
		setState(parley.DeliveryEvicted)(&after)
		return errors.Join(look(), tx.Deliveries().Put(made[1], after), look())
	})
	f.same("counts", counts, []parley.Inbox{{Waking: 2}, {Quiet: 1}, {Waking: 1, Evicted: 1}, {Quiet: 1}})
}

// queueUndone changes a delivery in every possible way, in updates that fail.
func queueUndone(f *fixture) {
	m := newInboxFixture(f)
	m.writeWaking("a")
	m.write("beat", draft{edit: func(msg *parley.Message) { msg.Type = parley.TypeHeartbeat }})
	before, far := f.contents(), at(1_000_000)
	for what, edit := range map[string]func(*parley.Delivery){
		"taken": leaseTo(newID(), 50), "paused": pause(60), "evicted": setState(parley.DeliveryEvicted),
		"dead": setState(parley.DeliveryDead), "overdue": func(d *parley.Delivery) { d.Overdue = true },
	} {
		attempt := func(tx storage.Tx) error {
			after := m.deliveries["a"]
			edit(&after)
			msg := newMessage(m.channel.ID, "arya", "beat")
			msg.Type = parley.TypeHeartbeat
			stored, err := post(tx, msg)
			return errors.Join(err, tx.Deliveries().Put(m.deliveries["a"], after), errorOf(tx.Deliveries().Insert(stored, reaches("gendry"))))
		}
		f.fails(errOwn, func(tx storage.Tx) error { return errors.Join(attempt(tx), errOwn) })
		f.panics(func(tx storage.Tx) error { panic(attempt(tx)) })
		f.same("after "+what, f.contents(), before)
		m.requireList("ready after "+what, "a", ready(storage.QueueFilter{Wakes: true}))
		m.requireList("held after "+what, "", held(9))
		m.requireList("lapsed after "+what, "", lapsed(1<<40, 9))
		m.requireList("due after "+what, "a", due(far, 9))
		m.requireList("dead after "+what, "", dead(0, 9))
		m.requireList("heartbeat after "+what, "beat", func(tx storage.Tx) ([]parley.Delivery, error) {
			d, err := tx.Queue().Heartbeat("arya", "gendry")
			return []parley.Delivery{d}, err
		})
	}
}

// deleteHidesQueue makes a delivery for each method of the queue, and deletes the conversation.
func deleteHidesQueue(f *fixture) {
	m := newInboxFixture(f)
	lease := newID()
	m.writeWaking("ready", "leased", "paused", "dead")
	m.write("quiet", draft{edit: func(msg *parley.Message) { msg.Type = parley.TypeHeartbeat }})
	m.put("leased", leaseTo(lease, 50))
	m.put("paused", pause(60))
	m.put("dead", setState(parley.DeliveryDead))
	removed := f.findAgent("gendry")
	removed.RemovedAt = atPointer(9)
	f.update(func(tx storage.Tx) error { return tx.Agents().Put(removed) })
	f.same("removed, with open deliveries", f.orphaned(), []string{"gendry"})
	hidden := func(tx storage.Tx) error {
		for what, ask := range map[string]func(storage.Tx) ([]parley.Delivery, error){
			"ready": ready(storage.QueueFilter{Wakes: true}), "urgent": ready(storage.QueueFilter{Wakes: true, Urgent: true}),
			"quiet": ready(storage.QueueFilter{}), "held": held(9), "leased": leased(lease), "lapsed": lapsed(1<<40, 9),
			"due": due(at(1_000_000), 9), "dead": dead(0, 9),
		} {
			if list, err := ask(tx); err != nil || len(list) > 0 {
				return fmt.Errorf("%s: %d deliveries are still found: %w", what, len(list), err)
			}
		}
		if ids, err := tx.Queue().Orphaned(); err != nil || len(ids) > 0 {
			return fmt.Errorf("orphaned: %v: %w", ids, err)
		}
		return nil
	}
	f.update(func(tx storage.Tx) error {
		return errors.Join(tx.Conversations().Delete(m.channel.ID), hidden(tx)) // in the rest of the update too
	})
	f.view(hidden)
	f.missing("a delivery", func(tx storage.Tx) error {
		return errorOf(tx.Deliveries().Get(m.deliveries["ready"].Message, "gendry"))
	})
	f.missing("a heartbeat", func(tx storage.Tx) error { return errorOf(tx.Queue().Heartbeat("arya", "gendry")) })
	f.missing("a part of the conversation", func(tx storage.Tx) error {
		return errorOf(tx.Deliveries().Between(m.channel.ID, "gendry", 0, 1<<40, 9))
	})
}

func purgeLowersCounts(f *fixture) {
	m := newInboxFixture(f)
	m.writeWaking("a", "leased", "acked")
	m.write("quiet", draft{})
	m.write("ask", draft{to: parley.NewDelivery{Wakes: true, Purpose: parley.PurposeAsk}})
	m.write("sansa's", draft{to: parley.NewDelivery{Agent: "sansa", Wakes: true}})
	m.put("leased", func(d *parley.Delivery) { d.State, d.Lease, d.Until = parley.DeliverySeen, newID(), 50 })
	m.put("acked", setState(parley.DeliveryAcked))
	deleted := m.channel
	m.channel = f.channel("other", "arya")
	m.writeWaking("stays")
	m.write("stays quiet", draft{})
	f.same("before", m.inbox("gendry"), parley.Inbox{Waking: 3, Quiet: 2, Work: 1})
	f.update(func(tx storage.Tx) error { return tx.Conversations().Delete(deleted.ID) })
	var inside parley.Inbox
	f.fails(errOwn, func(tx storage.Tx) error {
		msg, err := post(tx, newMessage(m.channel.ID, "arya", "another"))
		if err != nil {
			return err
		}
		if err := errors.Join(errorOf(tx.Deliveries().Insert(msg, reaches("gendry"))), errorOf(tx.Conversations().Purge(noLimit))); err != nil {
			return err
		}
		inside, err = tx.Queue().Inbox("gendry")
		return errors.Join(err, errOwn)
	})
	f.same("in the update that erases", inside, parley.Inbox{Waking: 2, Quiet: 1})
	for f.purge(2) > 0 { // a few at a time, so that the count must change with each deleted row
		continue
	}
	f.same("afterwards", m.inbox("gendry"), parley.Inbox{Waking: 1, Quiet: 1})
	f.same("another's", m.inbox("sansa"), parley.Inbox{})
	m.put("stays", setState(parley.DeliveryAcked))
	m.put("stays quiet", setState(parley.DeliveryAcked))
	f.same("at last", m.inbox("gendry"), parley.Inbox{})
}

func agentSleeps(f *fixture) {
	a := f.agents("arya")[0]
	for _, until := range []int{50, 60, 0} {
		if a.SleepingUntil = nil; until > 0 {
			a.SleepingUntil = atPointer(until)
		}
		f.update(func(tx storage.Tx) error { return tx.Agents().Put(a) })
		f.same("found", f.findAgent("arya"), a)
		f.same("listed", read(f, func(tx storage.Tx) ([]parley.Agent, error) { return tx.Agents().List() }), []parley.Agent{a})
	}
	a.SleepingUntil = atPointer(70)
	f.fails(errOwn, func(tx storage.Tx) error { return errors.Join(tx.Agents().Put(a), errOwn) })
	if until := f.findAgent("arya").SleepingUntil; until != nil {
		f.Errorf("after a failed update it sleeps until %s", until)
	}
	b := newAgent("gendry")
	b.SleepingUntil = atPointer(80)
	f.update(func(tx storage.Tx) error { return tx.Agents().Insert(b) })
	f.same("added asleep", f.findAgent("gendry"), b)
}
