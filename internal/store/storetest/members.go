package storetest

import (
	"errors"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var memberTests = []test{
	{"a member is stored, and a second Put replaces it", memberFields},
	{"members are listed in the order in which they joined", memberOrder},
	{"an agent that is no member is not found and cannot be removed", memberUnknown},
	{"a member needs an agent and a conversation that exist", memberPutUnknown},
	{"a removed member is not found, and can join again", memberRemove},
	{"unread messages are later messages of others", memberUnread},
}

func (f *fixture) members(conversation string) []parley.Member {
	f.Helper()
	return read(f, func(tx storage.Tx) ([]parley.Member, error) { return tx.Members().List(conversation) })
}

func (f *fixture) member(conversation, agent string) parley.Member {
	f.Helper()
	return read(f, func(tx storage.Tx) (parley.Member, error) { return tx.Members().Get(conversation, agent) })
}

func (f *fixture) put(m parley.Member) {
	f.Helper()
	f.update(func(tx storage.Tx) error { return tx.Members().Put(m) })
}

func memberFields(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	m := parley.Member{Conversation: c.ID, Agent: "arya", JoinedAt: at(3), ReadSeq: 7}
	f.put(m)
	f.same("put", f.member(c.ID, "arya"), m)
	f.same("by names", f.member("general", "ARYABOT"), m)
	m.JoinedAt, m.ReadSeq = at(4), 9
	f.put(m)
	f.same("put again", f.members(c.ID), []parley.Member{m})
}

func memberOrder(f *fixture) {
	f.agents("a", "b", "c", "d")
	c := f.channel("general", "a", "c", "a", "d", "b")
	other := f.channel("other", "a", "b")
	first := f.member(c.ID, "c")
	first.ReadSeq = 3 // reading does not change the order
	f.put(first)
	order := joinEach(f.members(c.ID), func(m parley.Member) string { return m.Agent })
	f.same("the order", order, "c a d b")
	f.same("the other conversation", len(f.members(other.ID)), 1)
}

func memberUnknown(f *fixture) {
	f.agents("arya", "gendry")
	c := f.channel("general", "arya", "arya")
	for _, pair := range [][2]string{{c.ID, "gendry"}, {c.ID, "nobody"}, {newID(), "arya"}, {"other", "arya"}} {
		f.missing(pair[0]+" "+pair[1], func(tx storage.Tx) error { return errorOf(tx.Members().Get(pair[0], pair[1])) })
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Members().Remove(pair[0], pair[1]) })
	}
	f.same("members", len(f.members(c.ID)), 1)
}

func memberPutUnknown(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	for _, m := range []parley.Member{
		{Conversation: newID(), Agent: "arya"},
		{Conversation: "", Agent: "arya"},
		{Conversation: c.ID, Agent: "nobody"},
		{Conversation: c.ID, Agent: ""},
	} {
		f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Members().Put(m) })
	}
	f.same("members", len(f.members(c.ID)), 0)
}

func memberRemove(f *fixture) {
	f.agents("arya", "gendry")
	c := f.channel("general", "arya", "arya", "gendry")
	other := f.channel("other", "arya", "arya")
	f.update(func(tx storage.Tx) error { return tx.Members().Remove(c.ID, "arya") })
	f.missing("the removed one", func(tx storage.Tx) error { return errorOf(tx.Members().Get(c.ID, "arya")) })
	f.same("who is left", len(f.members(c.ID)), 1)
	f.same("elsewhere", len(f.members(other.ID)), 1)
	back := parley.Member{Conversation: c.ID, Agent: "arya", JoinedAt: at(9)}
	f.put(back)
	f.same("back", f.members(c.ID)[1], back)
}

func memberUnread(f *fixture) {
	f.agents("arya", "gendry")
	c, other := f.channel("general", "arya", "arya", "gendry"), f.channel("other", "arya", "arya")
	var seqs []int64
	for _, from := range []string{"gendry", "arya", "gendry", "gendry"} {
		seqs = append(seqs, f.post(newMessage(c.ID, from, "hello")).Seq)
		f.post(newMessage(other.ID, "gendry", "hello"))
	}
	for _, want := range []struct {
		agent    string
		read     int64
		limit, n int
	}{
		{"arya", 0, 99, 3},
		{"arya", seqs[0] - 1, 99, 3},
		{"arya", seqs[0], 99, 2},
		{"arya", seqs[2], 99, 1},
		{"arya", seqs[3], 99, 0},
		{"arya", seqs[3] + 50, 99, 0},
		{"gendry", 0, 99, 1},
		{"gendry", seqs[1], 99, 0},
		{"arya", 0, 3, 3},
		{"arya", 0, 2, 2},
		{"arya", 0, 1, 1},
	} {
		m := parley.Member{Conversation: c.ID, Agent: want.agent, ReadSeq: want.read}
		n := read(f, func(tx storage.Tx) (int, error) { return tx.Members().Unread(m, want.limit) })
		if n != want.n {
			f.Errorf("%s, who has read to %d, has %d unread of at most %d; want %d", want.agent, want.read, n, want.limit, want.n)
		}
	}
	err := f.store.View(f.Context(), func(tx storage.Tx) error {
		return errorOf(tx.Members().Unread(parley.Member{Conversation: newID(), Agent: "arya"}, 9))
	})
	if !errors.Is(err, parley.ErrNotFound) {
		f.Errorf("unread of an unknown conversation: %v", err)
	}
}
