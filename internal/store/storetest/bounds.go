package storetest

import (
	"strings"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var boundTests = []test{
	{"the bytes that an agent has stored are summed up", storedBySums},
	{"conversations that an agent has created are counted", createdConversationCounts},
	{"usable credentials are counted", usableCredentialCounts},
	{"sizes of messages are those of their stored texts", messageSizes},
	{"messages of a trace are found without their bodies", tracedWithoutBodies},
	{"pages, replies and search results have a limit in bytes", pageBytes},
	{"a bounded transaction reads no more than its limit", boundedReads},
}

func storedBySums(f *fixture) {
	f.agents("arya", "gendry")
	f.keepBodies("arya", digest("1"), digest("2"))
	f.keepBodies("gendry", digest("2"))
	f.keepBodies("arya", digest("1")) // again
	by := func(agent string) int64 {
		return read(f, func(tx storage.Tx) (int64, error) { return tx.Artifacts().StoredBy(agent) })
	}
	f.same("stored", []int64{by("arya"), by("gendry")}, []int64{6, 3})
	f.expire(digest("1"), 5)
	f.same("without what was removed", by("arya"), int64(3))
	f.missing("nobody", func(tx storage.Tx) error { _, err := tx.Artifacts().StoredBy("nobody"); return err })
}

func createdConversationCounts(f *fixture) {
	f.agents("arya", "gendry")
	f.channel("one", "arya")
	two := f.channel("two", "arya")
	created := func(agent string) int {
		return read(f, func(tx storage.Tx) (int, error) { return tx.Conversations().CountMade(agent) })
	}
	f.same("created", []int{created("arya"), created("gendry")}, []int{2, 0})
	f.update(func(tx storage.Tx) error {
		two.ArchivedAt = new(at(1))
		return tx.Conversations().Put(two)
	})
	f.same("without what is archived", created("arya"), 1)
	f.missing("nobody", func(tx storage.Tx) error { _, err := tx.Conversations().CountMade("nobody"); return err })
}

func usableCredentialCounts(f *fixture) {
	f.agents("arya", "gendry")
	plain, old, revoked, link, run := newToken("arya"), newToken("arya"), newToken("arya"), newToken("arya"), newToken("arya")
	old.ExpiresAt = new(at(10))
	plain.ExpiresAt, revoked.ExpiresAt, link.ExpiresAt, run.ExpiresAt = nil, nil, new(at(30)), nil
	link.Kind, run.Kind = parley.TokenLink, parley.TokenRun
	f.tokens(plain, old, revoked, link, run)
	f.update(func(tx storage.Tx) error {
		revoked.RevokedAt = new(at(1))
		return tx.Tokens().Put(revoked)
	})
	good := func(agent string, seconds int) int {
		return read(f, func(tx storage.Tx) (int, error) { return tx.Tokens().CountUsable(agent, at(seconds)) })
	}
	f.same("good", []int{good("arya", 5), good("arya", 10), good("arya", 40), good("gendry", 5)}, []int{3, 2, 1, 0})
	f.missing("nobody", func(tx storage.Tx) error { _, err := tx.Tokens().CountUsable("nobody", at(1)); return err })
}

func messageSizes(f *fixture) {
	f.agents("arya")
	general := f.channel("general", "arya")
	m := newMessage(general.ID, "arya", "héllo")
	m.Content.Code, m.Payload, m.Metadata = "code", []byte(`{"a":1}`), []byte(`{"b":2}`)
	plain := newMessage(general.ID, "arya", "")
	files := newMessage(general.ID, "arya", "see these")
	files.Content.Artifacts = []parley.Artifact{{Name: "a", Path: strings.Repeat("x", 1000)}, {Name: "b", Path: "c/b"}}
	var seqs []int64
	f.update(func(tx storage.Tx) error {
		for _, one := range []parley.Message{m, plain, files} {
			stored, err := post(tx, one)
			if err != nil {
				return err
			}
			seqs = append(seqs, stored.Seq)
		}
		return nil
	})
	sizes := func(seqs ...int64) map[int64]int {
		return read(f, func(tx storage.Tx) (map[int64]int, error) { return tx.Messages().Sizes(seqs) })
	}
	f.same("sizes", sizes(append(seqs, 999)...), map[int64]int{seqs[0]: 6 + 4 + 7 + 7, seqs[1]: 0, seqs[2]: files.Size()})
	f.same("with its artifacts", files.Size() > 1000, true)
	f.same("of none", len(sizes()), 0)
}

func tracedWithoutBodies(f *fixture) {
	general, first := largeMessages(f)
	other := f.channel("other", "arya")
	named := newMessage(other.ID, "arya", "x")
	named.TraceID = "winter"
	f.update(func(tx storage.Tx) error {
		_, err := post(tx, named)
		return err
	})
	in := func(trace string, after int64, limit int) (got []any) {
		f.view(func(tx storage.Tx) error {
			tx.LimitBytes(1 << 20) // the messages have three MiB
			list, more, err := tx.Messages().InTrace(trace, after, limit)
			got = []any{list, more}
			return err
		})
		return got
	}
	seq := read(f, func(tx storage.Tx) (parley.Message, error) { return tx.Messages().Get(named.ID) }).Seq
	f.same("by a name", in("winter", 0, 100), []any{[]string{other.ID}, false})
	f.same("by an id", in(strings.ToUpper(first), 0, 100), []any{[]string{general.ID}, false})
	f.same("too many", in("winter", 0, 12), []any{[]string(nil), true})
	f.same("exactly as many", in("winter", 0, 13), []any{[]string{other.ID}, false})
	f.same("after it", in("winter", seq, 13), []any{[]string(nil), false})
}

// largeMessages posts twelve messages of a quarter of a MiB. All but the first are replies to the first.
func largeMessages(f *fixture) (parley.Conversation, string) {
	f.Helper()
	f.agents("arya")
	general := f.channel("general", "arya")
	first := ""
	for range 12 {
		m := newMessage(general.ID, "arya", strings.Repeat("x", 256<<10))
		m.InReplyTo = first
		f.update(func(tx storage.Tx) error {
			_, err := post(tx, m)
			return err
		})
		if first == "" {
			first = m.ID
		}
	}
	return general, first
}

func pageBytes(f *fixture) {
	general, first := largeMessages(f)
	newest := read(f, func(tx storage.Tx) ([]parley.Message, error) {
		return tx.Messages().Page(general.ID, parley.Page{Limit: 100})
	})
	f.same("a page ends with the message that is too much", len(newest), 5)
	oldest := read(f, func(tx storage.Tx) ([]parley.Message, error) {
		return tx.Messages().Page(general.ID, parley.Page{Forward: true, Limit: 100})
	})
	f.same("forwards too", []any{len(oldest), oldest[0].ID}, []any{5, first})
	replies := read(f, func(tx storage.Tx) ([]parley.Message, error) { return tx.Messages().Replies(first, 100) })
	f.same("replies come at once", len(replies), 11)
}

func boundedReads(f *fixture) {
	general, first := largeMessages(f)
	page := parley.Page{Limit: 2}
	f.view(func(tx storage.Tx) error {
		tx.LimitBytes(1 << 20)
		_, err := tx.Messages().Page(general.ID, page)
		return err
	})
	var failed error
	err := f.store.View(f.Context(), func(tx storage.Tx) error {
		tx.LimitBytes(1 << 20)
		_, failed = tx.Messages().Replies(first, 100)
		_, again := tx.Messages().Page(general.ID, page)
		return again
	})
	for what, err := range map[string]error{"the read": failed, "what comes after it": err} {
		f.same(what, parley.AsError(err).Reason, parley.TooLarge)
	}
	f.view(func(tx storage.Tx) error { // the next transaction has no bound
		_, err := tx.Messages().Replies(first, 100)
		return err
	})
}
