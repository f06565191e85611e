package storetest

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

var departureTests = []test{
	{"departures are listed by state, in the order in which they were added", departureLists},
	{"a departure is found by its message and recipient, its number and its name", departureFound},
	{"a message has one departure for each recipient, and a name is used once in a folder", departureTaken},
	{"the greatest name with a prefix is found", departureLast},
	{"replacing a departure changes only its state", departurePut},
}

func (f *fixture) departureAt(num int64) storage.DepartureRow {
	f.Helper()
	return read(f, func(tx storage.Tx) (storage.DepartureRow, error) { return tx.Bridges().DepartureAt("tree", num) })
}

func (f *fixture) departures(state parley.DepartureState, after int64, limit int) []storage.DepartureRow {
	f.Helper()
	return read(f, func(tx storage.Tx) ([]storage.DepartureRow, error) {
		return tx.Bridges().Departures("tree", state, after, limit)
	})
}

func departureLists(f *fixture) {
	_, m := f.bridgeWithMessage()
	channel := storage.DepartureRow{Bridge: "tree", Message: m.ID, Folder: "general", Name: "é", State: parley.DepartureDue, At: at(4)}
	written, elsewhere := newDeparture("tree", "arya", "1", m.ID), newDeparture("other", "arya", "1", m.ID)
	written.State = parley.DepartureWritten
	made := f.addDepartures(channel, written, elsewhere, newDeparture("tree", "gendry", "2", m.ID))
	for i := range made[1:] {
		if made[i].Num >= made[i+1].Num {
			f.Errorf("the numbers do not rise: %d, %d", made[i].Num, made[i+1].Num)
		}
	}
	f.same("due", f.departures(parley.DepartureDue, 0, 9), []storage.DepartureRow{made[0], made[3]})
	f.same("up to the limit", f.departures(parley.DepartureDue, 0, 1), made[:1])
	f.same("after one", f.departures(parley.DepartureDue, made[0].Num, 9), made[3:])
	f.same("written", f.departures(parley.DepartureWritten, 0, 9), made[1:2])
	f.same("seen", f.departures(parley.DepartureSeen, 0, 9), []storage.DepartureRow{})
}

func departureFound(f *fixture) {
	c, m := f.bridgeWithMessage()
	other := f.post(newMessage(c.ID, "arya", "again"))
	made := f.addDepartures(newDeparture("tree", "arya", "name", m.ID), newDeparture("tree", "gendry", "name", other.ID), newDeparture("tree", "", "name", m.ID))
	for _, want := range made {
		f.same("by its number", f.departureAt(want.Num), want)
		f.same("by its message", read(f, func(tx storage.Tx) (storage.DepartureRow, error) {
			return tx.Bridges().Departure("tree", want.Message, want.Recipient)
		}), want)
	}
	as := func(folder string) storage.DepartureRow {
		return read(f, func(tx storage.Tx) (storage.DepartureRow, error) {
			return tx.Bridges().DepartureNamed("tree", folder, "name")
		})
	}
	f.same("by its name", as("arya"), made[0])
	f.same("the newest of its name", as(""), made[2])
	for name, call := range map[string]func(storage.BridgeStore) error{
		"another recipient": func(s storage.BridgeStore) error { return errorOf(s.Departure("tree", other.ID, "arya")) },
		"nobody":            func(s storage.BridgeStore) error { return errorOf(s.Departure("tree", m.ID, "nobody")) },
		"no message":        func(s storage.BridgeStore) error { return errorOf(s.Departure("tree", "no uuid", "arya")) },
		"another number":    func(s storage.BridgeStore) error { return errorOf(s.DepartureAt("tree", 99)) },
		"another bridge":    func(s storage.BridgeStore) error { return errorOf(s.DepartureAt("other", made[0].Num)) },
		"another folder":    func(s storage.BridgeStore) error { return errorOf(s.DepartureNamed("tree", "sansa", "name")) },
		"another name":      func(s storage.BridgeStore) error { return errorOf(s.DepartureNamed("tree", "", "Name")) },
	} {
		f.missing(name, func(tx storage.Tx) error { return call(tx.Bridges()) })
	}
}

func departureTaken(f *fixture) {
	_, m := f.bridgeWithMessage()
	made := f.addDepartures(newDeparture("tree", "arya", "name", m.ID))
	f.fails(parley.ErrTaken, func(tx storage.Tx) error {
		return errorOf(tx.Bridges().AddDeparture(newDeparture("tree", "arya", "other", m.ID)))
	})
	f.fails(parley.ErrTaken, func(tx storage.Tx) error {
		return errorOf(tx.Bridges().AddDeparture(newDeparture("tree", "arya", "name", newID())))
	})
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error {
		return errorOf(tx.Bridges().AddDeparture(newDeparture("tree", "nobody", "x", m.ID)))
	})
	f.addDepartures(newDeparture("other", "arya", "name", m.ID), newDeparture("tree", "gendry", "name", m.ID))
	f.same("the first", f.departureAt(made[0].Num), made[0])
}

func departureLast(f *fixture) {
	f.bridgeWithMessage()
	for _, name := range []string{"msg-1-arya-0009", "msg-1-arya-000a", "msg-1-arya-0002", "msg-1-gendry-ffff", "msg-1-arya"} {
		f.addDepartures(newDeparture("tree", "arya", name, newID()))
	}
	f.addDepartures(newDeparture("tree", "gendry", "msg-1-arya-ffff", newID()))
	last := func(prefix string) string {
		return read(f, func(tx storage.Tx) (storage.DepartureRow, error) {
			return tx.Bridges().LastDeparture("tree", "arya", prefix)
		}).Name
	}
	f.same("the greatest", last("msg-1-arya-"), "msg-1-arya-000a")
	f.same("of all", last(""), "msg-1-gendry-ffff")
	f.missing("another", func(tx storage.Tx) error { return errorOf(tx.Bridges().LastDeparture("tree", "arya", "msg-2-")) })
}

func departurePut(f *fixture) {
	_, m := f.bridgeWithMessage()
	made := f.addDepartures(newDeparture("tree", "arya", "name", m.ID), newDeparture("tree", "gendry", "name", m.ID))
	changed := storage.DepartureRow{
		Bridge: "tree", Num: made[0].Num, Message: newID(), Recipient: "gendry", Folder: "changed", Name: "changed",
		State: parley.DepartureSeen, At: at(9),
	}
	f.update(func(tx storage.Tx) error { return tx.Bridges().PutDeparture(changed) })
	want := made[0]
	want.State, want.At = parley.DepartureSeen, at(9)
	f.same("replaced", f.departureAt(want.Num), want)
	f.same("the other", f.departureAt(made[1].Num), made[1])
	changed.Num = 99
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Bridges().PutDeparture(changed) })
	changed.Num, changed.Bridge = made[1].Num, "other"
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Bridges().PutDeparture(changed) })
}
