package storetest

import (
	"encoding/json"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

var noteTests = []test{
	{"notes are read back, those of an agent and of a conversation together", noteLists},
	{"no note gets the number of a forgotten one", noteNumbers},
	{"an author uses a key once", noteKeys},
	{"a redacted note and the call that wrote it have no text", noteRedact},
	{"notes of missing agents and conversations are refused", noteRefused},
	{"notes of a deleted conversation are not found, and purged", notePurged},
}

func newNote(id, agent, conversation, author, text string) parley.Note {
	n := parley.Note{ID: id, Scope: parley.PrivateNote, Agent: agent, Conversation: conversation, Author: author, Text: text, CreatedAt: at(3)}
	if conversation != "" {
		n.Scope = parley.ConversationNote
	}
	return n.Sealed()
}

func (f *fixture) notes(list ...parley.Note) {
	f.Helper()
	f.update(func(tx storage.Tx) error { return forEach(list, tx.Notes().Insert) })
}

func (f *fixture) notesOf(agent, conversation string) []parley.Note {
	f.Helper()
	return read(f, func(tx storage.Tx) ([]parley.Note, error) { return tx.Notes().Of(agent, conversation) })
}

func (f *fixture) scanNotes(after string, limit int) []parley.Note {
	f.Helper()
	return read(f, func(tx storage.Tx) ([]parley.Note, error) { return tx.Notes().Scan(after, limit) })
}

func noteLists(f *fixture) {
	f.agents("arya", "gendry")
	c := f.channel("forge", "arya")
	other := f.channel("town", "arya")
	keyed := newNote("note-2", "", c.ID, "gendry", "the anvil is cracked ⚒")
	keyed.IdempotencyKey = "once"
	first, second, third := newNote("note-1", "arya", "", "arya", "steel"), keyed.Sealed(), newNote("note-10", "arya", "", "arya", "iron")
	f.notes(first, second, third, newNote("note-3", "gendry", "", "gendry", "tin"), newNote("note-4", "", other.ID, "arya", "lead"))
	f.same("of both", f.notesOf("ARYABOT", c.ID), []parley.Note{third, second, first})
	f.same("of the agent", f.notesOf("arya", ""), []parley.Note{third, first})
	f.same("of the conversation", f.notesOf("", c.ID), []parley.Note{second})
	f.same("of nothing", f.notesOf("", ""), []parley.Note{})
	f.same("by id", read(f, func(tx storage.Tx) (parley.Note, error) { return tx.Notes().Get("note-2") }), second)
	f.same("scanned", len(f.scanNotes("", 9)), 5)
	f.same("scanned in parts", f.scanNotes("note-4", 9), []parley.Note{third})
	f.same("the first ones", f.scanNotes("", 2), []parley.Note{first, second})
	f.same("shared by arya", read(f, func(tx storage.Tx) (int, error) { return tx.Notes().Shared("arya") }), 1)
	for _, id := range []string{"note-9", "note-01", "task-1", "1", "", "note-99999999999999999999"} {
		f.missing(id, func(tx storage.Tx) error { return errorOf(tx.Notes().Get(id)) })
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Notes().Remove(id) })
	}
}

func noteNumbers(f *fixture) {
	f.agents("arya")
	next := func() (id string) {
		f.update(func(tx storage.Tx) (err error) { id, err = tx.Notes().NextID(); return err })
		return id
	}
	f.same("the first", next(), "note-1")
	f.fails(errOwn, func(tx storage.Tx) error {
		if _, err := tx.Notes().NextID(); err != nil {
			return err
		}
		return errOwn
	})
	f.same("after a failed update", next(), "note-2")
	f.notes(newNote("note-2", "arya", "", "arya", "steel"))
	f.update(func(tx storage.Tx) error { return tx.Notes().Remove("note-2") })
	f.missing("the forgotten note", func(tx storage.Tx) error { return errorOf(tx.Notes().Get("note-2")) })
	f.same("after the newest was forgotten", next(), "note-3")
}

func noteKeys(f *fixture) {
	f.agents("arya", "gendry")
	keyed := func(id, author string) parley.Note {
		n := newNote(id, author, "", author, "steel")
		n.IdempotencyKey = "once"
		return n.Sealed()
	}
	f.notes(keyed("note-1", "arya"), keyed("note-2", "gendry"))
	f.same("with the key", read(f, func(tx storage.Tx) (parley.Note, error) { return tx.Notes().Keyed("arya", "once") }), keyed("note-1", "arya"))
	f.missing("another key", func(tx storage.Tx) error { return errorOf(tx.Notes().Keyed("arya", "Once")) })
	f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Notes().Insert(keyed("note-3", "arya")) })
	f.fails(parley.ErrTaken, func(tx storage.Tx) error {
		return tx.Notes().Insert(newNote("note-1", "arya", "", "arya", "iron"))
	})
}

func noteRedact(f *fixture) {
	f.agents("arya", "gendry")
	n := newNote("note-1", "arya", "", "arya", "a password")
	f.notes(n)
	held := func(agent, digest, result string) parley.Approval {
		a := newApproval(digest)
		a.Agent, a.State, a.Call = agent, parley.ApprovalExecuted, parley.HeldCall{Tool: "memory", Args: json.RawMessage(`{"text":"a password"}`)}
		a.Summary, a.Note, a.Result = "a password", "yes", result
		return a
	}
	its, others := held("arya", "one", "Noted as note-1."), []parley.Approval{held("arya", "two", "Noted as note-11."), held("gendry", "three", "Noted as note-1.")}
	f.approvals(append(others, its)...)
	n = n.Redacted(at(9))
	f.update(func(tx storage.Tx) error { return tx.Notes().Redact(n, "Noted as note-1.") })
	f.same("redacted", f.notesOf("arya", ""), []parley.Note{n})
	f.same("intact", n.Intact(), true)
	its.Call.Args, its.Summary, its.Note, its.Result = json.RawMessage(`{}`), "", "", ""
	f.same("the call", f.getApproval(its.ID), its)
	for _, a := range others {
		f.same("another call", f.getApproval(a.ID), a)
	}
	n.ID = "note-7"
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Notes().Redact(n, "") })
}

func noteRefused(f *fixture) {
	f.agents("arya")
	for _, n := range []parley.Note{
		newNote("note-1", "nobody", "", "arya", "x"), newNote("note-1", "arya", "", "nobody", "x"), newNote("note-1", "", newID(), "arya", "x"),
	} {
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Notes().Insert(n) })
	}
	f.missing("notes of nobody", func(tx storage.Tx) error { return errorOf(tx.Notes().Of("nobody", "")) })
	f.missing("notes of no conversation", func(tx storage.Tx) error { return errorOf(tx.Notes().Of("arya", newID())) })
	f.missing("a key of nobody", func(tx storage.Tx) error { return errorOf(tx.Notes().Keyed("nobody", "k")) })
	f.missing("shared by nobody", func(tx storage.Tx) error { return errorOf(tx.Notes().Shared("nobody")) })
}

func notePurged(f *fixture) {
	f.agents("arya")
	c := f.channel("forge", "arya")
	kept := newNote("note-3", "arya", "", "arya", "iron")
	f.notes(newNote("note-1", "", c.ID, "arya", "steel"), newNote("note-2", "", c.ID, "arya", "tin"), kept)
	f.update(func(tx storage.Tx) error { return tx.Conversations().Delete(c.ID) })
	f.missing("a note", func(tx storage.Tx) error { return errorOf(tx.Notes().Get("note-1")) })
	f.missing("the memory", func(tx storage.Tx) error { return errorOf(tx.Notes().Of("", c.ID)) })
	f.same("scanned", f.scanNotes("", 9), []parley.Note{kept})
	for f.purge(1) > 0 {
	}
	f.same("shared by arya", read(f, func(tx storage.Tx) (int, error) { return tx.Notes().Shared("arya") }), 0)
	f.same("what is left", f.notesOf("arya", ""), []parley.Note{kept})
}
