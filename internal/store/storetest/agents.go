package storetest

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var agentTests = []test{
	{"names are listed of agents that can receive messages", agentNames},
	{"agents with reports are found", agentReports},
	{"every field is stored", agentFields},
	{"an agent is found by id, uuid and name in any spelling", agentSpellings},
	{"no agent is found by an unknown or empty name", agentUnknown},
	{"agents are listed in the order in which they were added", agentOrder},
	{"id, uuid and name are unique among all ids, uuids and names", agentTaken},
	{"an agent's id, uuid and name may be equal", agentOwnNames},
	{"a rename frees the old name and takes the new one", agentRename},
	{"an agent can change the spelling of its own name", agentRespell},
	{"a rename to the name of another agent is refused", agentRenameTaken},
	{"an update does not change id, uuid and kind", agentKeeps},
	{"a missing row cannot be replaced", agentUpdateUnknown},
	{"a removed agent keeps its names", agentRemoved},
	{"returned agents are copies", agentCopies},
	{"a retired agent keeps its rows, and its names become free", agentRetired},
	{"a missing agent cannot be retired, and no agent to a name that is taken", agentRetireRefused},
}

func fullAgent() parley.Agent {
	a := newAgent("full")
	a.Kind, a.Access, a.RemovedAt = parley.KindHuman, parley.AccessMember, atPointer(9)
	a.UpdatedAt = at(3)
	a.Profile = parley.Profile{
		Role: "verifier", Description: "Prüft\nalles", Skills: []string{"go", "日本語"}, Guardrails: "none",
		Tier: parley.TierPM, Manager: "user", Mode: parley.ModeStrict, Runtime: "command",
		RuntimeConfig: json.RawMessage(`{"argv":["a","b"]}`), ContextMessages: 7, InboxDepth: 8,
		InboxOverflow: parley.OverflowReject, Attempts: 2, Concurrency: 3,
		Budget: parley.Budget{RunsPerHour: 4, TokensPerDay: 1 << 40, CostPerDay: 1.25}, Protocols: []string{"s1/1.0"},
	}
	return a
}

func agentFields(f *fixture) {
	full, plain := fullAgent(), newAgent("plain")
	f.update(func(tx storage.Tx) error { return errors.Join(tx.Agents().Insert(full), tx.Agents().Insert(plain)) })
	f.same("the full one", f.findAgent("full"), full)
	f.same("the plain one", f.findAgent("plain"), plain)
	f.same("the list", f.contents().Agents, []parley.Agent{full, plain})
	changed := full
	changed.Name, changed.Access, changed.UpdatedAt, changed.RemovedAt = "Other", parley.AccessOwner, at(5), nil
	changed.Profile = parley.DefaultProfile()
	f.update(func(tx storage.Tx) error { return tx.Agents().Put(changed) })
	f.same("the changed one", f.findAgent("full"), changed)
}

func agentSpellings(f *fixture) {
	a := newAgent("strasse-7")
	a.UUID, a.Name = "0190A8C4-5F4E-7000-8000-00000000ABCD", "Straße"
	b := newAgent("kelvin")
	b.Name = "Zoë"
	f.update(func(tx storage.Tx) error { return errors.Join(tx.Agents().Insert(a), tx.Agents().Insert(b)) })
	for _, name := range []string{
		"strasse-7", "STRASSE-7", "ｓtrasse-7", "Straße", "STRASSE", "strasse", "STRAẞE",
		"0190a8c4-5f4e-7000-8000-00000000abcd", "0190A8C4-5f4e-7000-8000-00000000abcD",
	} {
		f.same(name, f.findAgent(name), a)
	}
	for _, name := range []string{"kelvin", "\u212aELVIN", "Zoë", "zoe\u0308", "ZOË", "Ｚoë", "zo\u200bë"} {
		f.same(name, f.findAgent(name), b)
	}
	f.update(func(tx storage.Tx) error { // an update finds agents by the same names as a view
		for _, name := range []string{"STRASSE", "ZOË"} {
			if _, err := tx.Agents().Find(name); err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
		}
		return nil
	})
}

func agentUnknown(f *fixture) {
	f.agents("arya")
	for _, name := range []string{"", "ary", "aryaa", "arya ", "%", "ary_", newID()} {
		f.missing(fmt.Sprintf("%q", name), func(tx storage.Tx) error { return errorOf(tx.Agents().Find(name)) })
	}
}

func agentOrder(f *fixture) {
	f.same("an empty list", len(f.contents().Agents), 0)
	var want []parley.Agent
	for i := range 12 { // ids that descend and have two digits, so that every other order differs
		a := newAgent(fmt.Sprintf("agent-%d", 12-i))
		a.CreatedAt, a.UpdatedAt = at(-i), at(-i)
		want = append(want, a)
		f.update(func(tx storage.Tx) error { return tx.Agents().Insert(a) })
	}
	want[2].Name, want[5].RemovedAt = "Renamed", atPointer(3)
	f.update(func(tx storage.Tx) error {
		return errors.Join(tx.Agents().Put(want[5]), tx.Agents().Put(want[2]))
	})
	f.same("the list", f.contents().Agents, want)
}

// agentTaken tries to add agents whose id, uuid or name is the id, uuid or name of another agent, in another spelling.
func agentTaken(f *fixture) {
	a := newAgent("arya")
	a.UUID = "0190a8c4-5f4e-7000-8000-00000000abcd"
	f.update(func(tx storage.Tx) error { return tx.Agents().Insert(a) })
	before := f.contents()
	for _, taken := range []string{"arya", "ARYA", "aryabot", "ARYABOT", "ａryaBot", a.UUID, "0190A8C4-5F4E-7000-8000-00000000ABCD"} {
		for field, set := range map[string]func(*parley.Agent){
			"id":   func(a *parley.Agent) { a.ID = taken },
			"uuid": func(a *parley.Agent) { a.UUID = taken },
			"name": func(a *parley.Agent) { a.Name = taken },
		} {
			b := newAgent("newcomer")
			set(&b)
			err := f.store.Update(f.Context(), func(tx storage.Tx) error { return tx.Agents().Insert(b) })
			if !errors.Is(err, parley.ErrTaken) {
				f.Errorf("%s %s: got %v, want ErrTaken", field, taken, err)
			}
		}
	}
	f.same("afterwards", f.contents(), before)
	f.agents("newcomer")
}

func agentOwnNames(f *fixture) {
	a := newAgent("arya")
	a.Name = "Arya"
	f.update(func(tx storage.Tx) error { return tx.Agents().Insert(a) })
	f.same("found", f.findAgent("ARYA"), a)
	a.Name = "Arry"
	f.update(func(tx storage.Tx) error { return tx.Agents().Put(a) })
	f.same("by its id, which was its name too", f.findAgent("arya"), a)
	a.Name = a.UUID
	f.update(func(tx storage.Tx) error { return tx.Agents().Put(a) })
	f.same("by its uuid, which is its name too", f.findAgent(a.UUID), a)
}

func agentRename(f *fixture) {
	a := f.agents("arya", "gendry")[0]
	f.findAgent("AryaBot") // so that a store with a cache knows the old name
	a.Name = "Arry"
	f.update(func(tx storage.Tx) error {
		if _, err := tx.Agents().Find("AryaBot"); err != nil {
			return err
		}
		if err := tx.Agents().Put(a); err != nil {
			return err
		}
		if _, err := tx.Agents().Find("AryaBot"); !errors.Is(err, parley.ErrNotFound) {
			return fmt.Errorf("the old name within the update: %w", err)
		}
		return errorOf(tx.Agents().Find("ARRY"))
	})
	f.missing("the old name", func(tx storage.Tx) error { return errorOf(tx.Agents().Find("AryaBot")) })
	for _, name := range []string{"arya", a.UUID, "arry"} {
		f.same(name, f.findAgent(name), a)
	}
	b := newAgent("other")
	b.Name = "AryaBot"
	f.update(func(tx storage.Tx) error { return tx.Agents().Insert(b) })
	f.same("the old name, taken by another", f.findAgent("aryabot"), b)
	a.Name = "AryaBot"
	f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Agents().Put(a) })
}

func agentRespell(f *fixture) {
	a := f.agents("arya")[0]
	a.Name = "ARYABOT"
	f.update(func(tx storage.Tx) error { return tx.Agents().Put(a) })
	f.same("respelt", f.findAgent("aryabot"), a)
}

func agentRenameTaken(f *fixture) {
	list := f.agents("arya", "gendry")
	for _, taken := range []string{"gendry", "GENDRYBOT", list[1].UUID} {
		a := list[0]
		a.Name = taken
		f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Agents().Put(a) })
	}
	f.same("afterwards", f.contents().Agents, list)
	f.same("by its name", f.findAgent("AryaBot"), list[0])
}

func agentKeeps(f *fixture) {
	a := f.agents("arya")[0]
	changed := a
	changed.UUID, changed.Kind, changed.Role = newID(), parley.KindSystem, "verifier"
	f.update(func(tx storage.Tx) error { return tx.Agents().Put(changed) })
	a.Role = "verifier"
	f.same("afterwards", f.findAgent("arya"), a)
	f.missing("the other uuid", func(tx storage.Tx) error { return errorOf(tx.Agents().Find(changed.UUID)) })
}

func agentUpdateUnknown(f *fixture) {
	list := f.agents("arya")
	for _, id := range []string{"nobody", list[0].UUID, list[0].Name} {
		a := newAgent("nobody")
		a.ID = id
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Agents().Put(a) })
	}
	f.same("afterwards", f.contents().Agents, list)
}

func agentRemoved(f *fixture) {
	a := f.agents("arya")[0]
	a.RemovedAt = atPointer(2)
	f.update(func(tx storage.Tx) error { return tx.Agents().Put(a) })
	for _, name := range []string{"arya", a.UUID, "AryaBot"} {
		f.same(name, f.findAgent(name), a)
	}
	b := newAgent("newcomer")
	b.Name = "aryabot"
	f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Agents().Insert(b) })
	f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Agents().Insert(newAgent("arya")) })
}

// agentCopies changes the agents that the store returned. Later views and updates must not see the changes.
func agentCopies(f *fixture) {
	want := fullAgent()
	f.update(func(tx storage.Tx) error { return tx.Agents().Insert(want) })
	want = fullCopy(f.findAgent("full"))
	spoil := func(tx storage.Tx) error {
		a, err := tx.Agents().Find("full")
		if err != nil {
			return err
		}
		a.Skills[0], a.Protocols[0], a.RuntimeConfig[2] = "spoilt", "spoilt", 'X'
		*a.RemovedAt = at(99)
		return nil
	}
	check := func(tx storage.Tx) error {
		a, err := tx.Agents().Find("full")
		if err == nil && (a.Skills[0] != "go" || a.Protocols[0] != "s1/1.0" || a.RuntimeConfig[2] == 'X' || a.RemovedAt.Equal(at(99))) {
			err = fmt.Errorf("what was returned is shared: %+v", a)
		}
		return err
	}
	f.view(spoil)
	f.view(check)
	f.update(spoil)
	f.update(check)
	f.same("afterwards", f.findAgent("full"), want)
}

func fullCopy(a parley.Agent) parley.Agent {
	a.Skills, a.Protocols = append([]string(nil), a.Skills...), append([]string(nil), a.Protocols...)
	a.RuntimeConfig = append(json.RawMessage(nil), a.RuntimeConfig...)
	removed := *a.RemovedAt
	a.RemovedAt = &removed
	return a
}

func agentReports(f *fixture) {
	f.agents("arya", "gendry", "sansa")
	check := func(when string, want bool) {
		f.Helper()
		has := func(tx storage.Tx) (bool, error) { return tx.Agents().HasReports("arya") }
		f.same(when, read(f, has), want)
		f.update(func(tx storage.Tx) error { // in an update too
			got, err := has(tx)
			f.same(when+", within an update", got, want)
			return err
		})
	}
	change := func(id string, edit func(*parley.Agent)) {
		f.update(func(tx storage.Tx) error {
			a, err := tx.Agents().Find(id)
			if err != nil {
				return err
			}
			edit(&a)
			return tx.Agents().Put(a)
		})
	}
	check("nobody has a manager", false)
	change("gendry", func(a *parley.Agent) { a.Manager = "sansa" })
	check("another agent has a report", false)
	change("gendry", func(a *parley.Agent) { a.Manager = "arya" })
	check("it has a report", true)
	change("gendry", func(a *parley.Agent) { a.RemovedAt = &a.CreatedAt })
	check("its report is removed", false)
}

func agentNames(f *fixture) {
	f.agents("arya", "gendry", "sansa")
	f.update(func(tx storage.Tx) error {
		a, err := tx.Agents().Find("sansa")
		if err != nil {
			return err
		}
		a.RemovedAt = &a.CreatedAt
		return tx.Agents().Put(a)
	})
	system := newAgent("parley")
	system.Kind = parley.KindSystem
	f.update(func(tx storage.Tx) error { return tx.Agents().Insert(system) })
	names := read(f, func(tx storage.Tx) ([]string, error) { return tx.Agents().Names() })
	f.same("names", names, []string{"arya", "AryaBot", "gendry", "GendryBot"})
}

func agentRetired(f *fixture) {
	old := f.agents("arya", "gendry")[0]
	dm := f.conversation(newDM("arya", "gendry"), "arya", "gendry")
	once := newDM("gendry", "arya")
	once.Kind = parley.Ephemeral
	once = f.conversation(once, "gendry", "arya")
	open := f.channel("open", "arya", "arya", "gendry")
	m := newMessage(dm.ID, "arya", "hello")
	m.To, m.Mentions = "gendry", []string{"arya"}
	said := f.post(m)
	back := newMessage(dm.ID, "gendry", "hi")
	back.To = "arya"
	answered := f.post(back)
	old.RemovedAt = atPointer(3)
	f.update(func(tx storage.Tx) error { return tx.Agents().Put(old) })
	next := newAgent("arya")
	f.update(func(tx storage.Tx) error { // all of it in one update, as the hub does
		if err := tx.Agents().Retire("arya", "arya~removed", "AryaBot~removed"); err != nil {
			return err
		}
		return tx.Agents().Insert(next)
	})
	old.ID, old.Name = "arya~removed", "AryaBot~removed"
	for _, name := range []string{old.ID, old.UUID, old.Name} {
		f.same(name, f.findAgent(name), old)
	}
	for _, name := range []string{"arya", next.UUID, "AryaBot"} {
		f.same(name, f.findAgent(name), next)
	}
	said.From, answered.To, dm.CreatedBy, open.CreatedBy = old.ID, old.ID, old.ID, old.ID
	page := read(f, func(tx storage.Tx) ([]parley.Message, error) { return tx.Messages().Page(dm.ID, parley.Page{Limit: 9}) })
	f.same("its messages, which are intact", page, []parley.Message{said, answered})
	dm.Set, dm.Messages, dm.LastSeq, dm.UpdatedAt = "arya~removed,gendry", 2, answered.Seq, at(1)
	f.same("its DM", read(f, func(tx storage.Tx) (parley.Conversation, error) { return tx.Conversations().FindSet(dm.Set) }), dm)
	f.missing("a DM of the next one", func(tx storage.Tx) error { return errorOf(tx.Conversations().FindSet("arya,gendry")) })
	f.same("its other conversations", f.findConversation(once.ID).Set, "arya~removed,gendry")
	for agent, want := range map[string]int{"arya~removed": 3, "arya": 0, "gendry": 3} {
		list := read(f, func(tx storage.Tx) ([]parley.Conversation, error) {
			return tx.Conversations().List(storage.ConversationFilter{Member: agent, Limit: 9})
		})
		f.same("conversations of "+agent, len(list), want)
	}
	f.conversation(newDM("arya", "gendry"), "arya", "gendry") // the DM of the next agent with this name
	f.same("created by the next agent", read(f, func(tx storage.Tx) (int, error) { return tx.Conversations().CountMade("arya") }), 0)
}

func agentRetireRefused(f *fixture) {
	list := f.agents("arya", "gendry")
	for _, id := range []string{"nobody", "AryaBot", list[0].UUID} {
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Agents().Retire(id, "x", "X") })
	}
	f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Agents().Retire("arya", "gendry", "X") })
	f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Agents().Retire("arya", "x", "gendrybot") })
	f.same("afterwards", f.contents().Agents, list)
}
