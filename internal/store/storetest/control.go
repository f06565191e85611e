package storetest

import (
	"encoding/json"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var controlTests = []test{
	{"the reason why an agent starts no runs is stored", controlHalts},
	{"a returned halt is a copy", controlCopies},
	{"a health report replaces the one before", controlHealth},
	{"the answer mode of a conversation is stored", controlAnswers},
	{"agents to wake have ready waking deliveries in conversations that exist", controlWaiting},
	{"ready deliveries can be selected by conversation", controlReadyIn},
}

func controlHalts(f *fixture) {
	a := newAgent("arya")
	a.Paused = &parley.Halt{At: at(1), Until: atPointer(9), By: "user", Reason: "lunch é"}
	f.update(func(tx storage.Tx) error { return tx.Agents().Insert(a) })
	f.same("paused", f.findAgent("arya"), a)
	paused, stopped := a.Paused, &parley.Halt{At: at(2), By: "gendry"}
	for _, halts := range [][2]*parley.Halt{{paused, stopped}, {nil, stopped}, {nil, nil}, {nil, stopped}, {paused, nil}} {
		a.Paused, a.Stopped = halts[0], halts[1]
		f.update(func(tx storage.Tx) error { return tx.Agents().Put(a) })
		f.same("changed", f.findAgent("arya"), a)
		f.same("in the list", f.contents().Agents, []parley.Agent{a})
	}
}

func controlCopies(f *fixture) {
	a := newAgent("arya")
	halt := func() *parley.Halt { return &parley.Halt{At: at(1), Until: atPointer(9), By: "user"} }
	a.Paused, a.Stopped = halt(), halt()
	f.update(func(tx storage.Tx) error { return tx.Agents().Insert(a) })
	spoil := func(tx storage.Tx) error {
		found, err := tx.Agents().Find("arya")
		if err == nil {
			found.Paused.By, *found.Paused.Until = "spoilt", at(99)
			found.Stopped.By, *found.Stopped.Until = "spoilt", at(99)
		}
		return err
	}
	for _, run := range []func(func(storage.Tx) error){f.view, f.update} {
		run(spoil)
		var found parley.Agent
		run(func(tx storage.Tx) (err error) {
			found, err = tx.Agents().Find("arya")
			return err
		})
		f.same("afterwards", found, a)
	}
}

func controlHealth(f *fixture) {
	f.agents("arya", "gendry", "sansa")
	keep := func(id string, h parley.Health) {
		f.update(func(tx storage.Tx) error { return tx.Agents().PutHealth(id, h) })
	}
	f.same("nothing was said", f.contents().Healths, map[string]parley.Health{})
	full := parley.Health{Health: "degraded", Metrics: json.RawMessage(`{"queue": 3}`), UptimeMS: 1 << 40, At: at(5)}
	plain := parley.Health{Health: "healthy", At: at(1)}
	keep("ARYABOT", plain)
	keep("gendry", full)
	f.same("said", f.contents().Healths, map[string]parley.Health{"arya": plain, "gendry": full})
	keep("arya", full)
	keep("gendry", plain)
	f.same("replaced", f.contents().Healths, map[string]parley.Health{"arya": full, "gendry": plain})
	one := read(f, func(tx storage.Tx) (parley.Health, error) { return tx.Agents().Health("AryaBot") })
	f.same("of one", one, full)
	for _, id := range []string{"sansa", "nobody"} {
		f.missing("what "+id+" said", func(tx storage.Tx) error { return errorOf(tx.Agents().Health(id)) })
	}
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Agents().PutHealth("nobody", plain) })
}

func controlAnswers(f *fixture) {
	f.agents("arya")
	c := newChannel("general", "arya")
	c.Answers = parley.AnswersFirst
	f.conversation(c)
	for _, answers := range []parley.Answers{parley.AnswersFirst, parley.AnswersRoundRobin, "", parley.AnswersParallel} {
		c.Answers = answers
		f.update(func(tx storage.Tx) error { return tx.Conversations().Put(c) })
		f.same("found", f.findConversation("general"), c)
		f.same("listed", f.contents().Conversations, []parley.Conversation{c})
	}
}

func (f *fixture) agentsToWake(limit int) []string {
	f.Helper()
	return read(f, func(tx storage.Tx) ([]string, error) { return tx.Queue().AgentsToWake(limit) })
}

func controlWaiting(f *fixture) {
	m := newInboxFixture(f)
	person := newAgent("person")
	person.Kind = parley.KindHuman
	f.update(func(tx storage.Tx) error { return tx.Agents().Insert(person) })
	f.same("nobody", f.agentsToWake(9), []string{})
	m.write("quiet", draft{to: parley.NewDelivery{Agent: "arya"}})
	m.write("a person's", draft{to: parley.NewDelivery{Agent: "person", Wakes: true}})
	f.same("nobody", f.agentsToWake(9), []string{})
	m.writeWaking("a", "b")
	m.write("sansa's", draft{to: parley.NewDelivery{Agent: "sansa", Wakes: true, Purpose: parley.PurposeAsk}})
	f.same("two", f.agentsToWake(9), []string{"gendry", "sansa"})
	f.same("up to the limit", len(f.agentsToWake(1)), 1)
	m.put("a", leaseTo(newID(), 50))
	m.put("sansa's", pause(50))
	f.same("leased and paused deliveries do not count", f.agentsToWake(9), []string{"gendry"})
	m.put("b", setState(parley.DeliveryAcked))
	f.same("nor what is done", f.agentsToWake(9), []string{})
	m.put("a", setState(parley.DeliveryAccepted))
	gendry := f.findAgent("gendry")
	gendry.RemovedAt = atPointer(5)
	f.update(func(tx storage.Tx) error { return tx.Agents().Put(gendry) })
	f.same("nor who is removed", f.agentsToWake(9), []string{})
	gendry.RemovedAt = nil
	f.update(func(tx storage.Tx) error { return tx.Agents().Put(gendry) })
	f.same("one", f.agentsToWake(9), []string{"gendry"})
	f.deleteConversation(m.channel)
	f.same("nor what is deleted", f.agentsToWake(9), []string{})
}

func controlReadyIn(f *fixture) {
	m := newInboxFixture(f)
	here, there, nowhere := m.channel, f.channel("there", "arya"), f.channel("nowhere", "arya")
	m.writeWaking("a", "b")
	m.channel = there
	m.writeWaking("c", "d")
	m.channel = here
	m.writeWaking("e")
	for _, urgent := range []bool{false, true} {
		q := storage.QueueFilter{Wakes: true, Urgent: urgent}
		q.In = here.ID
		m.requireList("in one", "a b e", ready(q))
		q.Limit = 1
		m.requireList("the first in one", "a", ready(q))
		q.In, q.Limit = "there", 0
		m.requireList("in another", "c d", ready(q))
		q.In = nowhere.ID
		m.requireList("where nothing is", "", ready(q))
		q.In, q.NotIn = "", []string{there.ID}
		m.requireList("not there", "a b e", ready(q))
		q.NotIn = []string{nowhere.ID, here.ID, "no uuid"}
		m.requireList("neither here nor nowhere", "c d", ready(q))
		q.NotIn = []string{here.ID, there.ID}
		m.requireList("in none of them", "", ready(q))
		q.In, q.NotIn = there.ID, []string{here.ID}
		m.requireList("in one and not in another", "c d", ready(q))
		m.requireList("after one", "d e", ready(storage.QueueFilter{Wakes: true, Urgent: urgent, After: m.deliveries["c"].Seq}))
		q.In = newID()
		f.missing("a conversation that is not there", func(tx storage.Tx) error { return errorOf(tx.Queue().Ready(q)) })
	}
}
