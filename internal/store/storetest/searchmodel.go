package storetest

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
)

var searchModelTests = []test{
	{"random queries find the same as a simple comparison of words", randomQueries},
}

var (
	modelWords   = []string{"a", "ab", "b", "ba", "消息", "消"}
	modelTexts   = rapid.SliceOfN(rapid.SampledFrom(append(modelWords, "/")), 1, 6)
	modelPhrases = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) parley.Phrase {
		return parley.Phrase{
			Words:  rapid.SliceOfN(rapid.SampledFrom(modelWords), 1, 3).Draw(t, "words"),
			Prefix: rapid.Bool().Draw(t, "prefix"),
		}
	}), 0, 2)
)

// randomQueries uses one store and one conversation for each history.
func randomQueries(f *fixture) {
	f.agents("arya", "gendry")
	run := 0
	rapid.Check(f.T, func(t *rapid.T) {
		run++
		c := f.channel(fmt.Sprint("room-", run), "arya")
		var posted []parley.Message
		for range rapid.IntRange(1, 6).Draw(t, "messages") {
			m := newMessage(c.ID, rapid.SampledFrom([]string{"arya", "gendry"}).Draw(t, "sender"), strings.Join(modelTexts.Draw(t, "text"), " "))
			posted = append(posted, f.post(m))
		}
		f.index(posted...)
		for range 4 {
			q := storage.SearchQuery{
				Conversation: c.ID, All: modelPhrases.Draw(t, "all"), None: modelPhrases.Draw(t, "none"),
				From: rapid.SampledFrom([]string{"", "gendry"}).Draw(t, "from"), Limit: rapid.IntRange(1, 7).Draw(t, "limit"),
			}
			compareMatch(t, f.store, q, posted)
		}
	})
}

func compareMatch(t *rapid.T, store storage.Store, q storage.SearchQuery, posted []parley.Message) {
	var want, got []string
	for _, m := range slices.Backward(posted) {
		if (q.From == "" || q.From == m.From) && occurs(q, document(m).Words) && len(want) < q.Limit {
			want = append(want, m.Content.Text)
		}
	}
	err := store.View(context.Background(), func(tx storage.Tx) error {
		found, err := tx.Search().Match(q)
		for _, m := range found.Messages {
			got = append(got, m.Content.Text)
		}
		return err
	})
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Fatalf("%+v: %v (-want +got):\n%s", q, err, diff)
	}
}

// occurs reports whether a query matches a text. It compares the words one by one.
func occurs(q storage.SearchQuery, words []string) bool {
	has := func(p parley.Phrase) bool {
		for from := range words {
			if follows(p, words[from:]) {
				return true
			}
		}
		return false
	}
	return !slices.ContainsFunc(q.All, func(p parley.Phrase) bool { return !has(p) }) && !slices.ContainsFunc(q.None, has)
}

func follows(p parley.Phrase, words []string) bool {
	if len(words) < len(p.Words) {
		return false
	}
	for i, word := range p.Words {
		begins := p.Prefix && i == len(p.Words)-1 && strings.HasPrefix(words[i], word)
		if words[i] != word && !begins {
			return false
		}
	}
	return true
}
