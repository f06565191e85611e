package storetest

import (
	"encoding/json"
	"errors"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var logTests = []test{
	{"every field of an event is stored, and the store assigns its number", eventFields},
	{"event numbers begin at 1 and have no gaps", eventNumbers},
	{"messages are events, in one order with the other events", eventsAndMessages},
	{"events come in order, after a number, up to a limit", eventPages},
	{"the bounds are the numbers of the oldest and newest event", eventBounds},
	{"the oldest events are erased, up to the first event that is too young", eventPrune},
	{"numbers go on after all events were erased", eventPruneAll},
	{"every field of an audit entry is stored, and the store assigns its number and hash", auditFields},
	{"the audit chain verifies and goes on after a failed update", auditChain},
	{"audit entries come in order, after a number, up to a limit", auditPages},
}

func (f *fixture) events(after int64, limit int) []parley.Event {
	f.Helper()
	return read(f, func(tx storage.Tx) ([]parley.Event, error) { return tx.Log().Events(after, limit) })
}

func (f *fixture) appendEvents(events ...parley.Event) {
	f.Helper()
	f.update(func(tx storage.Tx) error { return tx.Log().Append(events...) })
}

func eventFields(f *fixture) {
	f.agents("arya")
	full := parley.Event{
		Num: 77, At: at(4), Kind: parley.EventMemberJoined, Conversation: newID(), Agent: "arya", Message: newID(),
		Data: json.RawMessage(`{"a":"é"}`),
	}
	plain := parley.Event{At: at(5), Kind: parley.EventAgentAdded}
	f.appendEvents(full, plain)
	full.Num, plain.Num = 1, 2
	f.same("events", f.events(0, 9), []parley.Event{full, plain})
}

func eventNumbers(f *fixture) {
	e := parley.Event{At: at(0), Kind: "test"}
	f.appendEvents(e)
	f.appendEvents()
	f.appendEvents(e, e)
	f.fails(errOwn, func(tx storage.Tx) error { return errors.Join(tx.Log().Append(e, e, e), errOwn) })
	f.panics(func(tx storage.Tx) error { panic(tx.Log().Append(e)) })
	f.update(func(tx storage.Tx) error { return errors.Join(tx.Log().Append(e), tx.Log().Append(e)) })
	for i, e := range f.events(0, 99) {
		f.same("a number", e.Num, int64(i+1))
	}
	f.same("events", len(f.events(0, 99)), 5)
}

func eventsAndMessages(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	f.update(func(tx storage.Tx) error {
		for range 3 {
			if err := tx.Log().Append(parley.Event{At: at(0), Kind: "test"}); err != nil {
				return err
			}
			if _, err := post(tx, newMessage(c.ID, "arya", "hello")); err != nil {
				return err
			}
		}
		return nil
	})
	f.appendEvents(parley.Event{At: at(0), Kind: "test"})
	f.post(newMessage(c.ID, "arya", "hello"))
	all := f.contents()
	f.requireOneOrder(all)
	kinds := joinEach(all.Events, func(e parley.Event) string { return string(e.Kind[:1]) })
	f.same("the order", kinds, "t m t m t m t m")
}

// eventPages reads pages of a log in which two of five events are messages.
func eventPages(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	for i := range 5 {
		if i%2 == 1 {
			f.post(newMessage(c.ID, "arya", "hello"))
		} else {
			f.appendEvents(parley.Event{At: at(-i), Kind: "test"})
		}
	}
	all := f.events(0, 99)
	f.same("events", len(all), 5)
	for after := range 7 {
		for limit := 1; limit <= 6; limit++ {
			begin := min(after, 5)
			got := f.events(int64(after), limit)
			f.same("events", got, all[begin:min(begin+limit, 5)])
		}
	}
}

func (f *fixture) bounds() (oldest, newest int64) {
	f.Helper()
	f.view(func(tx storage.Tx) (err error) {
		oldest, newest, err = tx.Log().Bounds()
		return err
	})
	return oldest, newest
}

// requireBounds requires the numbers of the oldest and newest event.
func (f *fixture) requireBounds(oldest, newest int64) {
	f.Helper()
	from, to := f.bounds()
	f.same("bounds", []int64{from, to}, []int64{oldest, newest})
}

func eventBounds(f *fixture) {
	f.requireBounds(0, 0)
	e := parley.Event{At: at(0), Kind: "test"}
	f.appendEvents(e)
	f.requireBounds(1, 1)
	f.appendEvents(e, e)
	f.requireBounds(1, 3)
	f.agents("arya")
	f.post(newMessage(f.channel("general", "arya").ID, "arya", "hello"))
	f.requireBounds(1, 4) // a message is an event
	f.fails(errOwn, func(tx storage.Tx) error { return errors.Join(tx.Log().Append(e), errOwn) })
	f.requireBounds(1, 4)
}

func (f *fixture) prune(seconds, limit int) (n int) {
	f.Helper()
	f.update(func(tx storage.Tx) (err error) {
		n, err = tx.Log().Prune(at(seconds), limit)
		return err
	})
	return n
}

// eventPrune uses seven events. After the fourth comes a message, and then the clock goes back.
func eventPrune(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	for _, seconds := range []int{1, 2, 3, 9} {
		f.appendEvents(parley.Event{At: at(seconds), Kind: "test"})
	}
	f.post(newMessage(c.ID, "arya", "hello"))
	for _, seconds := range []int{1, 2, 20} {
		f.appendEvents(parley.Event{At: at(seconds), Kind: "test"})
	}
	f.same("none is old", f.prune(1, 9), 0)
	f.requireBounds(1, 8)
	f.same("one is", f.prune(2, 9), 1)
	f.requireBounds(2, 8)
	f.fails(errOwn, func(tx storage.Tx) error { return errors.Join(errorOf(tx.Log().Prune(at(100), 9)), errOwn) })
	f.requireBounds(2, 8)
	f.same("up to the young one", f.prune(5, 9), 2)
	f.same("no further", f.prune(5, 9), 0)
	f.requireBounds(4, 8)
	f.same("up to the limit", f.prune(10, 2), 2)
	f.requireBounds(7, 8)
	f.same("the rest of them", f.prune(10, 2), 1)
	f.requireBounds(8, 8)
	kinds := joinEach(f.events(0, 9), func(e parley.Event) string { return string(e.Kind) })
	f.same("left", kinds, "message.posted test")
}

func eventPruneAll(f *fixture) {
	e := parley.Event{At: at(0), Kind: "test"}
	f.appendEvents(e, e, e)
	f.same("erased", f.prune(1, 9), 3)
	f.requireBounds(4, 3)
	f.same("erased again", f.prune(1, 9), 0)
	f.appendEvents(e)
	f.requireBounds(4, 4)
	f.same("the next", f.events(0, 9)[0].Num, int64(4))
}

func (f *fixture) audited(after int64, limit int) []parley.AuditEntry {
	f.Helper()
	return read(f, func(tx storage.Tx) ([]parley.AuditEntry, error) { return tx.Log().AuditEntries(after, limit) })
}

func (f *fixture) audit(entries ...parley.AuditEntry) {
	f.Helper()
	f.update(func(tx storage.Tx) error {
		for _, e := range entries {
			if err := tx.Log().AppendAudit(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// auditChain returns all entries and requires that each carries the hash of the one before it.
func (f *fixture) auditChain() []parley.AuditEntry {
	f.Helper()
	all, before := f.audited(0, noLimit), ""
	for i, e := range all {
		if e.Num != int64(i+1) {
			f.Errorf("entry %d has number %d", i, e.Num)
		}
		if e.Hash != e.Chain(before) {
			f.Errorf("entry %d does not follow the one before it", e.Num)
		}
		before = e.Hash
	}
	return all
}

func auditFields(f *fixture) {
	full := parley.AuditEntry{
		Num: 9, Hash: "mine", At: at(1), Actor: "user", Act: "agent.remove", Subject: "arya", Detail: json.RawMessage(`{"why":"é"}`),
	}
	plain := parley.AuditEntry{At: at(0).Add(300_000), Actor: "gone-agent"} // time below a millisecond does not break the chain
	f.audit(full, plain)
	all := f.auditChain()
	full.Num = 1
	full.Hash = full.Chain("")
	plain.Num, plain.At = 2, at(0)
	plain.Hash = plain.Chain(full.Hash)
	f.same("entries", all, []parley.AuditEntry{full, plain})
}

func (f *fixture) auditHead() parley.AuditHead {
	f.Helper()
	return read(f, func(tx storage.Tx) (parley.AuditHead, error) { return tx.Log().AuditHead() })
}

func auditChain(f *fixture) {
	f.same("the head of nothing", f.auditHead(), parley.AuditHead{})
	entry := func(act string) parley.AuditEntry { return parley.AuditEntry{At: at(1), Actor: "user", Act: act} }
	f.audit(entry("a"))
	f.fails(errOwn, func(tx storage.Tx) error { return errors.Join(tx.Log().AppendAudit(entry("x")), errOwn) })
	f.audit(entry("b"), entry("c"))
	f.panics(func(tx storage.Tx) error { panic(tx.Log().AppendAudit(entry("y"))) })
	f.audit(entry("d"))
	all := f.auditChain()
	f.same("the head", f.auditHead(), parley.AuditHead{Num: 4, Hash: all[3].Hash})
	acts := joinEach(all, func(e parley.AuditEntry) string { return e.Act })
	f.same("acts", acts, "a b c d")
}

func auditPages(f *fixture) {
	for range 4 {
		f.audit(parley.AuditEntry{At: at(1), Act: "test"})
	}
	all := f.auditChain()
	for after := range 6 {
		for limit := 1; limit <= 5; limit++ {
			begin := min(after, 4)
			got := f.audited(int64(after), limit)
			f.same("entries", got, all[begin:min(begin+limit, 4)])
		}
	}
}
