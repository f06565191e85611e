package storetest

import (
	"encoding/json"
	"errors"

	"github.com/parley-hub/parley"
)

var logTests = []test{
	{"every field of an event comes back, and its number is the store's", eventFields},
	{"event numbers begin at 1 and have no gaps", eventNumbers},
	{"messages are events, in one order with the others", eventsAndMessages},
	{"events come in order, after a number, up to a limit", eventPages},
	{"the bounds are those of what is kept", eventBounds},
	{"every field of an audit entry comes back, and its number and hash are the store's", auditFields},
	{"the audit chain verifies and goes on after a failed update", auditChain},
	{"audit entries come in order, after a number, up to a limit", auditPages},
}

func (f *fixture) events(after int64, limit int) []parley.Event {
	f.Helper()
	return read(f, func(tx parley.Tx) ([]parley.Event, error) { return tx.Log().Events(after, limit) })
}

func (f *fixture) appendEvents(events ...parley.Event) {
	f.Helper()
	f.update(func(tx parley.Tx) error { return tx.Log().Append(events...) })
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
	f.fails(errOwn, func(tx parley.Tx) error { return errors.Join(tx.Log().Append(e, e, e), errOwn) })
	f.panics(func(tx parley.Tx) error { panic(tx.Log().Append(e)) })
	f.update(func(tx parley.Tx) error { return errors.Join(tx.Log().Append(e), tx.Log().Append(e)) })
	for i, e := range f.events(0, 99) {
		f.same("a number", e.Num, int64(i+1))
	}
	f.same("events", len(f.events(0, 99)), 5)
}

func eventsAndMessages(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	f.update(func(tx parley.Tx) error {
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
	all := f.everything()
	f.oneOrder(all)
	kinds := words(all.Events, func(e parley.Event) string { return string(e.Kind[:1]) })
	f.same("the order", kinds, "t m t m t m t m")
}

// eventPages has two of five numbers belong to messages.
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

func eventBounds(f *fixture) {
	check := func(want [2]int64) {
		f.Helper()
		f.view(func(tx parley.Tx) error {
			oldest, newest, err := tx.Log().Bounds()
			f.same("bounds", [2]int64{oldest, newest}, want)
			return err
		})
	}
	check([2]int64{0, 0})
	e := parley.Event{At: at(0), Kind: "test"}
	f.appendEvents(e)
	check([2]int64{1, 1})
	f.appendEvents(e, e)
	check([2]int64{1, 3})
	f.agents("arya")
	f.post(newMessage(f.channel("general", "arya").ID, "arya", "hello"))
	check([2]int64{1, 4}) // a message is an event
	f.fails(errOwn, func(tx parley.Tx) error { return errors.Join(tx.Log().Append(e), errOwn) })
	check([2]int64{1, 4})
}

func (f *fixture) audited(after int64, limit int) []parley.AuditEntry {
	f.Helper()
	return read(f, func(tx parley.Tx) ([]parley.AuditEntry, error) { return tx.Log().Audited(after, limit) })
}

func (f *fixture) audit(entries ...parley.AuditEntry) {
	f.Helper()
	f.update(func(tx parley.Tx) error {
		for _, e := range entries {
			if err := tx.Log().Audit(e); err != nil {
				return err
			}
		}
		return nil
	})
}

// auditChain returns all entries and requires that each carries the hash of the one before it.
func (f *fixture) auditChain() []parley.AuditEntry {
	f.Helper()
	all, before := f.audited(0, plenty), ""
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

func auditChain(f *fixture) {
	entry := func(act string) parley.AuditEntry { return parley.AuditEntry{At: at(1), Actor: "user", Act: act} }
	f.audit(entry("a"))
	f.fails(errOwn, func(tx parley.Tx) error { return errors.Join(tx.Log().Audit(entry("x")), errOwn) })
	f.audit(entry("b"), entry("c"))
	f.panics(func(tx parley.Tx) error { panic(tx.Log().Audit(entry("y"))) })
	f.audit(entry("d"))
	acts := words(f.auditChain(), func(e parley.AuditEntry) string { return e.Act })
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
