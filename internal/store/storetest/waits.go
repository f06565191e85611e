package storetest

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

var waitTests = []test{
	{"every field of a wait is stored", waitFields},
	{"replacing a wait keeps its message and participants, and a wait can be erased", waitPut},
	{"a message has one ask, and others may also wait for its answer", waitAsks},
	{"an id in use and references to missing rows are refused", waitRefused},
	{"an ended wait is in no list", waitStates},
	{"waits are listed by run, by participant outside of runs and by process", waitLists},
	{"asks are due by their time", waitDue},
	{"asks are listed by their messages, of all participants and of one", waitAsksListed},
	{"asks that have become tasks, and those of a run", waitWork},
	{"a failed update stores no wait", waitFailed},
	{"erasing a message erases its waits", waitErasure},
}

func newWait(message, waiter, target string) parley.Wait {
	return parley.Wait{ID: newID(), Message: message, Waiter: waiter, Target: target, State: parley.WaitWaiting, Since: at(1), Until: at(121)}
}

func newAsk(message, waiter, target string) parley.Wait {
	w := newWait(message, waiter, target)
	w.Ask = true
	return w
}

func (f *fixture) waits(list ...parley.Wait) {
	f.Helper()
	f.update(func(tx storage.Tx) error { return forEach(list, tx.Waits().Insert) })
}

// forEach calls fn for each element of a list until fn fails.
func forEach[V any](list []V, fn func(V) error) error {
	for _, v := range list {
		if err := fn(v); err != nil {
			return err
		}
	}
	return nil
}

func (f *fixture) ask(message string) parley.Wait {
	f.Helper()
	return read(f, func(tx storage.Tx) (parley.Wait, error) { return tx.Waits().Ask(message) })
}

func (f *fixture) waitsIn(conversation string) []parley.Wait {
	f.Helper()
	return read(f, func(tx storage.Tx) ([]parley.Wait, error) { return tx.Waits().InConversation(conversation) })
}

func waitFields(f *fixture) {
	c, m := f.channelWithMessages(2)
	full := parley.Wait{
		ID: newID(), Message: m[0].ID, Waiter: "arya", Run: newID(), Target: "gendry", Ask: true, Depth: 2, State: parley.WaitLate,
		Since: at(1), Until: at(2), Approval: newID(), Answer: newID(), Callback: newID(), EndedAt: atPointer(3), Conversation: c.ID, Task: "task-7", AnswerTask: "task-9",
		Node: "node-1", Failure: &parley.Error{Code: parley.TimedOut, Message: "é\n", Recoverable: true},
	}
	plain := newAsk(m[1].ID, "gendry", "arya")
	f.waits(full, plain)
	f.same("full", f.ask(m[0].ID), full)
	f.same("plain", f.ask(m[1].ID), plain)
	f.same("in a list", f.waitsIn(c.ID), []parley.Wait{full, plain})
}

func waitPut(f *fixture) {
	c, m := f.channelWithMessages(2)
	w, other := newAsk(m[0].ID, "arya", "gendry"), newAsk(m[1].ID, "arya", "gendry")
	w.Conversation, w.Task, w.Depth = c.ID, "task-1", 1
	f.waits(w, other)
	elsewhere := f.channel("elsewhere", "arya")
	changed := parley.Wait{
		ID: w.ID, Message: m[1].ID, Waiter: "gendry", Target: "arya", Depth: 3, Since: at(50), Conversation: elsewhere.ID, Task: "task-2",
		Run: newID(), State: parley.WaitAnswered, Until: at(9), Approval: newID(), Answer: newID(), Callback: newID(), EndedAt: atPointer(3),
		Node: "node", Failure: &parley.Error{Code: parley.TimedOut, Message: "late"},
	}
	f.update(func(tx storage.Tx) error { return tx.Waits().Put(changed) })
	changed.Message, changed.Waiter, changed.Target, changed.Ask, changed.Depth = w.Message, w.Waiter, w.Target, true, 1
	f.same("replaced", f.ask(m[0].ID), changed)
	f.same("another", f.ask(m[1].ID), other)
	f.update(func(tx storage.Tx) error { return tx.Waits().Erase(w.ID) })
	f.missing("the erased one", func(tx storage.Tx) error { return errorOf(tx.Waits().Ask(m[0].ID)) })
	f.same("another", f.ask(m[1].ID), other)
	for _, id := range []string{w.ID, newID(), "no uuid", ""} {
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Waits().Put(parley.Wait{ID: id, State: parley.WaitLate}) })
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Waits().Erase(id) })
	}
}

func waitAsks(f *fixture) {
	c, m := f.channelWithMessages(2)
	ask, first, second := newAsk(m[0].ID, "arya", "gendry"), newWait(m[0].ID, "gendry", "arya"), newWait(m[0].ID, "arya", "gendry")
	elsewhere := newWait(f.posts(1, f.channel("elsewhere", "arya").ID)[0].ID, "arya", "gendry")
	f.waits(ask, first, second, elsewhere)
	f.same("the ask", f.ask(m[0].ID), ask)
	f.same("all", f.waitsIn(c.ID), []parley.Wait{ask, first, second})
	f.missing("an ask", func(tx storage.Tx) error { return errorOf(tx.Waits().Ask(m[1].ID)) })
	f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Waits().Insert(newAsk(m[0].ID, "gendry", "arya")) })
	f.same("all, still", f.waitsIn(c.ID), []parley.Wait{ask, first, second})
}

func waitRefused(f *fixture) {
	_, m := f.channelWithMessages(2)
	w := newAsk(m[0].ID, "arya", "gendry")
	f.waits(w)
	again := newWait(m[1].ID, "arya", "gendry")
	again.ID = w.ID
	f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Waits().Insert(again) })
	for _, w := range []parley.Wait{
		newAsk(newID(), "arya", "gendry"), newAsk("no uuid", "arya", "gendry"),
		newAsk(m[1].ID, "nobody", "gendry"), newAsk(m[1].ID, "arya", "nobody"),
	} {
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Waits().Insert(w) })
	}
	for _, id := range []string{m[1].ID, newID(), "no uuid", ""} {
		f.missing("an ask", func(tx storage.Tx) error { return errorOf(tx.Waits().Ask(id)) })
		f.same("waits", f.waitsIn(id), []parley.Wait{})
		f.same("waits of a run", read(f, func(tx storage.Tx) ([]parley.Wait, error) { return tx.Waits().OfRun(id) }), []parley.Wait{})
	}
	f.missing("waits of nobody", func(tx storage.Tx) error { return errorOf(tx.Waits().OfWaiter("nobody")) })
}

func waitAsksListed(f *fixture) {
	c, m := f.channelWithMessages(7)
	f.agents("hound")
	var all []storage.ListedAsk
	for i, w := range []struct {
		waiter, target string
		state          parley.WaitState
	}{
		{"arya", "gendry", parley.WaitWaiting},
		{"gendry", "arya", parley.WaitAnswered},
		{"hound", "gendry", parley.WaitLate},
		{"arya", "hound", parley.WaitFailed},
		{"gendry", "hound", parley.WaitAbandoned},
		{"gendry", "arya", parley.WaitWaiting},
	} {
		made := newAsk(m[i].ID, w.waiter, w.target)
		made.State = w.state
		all = append([]storage.ListedAsk{{Wait: made, Seq: m[i].Seq}}, all...)
		f.waits(made)
	}
	f.waits(newWait(m[6].ID, "arya", "gendry")) // no ask
	asks := func(of string, a parley.AskFilter) []storage.ListedAsk {
		return read(f, func(tx storage.Tx) ([]storage.ListedAsk, error) { return tx.Waits().Asks(of, a) })
	}
	pick := func(which ...int) []storage.ListedAsk {
		list := []storage.ListedAsk{}
		for _, i := range which {
			list = append(list, all[i])
		}
		return list
	}
	f.same("all", asks("", parley.AskFilter{Limit: 10}), all)
	f.same("open", asks("", parley.AskFilter{Open: true, Limit: 10}), pick(0, 1, 3, 5))
	f.same("a page", asks("", parley.AskFilter{Before: all[1].Seq, Limit: 2}), pick(2, 3))
	f.same("a page of the open", asks("", parley.AskFilter{Open: true, Before: all[1].Seq, Limit: 1}), pick(3))
	f.same("of one", asks("arya", parley.AskFilter{Limit: 10}), pick(0, 2, 4, 5))
	f.same("open of one", asks("arya", parley.AskFilter{Open: true, Limit: 10}), pick(0, 5))
	f.same("a page of one", asks("arya", parley.AskFilter{Before: all[0].Seq, Limit: 2}), pick(2, 4))
	f.same("of another", asks("hound", parley.AskFilter{Limit: 10}), pick(1, 2, 3))
	f.missing("asks of nobody", func(tx storage.Tx) error { return errorOf(tx.Waits().Asks("nobody", parley.AskFilter{Limit: 1})) })
	f.deleteConversation(c)
	f.same("of what is gone", asks("", parley.AskFilter{Limit: 10}), []storage.ListedAsk{})
}

var allWaitStates = []parley.WaitState{
	parley.WaitWaiting, parley.WaitLate, parley.WaitAnswered, parley.WaitFailed, parley.WaitAbandoned,
}

func waitStates(f *fixture) {
	c, m := f.channelWithMessages(1)
	var open, all []parley.Wait
	for _, state := range allWaitStates {
		w := newWait(m[0].ID, "arya", "gendry")
		w.State, w.Node = state, "node"
		all = append(all, w)
		if !state.Ended() {
			open = append(open, w)
		}
	}
	f.waits(all...)
	f.same("not ended", f.waitsIn(c.ID), open)
	f.same("outside of runs", read(f, func(tx storage.Tx) ([]parley.Wait, error) { return tx.Waits().OfWaiter("arya") }), all[:1])
	f.same("of a process", read(f, func(tx storage.Tx) ([]parley.Wait, error) { return tx.Waits().OfNode("node") }), all[:1])
}

func waitLists(f *fixture) {
	_, m := f.channelWithMessages(1)
	run, other := newID(), newID()
	var all []parley.Wait
	for _, w := range []struct{ waiter, run, node string }{
		{"arya", run, "one"}, {"arya", "", "one"}, {"gendry", "", "two"}, {"arya", run, "two"}, {"arya", other, ""}, {"arya", "", ""},
	} {
		made := newWait(m[0].ID, w.waiter, "gendry")
		made.Run, made.Node = w.run, w.node
		all = append(all, made)
	}
	f.waits(all...)
	for what, list := range map[string]struct {
		find func(storage.Tx) ([]parley.Wait, error)
		want []parley.Wait
	}{
		"of a run":           {func(tx storage.Tx) ([]parley.Wait, error) { return tx.Waits().OfRun(run) }, []parley.Wait{all[0], all[3]}},
		"of another":         {func(tx storage.Tx) ([]parley.Wait, error) { return tx.Waits().OfRun(other) }, all[4:5]},
		"of a participant":   {func(tx storage.Tx) ([]parley.Wait, error) { return tx.Waits().OfWaiter("ARYA") }, []parley.Wait{all[1], all[5]}},
		"of another one":     {func(tx storage.Tx) ([]parley.Wait, error) { return tx.Waits().OfWaiter("gendry") }, all[2:3]},
		"at a process":       {func(tx storage.Tx) ([]parley.Wait, error) { return tx.Waits().OfNode("one") }, all[0:2]},
		"at another":         {func(tx storage.Tx) ([]parley.Wait, error) { return tx.Waits().OfNode("two") }, all[2:4]},
		"at a third":         {func(tx storage.Tx) ([]parley.Wait, error) { return tx.Waits().OfNode("three") }, nil},
		"at no process":      {func(tx storage.Tx) ([]parley.Wait, error) { return tx.Waits().OfNode("") }, nil},
		"of no run":          {func(tx storage.Tx) ([]parley.Wait, error) { return tx.Waits().OfRun("") }, nil},
		"of a run of naught": {func(tx storage.Tx) ([]parley.Wait, error) { return tx.Waits().OfRun(newID()) }, nil},
	} {
		f.same(what, read(f, list.find), list.want)
	}
}

func waitDue(f *fixture) {
	_, m := f.channelWithMessages(6)
	var asks []parley.Wait
	for i, message := range m[:4] {
		w := newAsk(message.ID, "arya", "gendry")
		w.Until = at(40 - 10*i)
		asks = append(asks, w)
	}
	ended, plain := newAsk(m[4].ID, "arya", "gendry"), newWait(m[5].ID, "arya", "gendry")
	ended.State, ended.Until, plain.Until = parley.WaitLate, at(1), at(1)
	f.waits(append(asks, ended, plain)...)
	due := func(seconds, limit int) []parley.Wait {
		return read(f, func(tx storage.Tx) ([]parley.Wait, error) { return tx.Waits().Due(at(seconds), limit) })
	}
	f.same("before", due(9, 9), []parley.Wait{})
	f.same("the first", due(10, 9), []parley.Wait{asks[3]})
	f.same("three", due(39, 9), []parley.Wait{asks[3], asks[2], asks[1]})
	f.same("up to the limit", due(99, 2), []parley.Wait{asks[3], asks[2]})
}

func waitWork(f *fixture) {
	_, m := f.channelWithMessages(6)
	run := newID()
	parked, ended, late, plain := newAsk(m[0].ID, "arya", "gendry"), newAsk(m[1].ID, "arya", "gendry"), newAsk(m[2].ID, "arya", "gendry"),
		newAsk(m[3].ID, "arya", "gendry")
	parked.AnswerTask, parked.Run = "task-3", run
	ended.AnswerTask, ended.State, ended.Run = "task-4", parley.WaitAnswered, run
	late.AnswerTask, late.State, late.Run = "task-5", parley.WaitLate, run
	left, other := newAsk(m[4].ID, "gendry", "arya"), newWait(m[5].ID, "arya", "gendry")
	left.State, left.Run, left.AnswerTask = parley.WaitAbandoned, run, "task-6"
	other.Run = run // no ask
	f.waits(parked, ended, late, plain, left, other)
	working := func(task string) parley.Wait {
		return read(f, func(tx storage.Tx) (parley.Wait, error) { return tx.Waits().ParkedAs(task) })
	}
	f.same("of a task", []parley.Wait{working("task-3"), working("task-4")}, []parley.Wait{parked, ended})
	f.missing("of another task", func(tx storage.Tx) error { return errorOf(tx.Waits().ParkedAs("task-7")) })
	f.missing("of no task", func(tx storage.Tx) error { return errorOf(tx.Waits().ParkedAs("nothing")) })
	of := func(who string) []parley.Wait {
		return read(f, func(tx storage.Tx) ([]parley.Wait, error) { return tx.Waits().Parked(who) })
	}
	f.same("parked", of("gendry"), []parley.Wait{parked, late})
	f.same("abandoned", of("arya"), []parley.Wait{left})
	f.missing("of nobody", func(tx storage.Tx) error { return errorOf(tx.Waits().Parked("nobody")) })
	by := func(run string) []parley.Wait {
		return read(f, func(tx storage.Tx) ([]parley.Wait, error) { return tx.Waits().AsksOfRun(run) })
	}
	f.same("by a run", by(run), []parley.Wait{parked, late})
	f.same("by none", [][]parley.Wait{by(newID()), by("nothing")}, [][]parley.Wait{{}, nil})
	plain.AnswerTask = "task-8"
	f.update(func(tx storage.Tx) error { return tx.Waits().Put(plain) })
	f.same("put", working("task-8"), plain)
}

func waitFailed(f *fixture) {
	_, m := f.channelWithMessages(1)
	f.fails(errOwn, func(tx storage.Tx) error {
		return forEach([]error{tx.Waits().Insert(newAsk(m[0].ID, "arya", "gendry")), errOwn}, func(err error) error { return err })
	})
	f.missing("its wait", func(tx storage.Tx) error { return errorOf(tx.Waits().Ask(m[0].ID)) })
	f.waits(newAsk(m[0].ID, "arya", "gendry"))
}

// waitErasure has waits for messages of a deleted conversation, and of a conversation whose oldest message is erased. A wait
// that was asked from a deleted conversation remains, and its Conversation is empty.
func waitErasure(f *fixture) {
	c, m := f.channelWithMessages(2)
	kept := f.channel("kept", "arya")
	old, young := f.posts(1, kept.ID)[0], f.posts(1, kept.ID)[0]
	deleted, plain, erased, stays := newAsk(m[0].ID, "arya", "gendry"), newWait(m[1].ID, "gendry", "arya"), newAsk(old.ID, "arya", "gendry"), newAsk(young.ID, "arya", "gendry")
	run := newID()
	deleted.Run, stays.Conversation, erased.State = run, c.ID, parley.WaitAnswered
	f.waits(deleted, plain, erased, stays)
	f.deleteConversation(c)
	stays.Conversation = ""
	check := func(when string) {
		f.same("there "+when, f.waitsIn(c.ID), []parley.Wait{})
		f.missing("the ask "+when, func(tx storage.Tx) error { return errorOf(tx.Waits().Ask(m[0].ID)) })
		f.same("of the run "+when, read(f, func(tx storage.Tx) ([]parley.Wait, error) { return tx.Waits().OfRun(run) }), []parley.Wait{})
		f.same("of gendry "+when, read(f, func(tx storage.Tx) ([]parley.Wait, error) { return tx.Waits().OfWaiter("gendry") }), []parley.Wait{})
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Waits().Put(deleted) })
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Waits().Erase(plain.ID) })
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Waits().Insert(newWait(m[0].ID, "arya", "gendry")) })
		f.same("another "+when, f.ask(young.ID), stays)
	}
	check("when deleted")
	f.same("erased", f.purge(100), 2+2+1)
	check("when erased")
	f.same("messages erased", f.erase(0, old.Seq).Messages, 1)
	f.missing("the ask of an erased message", func(tx storage.Tx) error { return errorOf(tx.Waits().Ask(old.ID)) })
	f.same("the other", f.ask(young.ID), stays)
	f.requireExactCounts()
}
