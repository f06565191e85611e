package storetest

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var messageTests = []test{
	{"every field is stored, and the checksum matches", messageFields},
	{"priorities are stored by level and by word", messagePriorities},
	{"no message is found by an unknown id", messageUnknown},
	{"seq begins at 1 and rises by one, within an update and between updates", messageSeq},
	{"a seq that is not the next is refused", messageWrongSeq},
	{"an id can be used once", messageSameID},
	{"seqs are found by ids", messageSeqs},
	{"conversation, sender and recipient must exist", messageNotFound},
	{"a conversation counts its messages", messageCounted},
	{"replies come oldest first, up to the limit", messageReplies},
	{"a scan goes through all conversations in order", messageScan},
}

func fullMessage(conversation string) parley.Message {
	m := newMessage(conversation, "arya", "Grüße\n\t✓ '\"; DROP TABLE messages; --")
	m.TraceID, m.To, m.Mentions = "my-trace", "gendry", []string{"gendry", "arya"}
	m.Type, m.CreatedAt, m.ExpiresAt, m.Deadline = "ha_report", at(4), atPointer(5), atPointer(6)
	m.Priority, _ = parley.ParsePriority("critical")
	m.InReplyTo, m.RequiresAck, m.Task = newID(), true, "task-101"
	m.Content.Code = "x := 1\r\n"
	m.Content.Artifacts = []parley.Artifact{
		{Name: "a.txt", MediaType: "text/plain", Size: 3, SHA256: digest("ab")}, {Path: "/tmp/b"},
	}
	m.Payload, m.Metadata = json.RawMessage(`{"n":1.50,"s":"\u0001é"}`), json.RawMessage(`{}`)
	m.Source, m.Hops, m.IdempotencyKey = "cli", 3, "key ü"
	return m
}

func (f *fixture) message(id string) parley.Message {
	f.Helper()
	return read(f, func(tx storage.Tx) (parley.Message, error) { return tx.Messages().Get(id) })
}

func messageFields(f *fixture) {
	f.agents("arya", "gendry")
	c := f.channel("general", "arya")
	f.keepBodies("arya", digest("ab"))
	toAll := newMessage(c.ID, "gendry", "")
	toAll.To, toAll.CreatedAt = parley.All, at(-3_000_000_000) // long before 1970
	for name, m := range map[string]parley.Message{
		"full": fullMessage(c.ID), "plain": newMessage(c.ID, "arya", "hello"), "to all": toAll,
		"large": newMessage(c.ID, "arya", strings.Repeat("0123456789abcdef", 16<<10)),
	} {
		m = f.post(m)
		got := f.message(m.ID)
		f.same(name, got, m)
		if !got.Intact() {
			f.Errorf("%s: the checksum does not hold", name)
		}
		f.same(name+" by its id in capitals", f.message(strings.ToUpper(m.ID)).Seq, m.Seq)
	}
}

func messagePriorities(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	for _, word := range []string{"0", "3", "5", "10", "low", "normal", "high", "urgent", "critical"} {
		m := newMessage(c.ID, "arya", word)
		var err error
		if m.Priority, err = parley.ParsePriority(word); err != nil {
			f.Fatal(err)
		}
		m = f.post(m)
		f.same(word, f.message(m.ID).Priority, m.Priority)
	}
}

func messageUnknown(f *fixture) {
	for _, id := range []string{"", "nothing", newID()} {
		f.missing(id, func(tx storage.Tx) error { return errorOf(tx.Messages().Get(id)) })
	}
}

func messageSeq(f *fixture) {
	f.agents("arya")
	a, b := f.channel("a", "arya"), f.channel("b", "arya")
	f.same("the first", read(f, func(tx storage.Tx) (int64, error) { return tx.Messages().NextSeq() }), int64(1))
	f.update(func(tx storage.Tx) error {
		for want := int64(1); want <= 3; want++ {
			if next, err := tx.Messages().NextSeq(); err != nil || next != want {
				return fmt.Errorf("next seq is %d, want %d: %w", next, want, err)
			}
			if _, err := post(tx, newMessage(a.ID, "arya", "hello")); err != nil {
				return err
			}
		}
		return nil
	})
	f.same("the fourth", f.post(newMessage(b.ID, "arya", "hello")).Seq, int64(4))
	f.same("the next", f.contents().NextSeq, int64(5))
}

func messageWrongSeq(f *fixture) {
	before := f.fillStore()
	for _, seq := range []int64{0, -1, before.NextSeq - 1, before.NextSeq + 1} {
		m := newMessage(before.Conversations[0].ID, "arya", "hello")
		m.Seq = seq
		m.Checksum = m.Seal(m.BodyDigest())
		err := f.store.Update(f.Context(), func(tx storage.Tx) error { return tx.Messages().Insert(m) })
		if err == nil {
			f.Errorf("seq %d was taken, the next is %d", seq, before.NextSeq)
		}
	}
	f.same("afterwards", f.contents(), before)
}

func messageSameID(f *fixture) {
	before := f.fillStore()
	again := newMessage(before.Conversations[0].ID, "arya", "another text")
	again.ID = before.Messages[0].ID
	if err := f.store.Update(f.Context(), func(tx storage.Tx) error { return errorOf(post(tx, again)) }); err == nil {
		f.Error("two messages have one id")
	}
	f.same("afterwards", f.contents(), before)
}

func messageNotFound(f *fixture) {
	before := f.fillStore()
	for name, change := range map[string]func(*parley.Message){
		"conversation":       func(m *parley.Message) { m.Conversation = newID() },
		"empty conversation": func(m *parley.Message) { m.Conversation = "" },
		"sender":             func(m *parley.Message) { m.From = "nobody" },
		"empty sender":       func(m *parley.Message) { m.From = "" },
		"recipient":          func(m *parley.Message) { m.To = "nobody" },
	} {
		m := newMessage(before.Conversations[0].ID, "arya", "hello")
		change(&m)
		err := f.store.Update(f.Context(), func(tx storage.Tx) error { return errorOf(post(tx, m)) })
		if !errors.Is(err, parley.ErrNotFound) {
			f.Errorf("%s: got %v, want ErrNotFound", name, err)
		}
	}
	f.same("afterwards", f.contents(), before)
}

func messageCounted(f *fixture) {
	f.agents("arya")
	c, other := f.channel("general", "arya"), f.channel("other", "arya")
	f.posts(2, c.ID)
	m := newMessage(c.ID, "arya", "hello")
	m.CreatedAt = at(30)
	m = f.post(m)
	c.Messages, c.LastSeq, c.UpdatedAt = 3, m.Seq, at(30)
	f.same("the conversation", f.findConversation(c.ID), c)
	f.same("the other one", f.findConversation(other.ID), other)
	f.fails(errOwn, func(tx storage.Tx) error {
		return errors.Join(errorOf(post(tx, newMessage(c.ID, "arya", "no"))), errOwn)
	})
	f.same("after a failed one", f.findConversation(c.ID), c)
}

func messageReplies(f *fixture) {
	f.agents("arya")
	c, other := f.channel("general", "arya"), f.channel("other", "arya")
	first := f.posts(2, c.ID)[0]
	want := []parley.Message{}
	for _, where := range []string{c.ID, other.ID, c.ID} {
		m := newMessage(where, "arya", "a reply")
		m.InReplyTo = first.ID
		want = append(want, f.post(m))
	}
	for limit := 1; limit <= 4; limit++ {
		got := read(f, func(tx storage.Tx) ([]parley.Message, error) { return tx.Messages().Replies(first.ID, limit) })
		f.same("replies", got, want[:min(limit, 3)])
	}
	for _, id := range []string{want[0].ID, newID()} {
		got := read(f, func(tx storage.Tx) ([]parley.Message, error) { return tx.Messages().Replies(id, 9) })
		f.same("no replies", len(got), 0)
	}
}

func messageScan(f *fixture) {
	f.agents("arya")
	a, b := f.channel("a", "arya"), f.channel("b", "arya")
	var want []parley.Message
	for i := range 7 {
		want = append(want, f.post(newMessage([]string{a.ID, b.ID}[i%2], "arya", "hello")))
	}
	for after := range 9 {
		for limit := 1; limit <= 8; limit++ {
			got := read(f, func(tx storage.Tx) ([]parley.Message, error) { return tx.Messages().Scan(int64(after), limit) })
			begin := min(after, 7)
			f.same("scan", got, want[begin:min(begin+limit, 7)])
		}
	}
}

func messageSeqs(f *fixture) {
	f.agents("arya")
	c, deleted := f.channel("general", "arya"), f.channel("gone", "arya")
	one, two := f.post(newMessage(c.ID, "arya", "one")), f.post(newMessage(c.ID, "arya", "two"))
	lost := f.post(newMessage(deleted.ID, "arya", "lost"))
	f.deleteConversation(deleted)
	seqs := func(ids ...string) map[string]int64 {
		return read(f, func(tx storage.Tx) (map[string]int64, error) { return tx.Messages().Seqs(ids) })
	}
	f.same("known", seqs(two.ID, one.ID), map[string]int64{one.ID: one.Seq, two.ID: two.Seq})
	f.same("unknown, deleted and wrong", seqs(one.ID, newID(), lost.ID, "m1"), map[string]int64{one.ID: one.Seq})
	f.same("none", seqs(), map[string]int64{})
}
