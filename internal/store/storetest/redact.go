package storetest

import (
	"errors"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var redactTests = []test{
	{"every method returns a redacted message without its body", redactFields},
	{"redaction drops references, and an artifact without other references is unused at once", redactReferences},
	{"a failed update redacts nothing", redactUndone},
	{"a missing message, or one without its digest, cannot be redacted", redactRefused},
	{"scrubbing the search index ends, and keeps the words of other messages", redactClearsIndex},
}

func (f *fixture) redact(m parley.Message) parley.Message {
	f.Helper()
	redacted := m.Redacted(at(30))
	f.update(func(tx storage.Tx) error { return tx.Messages().Redact(redacted) })
	return redacted
}

func redactFields(f *fixture) {
	f.agents("arya", "gendry")
	c := f.channel("general", "arya")
	f.keepBodies("arya", digest("00"))
	m := messageWithBodies(c.ID, digest("00"))
	m.To, m.Mentions, m.Task, m.Hops, m.IdempotencyKey = "gendry", []string{"gendry"}, "task-1", 2, "key"
	m.Content.Code, m.Payload, m.Metadata = "code", []byte(`{"a":1}`), []byte(`{"b":2}`)
	m = f.post(m)
	f.index(m)
	reply := newMessage(c.ID, "gendry", "reply")
	reply.InReplyTo = m.ID
	reply = f.post(reply)
	want, repliedTo := f.redact(m), f.redact(reply)
	f.same("intact", want.Intact(), true)
	for name, get := range map[string]func(storage.Tx) ([]parley.Message, error){
		"GetAll":  func(tx storage.Tx) ([]parley.Message, error) { return tx.Messages().GetAll([]string{m.ID, reply.ID}) },
		"Page":    func(tx storage.Tx) ([]parley.Message, error) { return tx.Messages().Page(c.ID, parley.Page{Limit: 9}) },
		"Scan":    func(tx storage.Tx) ([]parley.Message, error) { return tx.Messages().Scan(0, 9) },
		"Replies": func(tx storage.Tx) ([]parley.Message, error) { return tx.Messages().Replies(m.ID, 9) },
		"Match": func(tx storage.Tx) ([]parley.Message, error) {
			matches, err := tx.Search().Match(storage.SearchQuery{From: "arya", Limit: 9})
			return matches.Messages, err
		},
	} {
		expected := map[string][]parley.Message{"Replies": {repliedTo}, "Match": {want}}[name]
		if expected == nil {
			expected = []parley.Message{want, repliedTo}
		}
		f.same(name, read(f, get), expected)
	}
	f.same("Get", read(f, func(tx storage.Tx) (parley.Message, error) { return tx.Messages().Get(m.ID) }), want)
	f.same("counted", f.findConversation("general").Messages, int64(2))
	f.requireExactCounts()
}

func redactReferences(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	a, b := digest("00"), digest("01")
	f.keepBodies("arya", a, b)
	m := f.post(messageWithBodies(c.ID, a, b))
	f.post(messageWithBodies(c.ID, b))
	f.redact(m)
	f.same("references", []int64{f.artifact(a).Refs, f.artifact(b).Refs}, []int64{0, 1})
	f.same("of the message", len(read(f, func(tx storage.Tx) ([]string, error) { return tx.Artifacts().OfMessage(m.ID) })), 0)
	f.same("unused, though stored a moment ago", f.unusedArtifacts(0, 9), []string{a})
	f.keepBodies("arya", a)
	f.same("unused when stored again", len(f.unusedArtifacts(0, 9)), 0)
	f.requireExactCounts()
}

func redactUndone(f *fixture) {
	before := f.fillStore()
	f.fails(errOwn, func(tx storage.Tx) error {
		return errors.Join(tx.Messages().Redact(before.Messages[0].Redacted(at(9))), errOwn)
	})
	f.same("afterwards", f.contents(), before)
}

func redactRefused(f *fixture) {
	before := f.fillStore()
	m := before.Messages[0]
	if err := f.store.Update(f.Context(), func(tx storage.Tx) error { return tx.Messages().Redact(m) }); err == nil {
		f.Error("a message was redacted that does not say what it was")
	}
	m.Seq = 99
	f.fails(parley.ErrNotFound, func(tx storage.Tx) error { return tx.Messages().Redact(m.Redacted(at(9))) })
	f.same("afterwards", f.contents(), before)
}

func redactClearsIndex(f *fixture) {
	f.agents("arya")
	c := f.channel("general", "arya")
	f.same("parts with nothing forgotten", f.scrub(), 0)
	var list []parley.Message
	for range 20 {
		list = append(list, f.postAndIndex(c.ID, "word"))
	}
	for i := range 3 {
		f.update(func(tx storage.Tx) error { return tx.Search().Forget(list[i].Seq) })
		f.scrub()
		f.same("found", len(f.match(all("word")).Messages), 19-i)
		f.same("parts left", f.scrub(), 0)
	}
	f.postAndIndex(c.ID, "word")
	f.same("found afterwards", len(f.match(all("word")).Messages), 18)
}

// scrub scrubs the search index, and returns how many parts came before the last one.
func (f *fixture) scrub() (parts int) {
	f.Helper()
	for more := true; ; parts++ {
		f.update(func(tx storage.Tx) (err error) {
			more, err = tx.Search().Scrub()
			return err
		})
		if !more {
			return parts
		}
		if parts > 1000 {
			f.Fatalf("clearing the index does not end")
		}
	}
}
