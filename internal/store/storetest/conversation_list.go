package storetest

import (
	"errors"
	"slices"
	"strings"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var conversationListTests = []test{
	{"the conversation with the newest message comes first", listOrder},
	{"pages of every size show each conversation once", listPages},
	{"a scan shows every conversation once, by id", listScan},
	{"a border without an id excludes the conversation at it", listBefore},
	{"filters select, alone and together", listFilters},
	{"a change at the given moment is not idle", listIdleBorder},
	{"a conversation with an owed message is not settled", listIdleAndSettled},
	{"an empty store has no conversations", listEmpty},
}

func (f *fixture) list(filter storage.ConversationFilter) []parley.Conversation {
	f.Helper()
	return read(f, func(tx storage.Tx) ([]parley.Conversation, error) { return tx.Conversations().List(filter) })
}

func listed(list []parley.Conversation) string {
	return joinEach(list, func(c parley.Conversation) string { return c.Name })
}

func listScan(f *fixture) {
	f.agents("arya")
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		f.channel(name, "arya", "arya")
	}
	now := at(9)
	f.update(func(tx storage.Tx) error {
		archived, err := tx.Conversations().Find("b")
		if err != nil {
			return err
		}
		archived.ArchivedAt = &now
		deleted, err := tx.Conversations().Find("d")
		if err != nil {
			return err
		}
		return errors.Join(tx.Conversations().Put(archived), tx.Conversations().Delete(deleted.ID))
	})
	for limit := 1; limit < 6; limit++ {
		var all []parley.Conversation
		for more := true; more; {
			after := ""
			if len(all) > 0 {
				after = all[len(all)-1].ID
			}
			page := read(f, func(tx storage.Tx) ([]parley.Conversation, error) { return tx.Conversations().Scan(after, limit) })
			all, more = append(all, page...), len(page) > 0
		}
		f.same("all", listed(all), "a b c e") // later conversations have greater ids
	}
	f.missing("after no id", func(tx storage.Tx) error { _, err := tx.Conversations().Scan("general", 1); return err })
}

func listOrder(f *fixture) {
	f.agents("arya")
	for _, name := range []string{"a", "b", "c"} {
		f.channel(name, "arya")
	}
	for _, name := range []string{"c", "a", "b", "a"} {
		f.post(newMessage(f.findConversation(name).ID, "arya", "hello"))
	}
	f.same("the list", listed(f.list(storage.ConversationFilter{Limit: 10})), "a b c")
	f.same("two of it", listed(f.list(storage.ConversationFilter{Limit: 2})), "a b")
}

// listPages also has conversations without messages, which are ordered only by id.
func listPages(f *fixture) {
	f.agents("arya")
	for i, name := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		c := f.channel(name, "arya")
		if i%3 == 0 {
			f.post(newMessage(c.ID, "arya", "hello"))
		}
	}
	all := f.list(storage.ConversationFilter{Limit: 100})
	if len(all) != 7 || !slices.IsSortedFunc(all, func(a, b parley.Conversation) int {
		return int(b.LastSeq-a.LastSeq)*2 + strings.Compare(b.ID, a.ID)
	}) {
		f.Fatalf("the whole list: %s", listed(all))
	}
	for limit := 1; limit <= 8; limit++ {
		var pages []parley.Conversation
		filter := storage.ConversationFilter{Limit: limit}
		for page := f.list(filter); len(page) > 0; page = f.list(filter) {
			if len(page) > limit {
				f.Fatalf("a page of %d has %d", limit, len(page))
			}
			pages = append(pages, page...)
			last := page[len(page)-1]
			filter.Before, filter.BeforeID = last.LastSeq, last.ID
		}
		f.same("pages", listed(pages), listed(all))
	}
}

func listBefore(f *fixture) {
	f.agents("arya")
	for _, name := range []string{"a", "b", "c"} {
		f.post(newMessage(f.channel(name, "arya").ID, "arya", "hello"))
	}
	f.same("before 3", listed(f.list(storage.ConversationFilter{Before: 3, Limit: 10})), "b a")
	f.same("before 1", listed(f.list(storage.ConversationFilter{Before: 1, Limit: 10})), "")
	f.same("before 4", listed(f.list(storage.ConversationFilter{Before: 4, Limit: 10})), "c b a")
}

func listFilters(f *fixture) {
	f.agents("arya", "gendry", "sansa")
	add := func(name string, kind parley.ConversationKind, v parley.Visibility, archived bool, members ...string) {
		c := newChannel(name, "arya")
		c.Kind, c.Visibility = kind, v
		if archived {
			c.ArchivedAt = atPointer(5)
		}
		f.conversation(c, members...)
		f.post(newMessage(c.ID, "arya", "hello"))
	}
	add("public", parley.Channel, parley.Public, false, "arya", "sansa")
	add("private", parley.Channel, parley.Private, false, "arya")
	add("group", parley.Group, parley.Private, false, "arya", "gendry")
	add("oddgroup", parley.Group, parley.Public, false, "arya")
	add("old", parley.Channel, parley.Public, true, "gendry")
	add("brief", parley.Ephemeral, parley.Private, false, "gendry", "sansa")
	channels := []parley.ConversationKind{parley.Channel}
	for want, filter := range map[string]storage.ConversationFilter{
		"brief oddgroup group private public": {},
		"old":                                 {Archived: true},
		"oddgroup group private public":       {Member: "arya"},
		"brief group":                         {Member: "GendryBot"},
		"brief group public":                  {Reader: "gendry"},
		"brief public":                        {Reader: "sansa"},
		"private public":                      {Kinds: channels},
		"brief oddgroup group":                {Kinds: []parley.ConversationKind{parley.Group, parley.Ephemeral, parley.DM}},
		"":                                    {Kinds: []parley.ConversationKind{parley.DM}},
		"public":                              {Reader: "gendry", Kinds: channels},
		"group":                               {Member: "gendry", Reader: "arya"},
	} {
		filter.Limit = 10
		f.same("filtered", listed(f.list(filter)), want)
	}
	f.same("archived, gendry's", listed(f.list(storage.ConversationFilter{Archived: true, Member: "gendry", Limit: 9})), "old")
	f.same("archived, to be read", listed(f.list(storage.ConversationFilter{Archived: true, Reader: "sansa", Limit: 9})), "old")
}

func listIdleBorder(f *fixture) {
	f.agents("arya")
	for i, name := range []string{"a", "b", "c"} {
		c := newChannel(name, "arya")
		c.UpdatedAt = at(i)
		f.conversation(c)
	}
	for i, want := range []string{"", "a", "a b", "a b c"} {
		f.same("idle", f.idle(storage.IdleFilter{Since: at(i), Limit: 10}), want)
	}
	m := newMessage(f.findConversation("a").ID, "arya", "hello")
	m.CreatedAt = at(2)
	f.post(m)
	f.same("after a message", f.idle(storage.IdleFilter{Since: at(2), Limit: 10}), "b")
	f.same("of another kind", f.idle(storage.IdleFilter{Since: at(9), Kinds: []parley.ConversationKind{parley.DM}, Limit: 10}), "")
	f.same("at most", len(strings.Fields(f.idle(storage.IdleFilter{Since: at(9), Limit: 2}))), 2)
	f.update(func(tx storage.Tx) error {
		c := f.findConversation("b")
		c.ArchivedAt = &c.CreatedAt
		return tx.Conversations().Put(c)
	})
	f.update(func(tx storage.Tx) error { return tx.Conversations().Delete(f.findConversation("c").ID) })
	f.same("not archived, not deleted", f.idle(storage.IdleFilter{Since: at(9), Limit: 10}), "a")
}

// idle returns the sorted names of idle conversations. The store may return them in any order.
func (f *fixture) idle(filter storage.IdleFilter) string {
	f.Helper()
	ids := read(f, func(tx storage.Tx) ([]string, error) { return tx.Conversations().Idle(filter) })
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = f.findConversation(id).Name
	}
	slices.Sort(names)
	return strings.Join(names, " ")
}

func listIdleAndSettled(f *fixture) {
	f.agents("arya", "gendry")
	owes, settled := f.conversation(newChannel("owes", "arya")), f.conversation(newChannel("settled", "arya"))
	f.post(newMessage(settled.ID, "arya", "hello"))
	m := f.post(newMessage(owes.ID, "arya", "hello"))
	f.update(func(tx storage.Tx) error {
		_, err := tx.Deliveries().Insert(m, reaches("gendry"))
		return err
	})
	f.same("all", f.idle(storage.IdleFilter{Since: at(99), Limit: 9}), "owes settled")
	f.same("settled", f.idle(storage.IdleFilter{Since: at(99), Settled: true, Limit: 9}), "settled")
}

func listEmpty(f *fixture) {
	f.same("none", len(f.list(storage.ConversationFilter{Limit: 10})), 0)
	f.same("none archived", len(f.list(storage.ConversationFilter{Archived: true, Limit: 10})), 0)
}
