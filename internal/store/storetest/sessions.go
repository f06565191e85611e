package storetest

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

var sessionTests = []test{
	{"every field of a client session is stored", sessionFields},
	{"replacing a session changes its kind, its client, its wake, its last sign and its end only", sessionPut},
	{"a participant has one session with a key, and others may have the same key", sessionKeys},
	{"references to missing rows are refused", sessionRefused},
	{"a failed update stores no session", sessionFailed},
	{"what a lease holds is counted", sessionHeld},
}

func newSession(agent, key string, since int) storage.SessionRow {
	return storage.SessionRow{
		Session: parley.Session{
			Key: key, Agent: agent, Client: "claude-code 2.1", Kind: parley.SessionStdio, Wake: parley.WakeNone, Since: at(since), LastSign: at(since),
		},
		ID: newID(), Node: "hub", Until: 60_000,
	}
}

func (f *fixture) sessions(list ...storage.SessionRow) {
	f.Helper()
	f.update(func(tx storage.Tx) error { return forEach(list, tx.Sessions().Insert) })
}

func (f *fixture) listedSessions() []storage.SessionRow {
	f.Helper()
	return read(f, func(tx storage.Tx) ([]storage.SessionRow, error) { return tx.Sessions().List() })
}

func sessionFields(f *fixture) {
	f.channelWithMessages(1)
	full := newSession("arya", "a:b-1", 2)
	full.Kind, full.Wake, full.LastSign, full.Node, full.Until = parley.SessionHook, parley.WakeHook, at(9), "hub-2", 77
	plain := newSession("gendry", "x", 1)
	plain.Client = ""
	f.sessions(full, plain)
	got := read(f, func(tx storage.Tx) (storage.SessionRow, error) { return tx.Sessions().Get("arya", "a:b-1") })
	f.same("by key", got, full)
	f.same("the oldest first", f.listedSessions(), []storage.SessionRow{plain, full})
}

func sessionPut(f *fixture) {
	f.channelWithMessages(1)
	s := newSession("arya", "k", 1)
	f.sessions(s)
	changed := newSession("gendry", "other", 5)
	changed.ID, changed.Wake, changed.LastSign, changed.Until, changed.Node = s.ID, parley.WakeTask, at(7), 90_000, "elsewhere"
	changed.Kind, changed.Client = parley.SessionWatch, "another client"
	f.update(func(tx storage.Tx) error { return tx.Sessions().Put(changed) })
	s.Kind, s.Client, s.Wake, s.LastSign, s.Until = changed.Kind, changed.Client, changed.Wake, changed.LastSign, changed.Until
	f.same("replaced", f.listedSessions(), []storage.SessionRow{s})
	f.update(func(tx storage.Tx) error { return tx.Sessions().Erase(s.ID) })
	f.same("erased", f.listedSessions(), []storage.SessionRow(nil))
	for _, id := range []string{s.ID, newID(), "no uuid", ""} {
		gone := s
		gone.ID = id
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Sessions().Put(gone) })
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Sessions().Erase(id) })
	}
}

func sessionKeys(f *fixture) {
	f.channelWithMessages(1)
	one, other := newSession("arya", "k", 1), newSession("gendry", "k", 2)
	f.sessions(one, other)
	f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Sessions().Insert(newSession("arya", "k", 3)) })
	same := newSession("arya", "j", 3)
	same.ID = one.ID
	f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Sessions().Insert(same) })
	f.same("both", f.listedSessions(), []storage.SessionRow{one, other})
	f.missing("an unknown key", func(tx storage.Tx) error { return errorOf(tx.Sessions().Get("arya", "K")) })
}

func sessionRefused(f *fixture) {
	f.channelWithMessages(1)
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Sessions().Insert(newSession("nobody", "k", 1)) })
	f.missing("an unknown participant", func(tx storage.Tx) error { return errorOf(tx.Sessions().Get("nobody", "k")) })
}

func sessionFailed(f *fixture) {
	f.channelWithMessages(1)
	f.fails(errOwn, func(tx storage.Tx) error {
		if err := tx.Sessions().Insert(newSession("arya", "k", 1)); err != nil {
			return err
		}
		return errOwn
	})
	f.same("none", f.listedSessions(), []storage.SessionRow(nil))
}

func sessionHeld(f *fixture) {
	_, m := f.channelWithMessages(3)
	lease := newID()
	f.update(func(tx storage.Tx) error {
		for i, one := range m {
			list, err := tx.Deliveries().Insert(one, []parley.NewDelivery{{Agent: "gendry", Wakes: true}})
			if err != nil {
				return err
			}
			if i == 0 {
				continue
			}
			held := list[0]
			held.State, held.DeliveredAt, held.Lease, held.Until = parley.DeliveryDelivered, atPointer(2), lease, 60_000
			if err := tx.Deliveries().Put(list[0], held); err != nil {
				return err
			}
		}
		return nil
	})
	held := read(f, func(tx storage.Tx) (map[string]int, error) { return tx.Sessions().CountHeld() })
	f.same("held", held, map[string]int{lease: 2})
}
