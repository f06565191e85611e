package storetest

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

var bridgeTests = []test{
	{"bridges are listed in the order of their ids", bridgeLists},
	{"replacing a bridge keeps its root and layout", bridgePut},
	{"an id, and a root with a layout, can be used once", bridgeTaken},
	{"a bridge has a cursor, which only moves forward", bridgeCursor},
	{"a removed bridge is recognized by its tree when it is added again", bridgeRemove},
	{"every method returns ErrNotFound for a missing bridge", bridgeUnknown},
}

func newBridge(id string) parley.Bridge {
	return parley.Bridge{
		ID: id, Layout: parley.LayoutInbox, Root: "/srv/" + id, Agents: []string{"arya"}, CreatedBy: "arya", CreatedAt: at(1), Since: 7,
	}
}

func newFile(bridge, path, message string) storage.FileRow {
	return storage.FileRow{Bridge: bridge, File: parley.BridgeFile{Path: path}, Name: "name", From: "arya", Message: message, At: at(1)}
}

func newDeparture(bridge, recipient, name, message string) storage.DepartureRow {
	return storage.DepartureRow{
		Bridge: bridge, Message: message, Recipient: recipient, Folder: recipient, Name: name, State: parley.DepartureDue, At: at(1),
	}
}

func (f *fixture) bridges(list ...parley.Bridge) {
	f.Helper()
	f.update(func(tx storage.Tx) error { return forEach(list, tx.Bridges().Insert) })
}

func (f *fixture) bridgeList() []parley.Bridge {
	f.Helper()
	return read(f, func(tx storage.Tx) ([]parley.Bridge, error) { return tx.Bridges().List() })
}

func (f *fixture) addFiles(list ...storage.FileRow) {
	f.Helper()
	f.update(func(tx storage.Tx) error { return forEach(list, tx.Bridges().AddFile) })
}

// addDepartures adds departures and returns them with their numbers.
func (f *fixture) addDepartures(list ...storage.DepartureRow) []storage.DepartureRow {
	f.Helper()
	made := make([]storage.DepartureRow, len(list))
	f.update(func(tx storage.Tx) (err error) {
		for i, d := range list {
			if made[i], err = tx.Bridges().AddDeparture(d); err != nil {
				return err
			}
		}
		return nil
	})
	return made
}

func bridgeLists(f *fixture) {
	f.agents("arya", "gendry")
	plain := newBridge("zwei")
	full := parley.Bridge{
		ID: "eins", Layout: parley.LayoutAgentOS, Root: "/srv/é", Agents: []string{"arya", "unknown"}, Channels: []string{"general", "x"},
		QueueAgent: "gm", ReplaySince: atPointer(3), Outside: true, Paused: true, Reached: true, CreatedBy: "gendry", CreatedAt: at(2), Since: 9,
	}
	f.same("none", f.bridgeList(), []parley.Bridge{})
	f.bridges(plain, full)
	f.same("all", f.bridgeList(), []parley.Bridge{full, plain})
	f.same("one", read(f, func(tx storage.Tx) (parley.Bridge, error) { return tx.Bridges().Get("eins") }), full)
}

func bridgePut(f *fixture) {
	f.agents("arya", "gendry")
	b, other := newBridge("tree"), newBridge("zz")
	f.bridges(b, other)
	changed := parley.Bridge{
		ID: "tree", Layout: "changed", Root: "changed", Agents: []string{"gendry"}, Channels: []string{"general"}, QueueAgent: "changed",
		ReplaySince: atPointer(1), Outside: true, Paused: true, Reached: true, CreatedBy: "gendry", CreatedAt: at(9), Since: 99,
	}
	f.update(func(tx storage.Tx) error { return tx.Bridges().Put(changed) })
	b.Agents, b.Channels, b.Paused, b.Reached = []string{"gendry"}, []string{"general"}, true, true
	f.same("replaced", f.bridgeList(), []parley.Bridge{b, other})
	b.Channels, b.Paused, b.Reached = nil, false, false
	f.update(func(tx storage.Tx) error { return tx.Bridges().Put(b) })
	f.same("back", f.bridgeList(), []parley.Bridge{b, other})
}

func bridgeTaken(f *fixture) {
	f.agents("arya")
	b := newBridge("tree")
	f.bridges(b)
	sameRoot, nobodys, otherLayout := newBridge("other"), newBridge("nobodys"), newBridge("layout")
	sameRoot.Root, nobodys.CreatedBy, otherLayout.Root, otherLayout.Layout = b.Root, "nobody", b.Root, parley.LayoutAgentOS
	f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Bridges().Insert(newBridge("tree")) })
	f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Bridges().Insert(sameRoot) })
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Bridges().Insert(nobodys) })
	f.bridges(otherLayout)
	f.same("all", f.bridgeList(), []parley.Bridge{otherLayout, b})
}

func bridgeCursor(f *fixture) {
	f.agents("arya")
	f.bridges(newBridge("tree"), newBridge("other"))
	cursor := func(id string) int64 {
		return read(f, func(tx storage.Tx) (int64, error) { return tx.Bridges().Cursor(id) })
	}
	f.same("at first", cursor("tree"), int64(7))
	for _, step := range []struct{ to, want int64 }{{20, 20}, {20, 20}, {10, 20}, {21, 21}} {
		f.update(func(tx storage.Tx) error { return tx.Bridges().MoveCursor("tree", step.to) })
		f.same("moved", cursor("tree"), step.want)
	}
	f.same("of another", cursor("other"), int64(7))
}

func bridgeRemove(f *fixture) {
	f.agents("arya")
	f.bridges(newBridge("tree"), newBridge("other"))
	file, kept := newFile("tree", "a.json", ""), newFile("other", "a.json", "")
	f.addFiles(file, kept)
	departed := f.addDepartures(newDeparture("tree", "arya", "name", newID()), newDeparture("other", "arya", "name", newID()))
	f.update(func(tx storage.Tx) error { return tx.Bridges().Remove("tree", at(1)) })
	f.same("left", f.bridgeList(), []parley.Bridge{newBridge("other")})
	f.same("a file of the other", f.file("other", file.File), kept)
	for _, gone := range []string{"tree", "~1"} {
		f.missing("the removed", func(tx storage.Tx) error { return errorOf(tx.Bridges().Get(gone)) })
		f.missing("its file", func(tx storage.Tx) error { return errorOf(tx.Bridges().File(gone, file.File)) })
	}

	again := newBridge("again")
	again.Root, again.Agents, again.Since, again.CreatedAt = newBridge("tree").Root, []string{"arya"}, 40, at(2)
	taken := again
	taken.ID = "other"
	f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Bridges().Insert(taken) })
	f.bridges(again)
	f.same("joined again", f.bridgeList(), []parley.Bridge{again, newBridge("other")})
	file.Bridge, departed[0].Bridge, departed[0].Message = "again", "again", "" // the message does not exist
	f.same("its file", f.file("again", file.File), file)
	f.same("its departure", read(f, func(tx storage.Tx) (storage.DepartureRow, error) {
		return tx.Bridges().DepartureAt("again", departed[0].Num)
	}), departed[0])
	f.same("its cursor", read(f, func(tx storage.Tx) (int64, error) { return tx.Bridges().Cursor("again") }), int64(40))
	f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Bridges().Insert(again) })

	elsewhere := newBridge("tree")
	elsewhere.Root = "/elsewhere"
	f.bridges(elsewhere)
	f.missing("a file of another tree", func(tx storage.Tx) error { return errorOf(tx.Bridges().File("tree", file.File)) })
}

func bridgeUnknown(f *fixture) {
	f.agents("arya")
	f.bridges(newBridge("tree"))
	for _, id := range []string{"nothing", "", "a\x00b", "\xff"} {
		for name, call := range map[string]func(storage.BridgeStore) error{
			"Get":           func(s storage.BridgeStore) error { return errorOf(s.Get(id)) },
			"Put":           func(s storage.BridgeStore) error { return s.Put(newBridge(id)) },
			"Remove":        func(s storage.BridgeStore) error { return s.Remove(id, at(1)) },
			"Cursor":        func(s storage.BridgeStore) error { return errorOf(s.Cursor(id)) },
			"MoveCursor":    func(s storage.BridgeStore) error { return s.MoveCursor(id, 9) },
			"AddFile":       func(s storage.BridgeStore) error { return s.AddFile(newFile(id, "a.json", "")) },
			"File":          func(s storage.BridgeStore) error { return errorOf(s.File(id, parley.BridgeFile{})) },
			"KnownFiles":    func(s storage.BridgeStore) error { return errorOf(s.KnownFiles(id, nil)) },
			"FileNamed":     func(s storage.BridgeStore) error { return errorOf(s.FileNamed(id, "name", "")) },
			"LastFile":      func(s storage.BridgeStore) error { return errorOf(s.LastFile(id, "n")) },
			"FileOfMessage": func(s storage.BridgeStore) error { return errorOf(s.FileOfMessage(id, newID())) },
			"AddDeparture": func(s storage.BridgeStore) error {
				return errorOf(s.AddDeparture(newDeparture(id, "arya", "name", newID())))
			},
			"Departure":      func(s storage.BridgeStore) error { return errorOf(s.Departure(id, newID(), "arya")) },
			"DepartureAt":    func(s storage.BridgeStore) error { return errorOf(s.DepartureAt(id, 1)) },
			"DepartureNamed": func(s storage.BridgeStore) error { return errorOf(s.DepartureNamed(id, "", "name")) },
			"LastDeparture":  func(s storage.BridgeStore) error { return errorOf(s.LastDeparture(id, "arya", "n")) },
			"Departures":     func(s storage.BridgeStore) error { return errorOf(s.Departures(id, parley.DepartureDue, 0, 9)) },
			"PutDeparture":   func(s storage.BridgeStore) error { return s.PutDeparture(storage.DepartureRow{Bridge: id, Num: 1}) },
		} {
			f.missing(name+" of "+id, func(tx storage.Tx) error { return call(tx.Bridges()) })
		}
	}
}
