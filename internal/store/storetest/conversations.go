package storetest

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var conversationTests = []test{
	{"every field is stored, and found by id and by name", conversationFields},
	{"no conversation is found by an unknown id, name or set", conversationUnknown},
	{"a conversation is found by a name that looks like an id", conversationNamedLikeID},
	{"id, name and set are unique", conversationTaken},
	{"several conversations may have neither name nor set", conversationNameless},
	{"ephemeral conversations may share a set, and are not found by it", conversationEphemeral},
	{"name, visibility, topic and archive change; id, kind, set and counts stay", conversationUpdate},
	{"a conversation is found by its display name in any case", conversationDisplayed},
	{"all conversations of a set are listed, including ephemeral ones", conversationsOfSet},
	{"a rename frees the old name", conversationRename},
	{"a missing row cannot be replaced", conversationUpdateUnknown},
	{"names are compared exactly", conversationNameExact},
}

func fullConversation() parley.Conversation {
	return parley.Conversation{
		ID: newID(), Name: "full", DisplayName: "Voll & Ganz", Kind: parley.Group, Visibility: parley.Private, Topic: "Thema\n✓", CreatedBy: "gendry",
		CreatedAt: at(1), UpdatedAt: at(2), ArchivedAt: atPointer(3), Set: parley.MemberSetKey([]string{"arya", "gendry"}),
	}
}

func conversationFields(f *fixture) {
	f.agents("arya", "gendry")
	full := f.conversation(fullConversation())
	dm := f.conversation(newDM("gendry", "nobody"))
	f.same("by id", f.findConversation(full.ID), full)
	f.same("by name", f.findConversation("full"), full)
	for _, c := range []parley.Conversation{full, dm} {
		f.same("by set", read(f, func(tx storage.Tx) (parley.Conversation, error) { return tx.Conversations().FindSet(c.Set) }), c)
	}
}

func conversationUnknown(f *fixture) {
	f.agents("arya")
	f.channel("general", "arya")
	for _, name := range []string{"", "genera", "General", "#general", newID()} {
		f.missing(name, func(tx storage.Tx) error { return errorOf(tx.Conversations().Find(name)) })
		f.missing("the set "+name, func(tx storage.Tx) error { return errorOf(tx.Conversations().FindSet(name)) })
	}
}

// A UUID is a channel name like any other.
func conversationNamedLikeID(f *fixture) {
	f.agents("arya")
	odd := f.channel(newID(), "arya")
	f.same("by its name", f.findConversation(odd.Name), odd)
	f.same("by its id", f.findConversation(odd.ID), odd)
	f.post(newMessage(odd.ID, "arya", "hello"))
	list := read(f, func(tx storage.Tx) ([]parley.Message, error) {
		return tx.Messages().Page(odd.Name, parley.Page{Limit: 10})
	})
	f.same("its messages, by its name", len(list), 1)
}

func conversationTaken(f *fixture) {
	f.agents("arya", "gendry")
	channel, dm := f.channel("general", "arya"), f.conversation(newDM("arya", "gendry"))
	before := f.contents()
	sameID := newChannel("other", "arya")
	sameID.ID = channel.ID
	for name, c := range map[string]parley.Conversation{
		"name": newChannel("general", "gendry"), "set": newDM("gendry", "arya"), "id": sameID,
	} {
		err := f.store.Update(f.Context(), func(tx storage.Tx) error { return tx.Conversations().Insert(c) })
		if !errors.Is(err, parley.ErrTaken) {
			f.Errorf("%s: got %v, want ErrTaken", name, err)
		}
	}
	f.same("afterwards", f.contents(), before)
	f.same("the DM", f.findConversation(dm.ID), dm)
}

func conversationNameless(f *fixture) {
	f.agents("arya")
	for range 3 {
		f.conversation(parley.Conversation{
			ID: newID(), Kind: parley.Ephemeral, Visibility: parley.Private, CreatedBy: "arya", CreatedAt: at(0), UpdatedAt: at(0),
		})
	}
	f.same("conversations", len(f.contents().Conversations), 3)
}

func conversationEphemeral(f *fixture) {
	f.agents("arya", "gendry")
	var list []parley.Conversation
	for range 2 {
		c := newDM("arya", "gendry")
		c.Kind = parley.Ephemeral
		list = append(list, f.conversation(c))
	}
	set := list[0].Set
	f.missing("the set", func(tx storage.Tx) error { return errorOf(tx.Conversations().FindSet(set)) })
	dm := f.conversation(newDM("arya", "gendry"))
	f.same("by its set", read(f, func(tx storage.Tx) (parley.Conversation, error) { return tx.Conversations().FindSet(set) }), dm)
	f.same("by its id", f.findConversation(list[1].ID), list[1])
}

func conversationUpdate(f *fixture) {
	f.agents("arya", "gendry")
	c := f.conversation(fullConversation())
	m := f.post(newMessage(c.ID, "arya", "hello"))
	changed := c
	changed.Name, changed.DisplayName, changed.Visibility, changed.Topic = "changed", "Changed!", parley.Public, ""
	changed.UpdatedAt, changed.ArchivedAt = at(9), nil
	f.update(func(tx storage.Tx) error {
		other := changed
		other.Kind, other.Set, other.Messages, other.LastSeq = parley.DM, "x,y", 77, 78
		return tx.Conversations().Put(other)
	})
	changed.Messages, changed.LastSeq = 1, m.Seq
	f.same("changed", f.findConversation(c.ID), changed)
	f.missing("the other set", func(tx storage.Tx) error { return errorOf(tx.Conversations().FindSet("x,y")) })
	f.same("by its old display name", f.displayed("Voll & Ganz"), "")
	changed.Name, changed.DisplayName, changed.ArchivedAt = "", "", atPointer(10)
	f.update(func(tx storage.Tx) error { return tx.Conversations().Put(changed) })
	f.same("without a name", f.findConversation(c.ID), changed)
}

// displayed returns the names of the conversations with a display name.
func (f *fixture) displayed(name string) string {
	return joinEach(read(f, func(tx storage.Tx) ([]parley.Conversation, error) {
		return tx.Conversations().WithDisplayName(name, "arya", false, 3)
	}),
		func(c parley.Conversation) string { return c.Name })
}

func conversationDisplayed(f *fixture) {
	f.agents("arya")
	for _, name := range []string{"one", "two", "three", "four"} {
		c := newChannel(name, "arya")
		c.DisplayName = "Über Eins"
		f.conversation(c)
	}
	f.same("all that the limit lets through, the oldest first", f.displayed("ÜBER EINS"), "one two three")
	f.same("decomposed", f.displayed("u\u0308ber eins"), "one two three")
	for _, name := range []string{"", "one", "Über  Eins", "Über\x00", "\xff", strings.Repeat("ü", 500)} {
		f.same(name, f.displayed(name), "")
	}
	f.update(func(tx storage.Tx) error { return tx.Conversations().Delete(f.mustFind(tx, "one").ID) })
	f.same("one is deleted", f.displayed("über eins"), "two three four")
	f.agents("gendry")
	hidden, mine := newChannel("hidden", "gendry"), newChannel("mine", "gendry")
	for i, c := range []*parley.Conversation{&hidden, &mine} {
		c.DisplayName, c.Visibility = "Über Eins", parley.Private
		f.conversation(*c, []string{"gendry", "arya"}[i])
	}
	f.same("those an agent takes part in, first", f.displayed("über eins"), "mine two three")
	f.same("for a reader that sees all", joinEach(read(f, func(tx storage.Tx) ([]parley.Conversation, error) {
		return tx.Conversations().WithDisplayName("über eins", "gendry", true, 9)
	}), func(c parley.Conversation) string { return c.Name }), "hidden two three four mine")
	f.missing("nobody's", func(tx storage.Tx) error {
		_, err := tx.Conversations().WithDisplayName("über eins", "nobody", true, 9)
		return err
	})
}

func (f *fixture) mustFind(tx storage.Tx, name string) parley.Conversation {
	c, err := tx.Conversations().Find(name)
	if err != nil {
		f.Fatal(err)
	}
	return c
}

func conversationsOfSet(f *fixture) {
	f.agents("arya", "gendry", "sansa")
	var ids []string
	for i, kind := range []parley.ConversationKind{parley.DM, parley.Ephemeral, parley.Ephemeral} {
		c := newDM("arya", "gendry")
		c.Kind = kind
		c = f.conversation(c, "arya", "gendry")
		f.post(newMessage(c.ID, "arya", strconv.Itoa(i)))
		ids = append(ids, c.ID)
	}
	f.conversation(newDM("arya", "sansa"), "arya", "sansa")
	ofSet := func(set string, limit int) string {
		return joinEach(read(f, func(tx storage.Tx) ([]parley.Conversation, error) { return tx.Conversations().WithSet(set, limit) }),
			func(c parley.Conversation) string { return c.ID })
	}
	f.same("all", ofSet("arya,gendry", 9), ids[2]+" "+ids[1]+" "+ids[0])
	f.same("two", ofSet("arya,gendry", 2), ids[2]+" "+ids[1])
	f.same("none", ofSet("gendry,sansa", 9), "")
	f.missing("nobody's", func(tx storage.Tx) error { _, err := tx.Conversations().WithSet("arya2,nobody", 9); return err })
	f.update(func(tx storage.Tx) error { return tx.Conversations().Delete(ids[2]) })
	f.same("one is deleted", ofSet("arya,gendry", 9), ids[1]+" "+ids[0])
}

func conversationRename(f *fixture) {
	f.agents("arya")
	a, b := f.channel("a", "arya"), f.channel("b", "arya")
	a.Name = "b"
	f.fails(parley.ErrTaken, func(tx storage.Tx) error { return tx.Conversations().Put(a) })
	a.Name = "c"
	f.update(func(tx storage.Tx) error {
		if err := tx.Conversations().Put(a); err != nil {
			return err
		}
		b.Name = "a" // the name is free within the same update
		return tx.Conversations().Put(b)
	})
	f.same("c", f.findConversation("c"), a)
	f.same("a", f.findConversation("a"), b)
	f.missing("b", func(tx storage.Tx) error { return errorOf(tx.Conversations().Find("b")) })
	f.channel("b", "arya")
}

func conversationUpdateUnknown(f *fixture) {
	f.agents("arya")
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Conversations().Put(newChannel("general", "arya")) })
	f.same("conversations", len(f.contents().Conversations), 0)
}

func conversationNameExact(f *fixture) {
	f.agents("arya")
	for _, name := range []string{"a_b", "a-b", "axb", "a%b"} {
		f.channel(name, "arya")
	}
	for _, name := range []string{"a_b", "a-b", "axb", "a%b"} {
		f.same(fmt.Sprintf("found by %q", name), f.findConversation(name).Name, name)
	}
}
