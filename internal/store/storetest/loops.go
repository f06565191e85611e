package storetest

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

var loopTests = []test{
	{"exchanges of two agents are found in any order and spelling", loopFields},
	{"exchanges are replaced and forgotten", loopForget},
	{"exchanges of a conversation are forgotten, and the open ones are returned", loopForgetIn},
	{"exchanges without agents or a conversation are refused", loopRefused},
}

func (f *fixture) exchange(list ...storage.Exchange) {
	f.Helper()
	f.update(func(tx storage.Tx) error {
		for _, e := range list {
			if err := tx.Loops().Put(e); err != nil {
				return err
			}
		}
		return nil
	})
}

func (f *fixture) exchanges(a, b string) storage.Exchange {
	f.Helper()
	return read(f, func(tx storage.Tx) (storage.Exchange, error) { return tx.Loops().Get(a, b) })
}

func loopFields(f *fixture) {
	f.agents("gendry", "arya", "sansa") // not in the order of their ids
	c := f.channel("general", "arya")
	e := storage.Exchange{A: "arya", B: "gendry", Last: "gendry", Conversation: c.ID, Count: 7, At: at(3), Open: true}
	f.exchange(e)
	for _, pair := range [][2]string{{"arya", "gendry"}, {"gendry", "arya"}, {"GENDRYBOT", "Arya"}} {
		f.same("the exchange", f.exchanges(pair[0], pair[1]), e)
	}
	for _, pair := range [][2]string{{"arya", "sansa"}, {"arya", "arya"}, {"arya", "nobody"}, {"nobody", "arya"}} {
		f.missing("another", func(tx storage.Tx) error { return errorOf(tx.Loops().Get(pair[0], pair[1])) })
	}
}

func loopForget(f *fixture) {
	f.agents("arya", "gendry", "sansa")
	c, other := f.channel("general", "arya"), f.channel("other", "arya")
	f.exchange(storage.Exchange{A: "arya", B: "gendry", Last: "gendry", Conversation: c.ID, Count: 7, At: at(3), Open: true})
	kept := storage.Exchange{A: "arya", B: "sansa", Last: "sansa", Conversation: c.ID, Count: 1, At: at(4)}
	changed := storage.Exchange{A: "arya", B: "gendry", Last: "arya", Conversation: other.ID, Count: 8, At: at(5)}
	f.exchange(kept, storage.Exchange{A: "gendry", B: "arya", Last: "ARYA", Conversation: other.ID, Count: 8, At: at(5)})
	f.same("replaced", f.exchanges("arya", "gendry"), changed)
	forget := func(a, b string) (was bool) {
		f.update(func(tx storage.Tx) (err error) {
			was, err = tx.Loops().Forget(a, b)
			return err
		})
		return was
	}
	f.same("forgotten", forget("GENDRY", "arya"), true)
	f.same("forgotten again", forget("arya", "gendry"), false)
	f.missing("the forgotten one", func(tx storage.Tx) error { return errorOf(tx.Loops().Get("arya", "gendry")) })
	f.same("the other", f.exchanges("arya", "sansa"), kept)
}

func loopForgetIn(f *fixture) {
	f.agents("sansa", "gendry", "arya")
	c, other := f.channel("general", "arya"), f.channel("other", "arya")
	open := storage.Exchange{A: "arya", B: "gendry", Last: "gendry", Conversation: c.ID, Count: 9, At: at(3), Open: true}
	closed := storage.Exchange{A: "arya", B: "sansa", Last: "sansa", Conversation: c.ID, Count: 1, At: at(4)}
	elsewhere := storage.Exchange{A: "gendry", B: "sansa", Last: "sansa", Conversation: other.ID, Count: 9, At: at(4), Open: true}
	f.exchange(open, closed, elsewhere)
	forget := func(conversation string) (list []storage.Exchange) {
		f.update(func(tx storage.Tx) (err error) {
			list, err = tx.Loops().ForgetIn(conversation)
			return err
		})
		return list
	}
	f.same("the open ones", forget("general"), []storage.Exchange{open})
	f.same("none are left", forget(c.ID), []storage.Exchange{})
	for _, b := range []string{"gendry", "sansa"} {
		f.missing("a forgotten one", func(tx storage.Tx) error { return errorOf(tx.Loops().Get("arya", b)) })
	}
	f.same("elsewhere", f.exchanges("sansa", "gendry"), elsewhere)
	f.deleteConversation(other)
	f.missing("those of a deleted conversation", func(tx storage.Tx) error { return errorOf(tx.Loops().ForgetIn(other.ID)) })
	elsewhere.Conversation = ""
	f.same("when deleted", f.exchanges("sansa", "gendry"), elsewhere)
	elsewhere.Count++
	f.exchange(elsewhere)
	f.same("counted on", f.exchanges("sansa", "gendry"), elsewhere)
}

func loopRefused(f *fixture) {
	f.agents("arya", "gendry")
	c := f.channel("general", "arya")
	for _, e := range []storage.Exchange{
		{A: "arya", B: "nobody", Last: "arya", Conversation: c.ID},
		{A: "nobody", B: "arya", Last: "arya", Conversation: c.ID},
		{A: "arya", B: "gendry", Last: "nobody", Conversation: c.ID},
		{A: "arya", B: "gendry", Last: "gendry", Conversation: newID()},
	} {
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Loops().Put(e) })
	}
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return errorOf(tx.Loops().Forget("arya", "nobody")) })
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return errorOf(tx.Loops().ForgetIn(newID())) })
	f.missing("afterwards", func(tx storage.Tx) error { return errorOf(tx.Loops().Get("arya", "gendry")) })
}
