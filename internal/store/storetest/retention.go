package storetest

import (
	"errors"
	"fmt"
	"strings"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var retentionTests = []test{
	{"the oldest messages come in order, with their size and whether they are owed", retentionOldest},
	{"erasing a message erases its deliveries, references and words, and nothing else", retentionErase},
	{"an owed message stays", retentionKeepsOwed},
	{"the number of an erased message is not used again", retentionNumbers},
	{"retention leaves messages of deleted conversations to purging", retentionSkipsDeleted},
	{"a failed update erases nothing", retentionUndone},
	{"a message that was read before it was erased is not indexed", retentionIndex},
	{"the size is that of the bodies that exist", retentionBytes},
}

func (f *fixture) oldest(after int64, limit int) []storage.OldMessage {
	f.Helper()
	return read(f, func(tx storage.Tx) ([]storage.OldMessage, error) { return tx.Retention().Oldest(after, limit) })
}

func (f *fixture) erase(after, upTo int64) (erased storage.Erased) {
	f.Helper()
	f.update(func(tx storage.Tx) (err error) {
		erased, err = tx.Retention().Erase(after, upTo)
		return err
	})
	return erased
}

// requireExactCounts requires that every stored count equals the number of rows that it counts.
func (f *fixture) requireExactCounts() {
	f.Helper()
	f.view(func(tx storage.Tx) error {
		for _, find := range []func(int) ([]string, error){tx.Counts().Conversations, tx.Counts().Artifacts, tx.Counts().MessageBytes} {
			wrong, err := find(9)
			if err != nil {
				return err
			}
			f.same("wrong counts", wrong, []string(nil))
		}
		return nil
	})
}

// changeDelivery changes a delivery of a message.
func (f *fixture) changeDelivery(m parley.Message, recipient string, change func(*parley.Delivery)) {
	f.Helper()
	f.update(func(tx storage.Tx) error {
		before, err := tx.Deliveries().Get(m.ID, recipient)
		if err != nil {
			return err
		}
		after := before
		change(&after)
		return tx.Deliveries().Put(before, after)
	})
}

func state(s parley.DeliveryState) func(*parley.Delivery) {
	return func(d *parley.Delivery) { d.State = s }
}

func retentionOldest(f *fixture) {
	f.agents("arya", "gendry")
	c := f.channel("general", "arya")
	f.keepBodies("arya", digest("00"))
	full := messageWithBodies(c.ID, digest("00"))
	full.Content.Text, full.Content.Code, full.CreatedAt = "é", "code", at(7)
	full.Payload, full.Metadata = []byte(`{"a":1}`), []byte(`{}`)
	artifacts := fmt.Sprintf(`[{"name":"a","size":3,"sha256":%q}]`, digest("00"))
	first := f.post(full)
	second := f.post(newMessage(c.ID, "arya", "owed"))
	f.deliver(second, "gendry")
	want := []storage.OldMessage{
		{Seq: first.Seq, CreatedAt: at(7), Bytes: int64(2 + 4 + 7 + 2 + len(artifacts))},
		{Seq: second.Seq, CreatedAt: at(1), Bytes: 4, Owed: true},
	}
	f.same("all", f.oldest(0, 9), want)
	f.same("the first", f.oldest(0, 1), want[:1])
	f.same("the second", f.oldest(first.Seq, 9), want[1:])
	f.same("none", len(f.oldest(second.Seq, 9)), 0)
}

func retentionErase(f *fixture) {
	before := f.fillStore()
	c, other := f.channel("one", "arya", "arya"), f.channel("two", "arya")
	f.keepBodies("arya", digest("00"), digest("01"))
	first := f.post(messageWithBodies(c.ID, digest("00"), digest("01")))
	f.deliver(first, "gendry")
	f.changeDelivery(first, "gendry", state(parley.DeliveryAcked))
	f.index(first)
	answer := newMessage(other.ID, "gendry", "kept")
	answer.InReplyTo = first.ID
	second := f.post(newMessage(other.ID, "arya", "word gone"))
	f.index(second)
	kept := f.post(answer)
	third := f.post(messageWithBodies(c.ID, digest("00")))
	last := f.postAndIndex(c.ID, "word stays")
	f.same("erased", f.erase(first.Seq-1, second.Seq), storage.Erased{Messages: 2, Bytes: int64(bodySize(first) + bodySize(second))})
	after := f.contents()
	f.same("messages", after.Messages, append(before.Messages, kept, third, last))
	f.same("deliveries", len(after.Deliveries[first.ID]), 0)
	f.same("deliveries of others", after.Deliveries[before.Messages[0].ID], before.Deliveries[before.Messages[0].ID])
	f.same("what it answers", after.Messages[1].InReplyTo, first.ID)
	one, two := f.findConversation("one"), f.findConversation("two")
	f.same("numbers of the first", []int64{one.Messages, one.LastSeq}, []int64{2, last.Seq})
	f.same("numbers of the second", []int64{two.Messages, two.LastSeq}, []int64{1, kept.Seq})
	f.same("members", len(after.Members[c.ID]), 1)
	f.same("references", []int64{f.artifact(digest("00")).Refs, f.artifact(digest("01")).Refs}, []int64{1, 0})
	f.requireFound("words", all("word"), "word stays")
	f.same("erased again", f.erase(0, second.Seq), storage.Erased{})
	f.same("afterwards", f.contents(), after)
	f.same("all but what is owed", f.erase(0, last.Seq).Messages, 3)
	one = f.findConversation("one")
	f.same("numbers of none", []int64{one.Messages, one.LastSeq}, []int64{0, 0})
	f.requireExactCounts()
}

func bodySize(m parley.Message) int {
	size := len(m.Content.Text) + len(m.Content.Code) + len(m.Payload) + len(m.Metadata)
	for i, a := range m.Content.Artifacts {
		size += len(fmt.Sprintf(`[{"name":%q,"size":%d,"sha256":%q}`, a.Name, a.Size, a.SHA256))
		if i == len(m.Content.Artifacts)-1 {
			size++
		}
	}
	return size
}

func retentionKeepsOwed(f *fixture) {
	f.agents("arya", "gendry", "sansa")
	c := f.channel("general", "arya")
	lease := newID()
	leased := func(s parley.DeliveryState) func(*parley.Delivery) {
		return func(d *parley.Delivery) { d.State, d.Lease = s, lease }
	}
	var kept []string
	for _, one := range []struct {
		text           string
		owed           bool
		changeDelivery func(*parley.Delivery)
	}{
		{"accepted", true, nil},
		{"delivered", true, leased(parley.DeliveryDelivered)},
		{"seen in a live run", true, leased(parley.DeliverySeen)},
		{"seen", false, state(parley.DeliverySeen)},
		{"acked", false, state(parley.DeliveryAcked)},
		{"answered", false, state(parley.DeliveryAnswered)},
		{"failed", false, state(parley.DeliveryFailed)},
		{"expired", false, state(parley.DeliveryExpired)},
		{"evicted", false, state(parley.DeliveryEvicted)},
		{"dead", true, state(parley.DeliveryDead)},
		{"dropped", false, state(parley.DeliveryDropped)},
	} {
		m := f.post(newMessage(c.ID, "arya", one.text))
		f.deliver(m, "gendry", "sansa")
		f.changeDelivery(m, "gendry", state(parley.DeliveryAcked)) // one owed delivery of several is enough
		if one.changeDelivery != nil {
			f.changeDelivery(m, "sansa", one.changeDelivery)
		}
		if one.owed {
			kept = append(kept, one.text)
		}
		f.same(one.text+" is owed", f.oldest(m.Seq-1, 1)[0].Owed, one.owed)
	}
	for n, state := range []parley.WaitState{parley.WaitWaiting, parley.WaitLate, parley.WaitAbandoned, parley.WaitAnswered, parley.WaitFailed} {
		m := f.post(newMessage(c.ID, "arya", fmt.Sprint("asked", n)))
		ask := newAsk(m.ID, "arya", "gendry")
		ask.State = state
		f.waits(ask)
		if !state.Ended() {
			kept = append(kept, m.Content.Text)
		}
		f.same(m.Content.Text+" is owed", f.oldest(m.Seq-1, 1)[0].Owed, !state.Ended())
	}
	inbox := func() parley.Inbox {
		f.Helper()
		return read(f, func(tx storage.Tx) (parley.Inbox, error) { return tx.Queue().Inbox("sansa") })
	}
	before := inbox()
	f.same("open", before.Waking, 3)
	f.same("erased", f.erase(0, 1<<40).Messages, 16-len(kept))
	f.same("kept", joinEach(f.contents().Messages, func(m parley.Message) string { return m.Content.Text }), strings.Join(kept, " "))
	f.same("inbox", inbox(), before)
	f.requireExactCounts()
}

func retentionNumbers(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	last := f.posts(3, c.ID)[2]
	f.same("erased", f.erase(0, last.Seq).Messages, 3)
	f.same("next", f.post(newMessage(c.ID, "arya", "hello")).Seq, last.Seq+1)
	_, newest := f.bounds()
	f.same("newest", newest, last.Seq+1)
	f.requireExactCounts()
}

func retentionSkipsDeleted(f *fixture) {
	f.agents("arya", "gendry")
	c := f.channel("general", "arya")
	for _, m := range f.posts(3, c.ID) {
		f.deliver(m, "gendry")
		f.changeDelivery(m, "gendry", state(parley.DeliveryAcked))
	}
	f.update(func(tx storage.Tx) error { return tx.Conversations().Delete(c.ID) })
	f.same("oldest", len(f.oldest(0, 9)), 0)
	f.same("erased", f.erase(0, 1<<40), storage.Erased{})
	f.same("purged", f.purge(100), 3+3+1)
	f.requireExactCounts()
}

func retentionUndone(f *fixture) {
	f.fillStore()
	f.posts(3, f.findConversation("general").ID)
	before := f.contents()
	f.fails(errOwn, func(tx storage.Tx) error { return errors.Join(errorOf(tx.Retention().Erase(0, 1<<40)), errOwn) })
	f.same("afterwards", f.contents(), before)
	f.requireExactCounts()
}

func retentionIndex(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	late := f.post(newMessage(c.ID, "arya", "word"))
	before := f.mark()
	f.erase(0, late.Seq)
	f.fails(parley.ErrTaken, func(tx storage.Tx) error {
		return tx.Search().Index(before, late.Seq, []parley.Document{document(late)})
	})
	f.requireFound("found", all("word"), "")
}

func (f *fixture) countBytes(limit int64) (bytes int64, more bool) {
	f.Helper()
	f.update(func(tx storage.Tx) (err error) {
		bytes, more, err = tx.Retention().CountBytes(limit)
		return err
	})
	return bytes, more
}

func retentionBytes(f *fixture) {
	f.agents("arya")
	check := func(what string, limit, want int64, wantMore bool) {
		f.Helper()
		bytes, more := f.countBytes(limit)
		f.same(what, []any{bytes, more}, []any{want, wantMore})
		f.requireExactCounts()
	}
	check("of nothing", 10, 0, false)
	c, deleted := f.channel("general", "arya"), f.channel("deleted", "arya")
	var list []parley.Message
	for i := range 6 {
		conv := c.ID
		if i == 5 {
			conv = deleted.ID
		}
		list = append(list, f.post(newMessage(conv, "arya", strings.Repeat("é", 1<<i)))) // 2, 4, … 64 bytes
	}
	check("of two", 2, 2+4, true)
	f.redact(list[0])
	f.redact(list[4]) // not counted yet
	check("of four", 2, 4+8+16, true)
	check("of all", 2, 4+8+16+64, false)
	check("again", 2, 4+8+16+64, false)
	f.erase(0, list[1].Seq)
	check("after erasing", 10, 8+16+64, false)
	f.update(func(tx storage.Tx) error { return tx.Conversations().Delete(deleted.ID) })
	check("after burying", 10, 8+16+64, false)
	for f.purge(1) > 0 {
		f.requireExactCounts()
	}
	check("after purging", 10, 8+16, false)
}
