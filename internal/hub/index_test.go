package hub_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// TestOwnMessageIsFoundAtOnce posts and searches without any pause.
func TestOwnMessageIsFoundAtOnce(t *testing.T) {
	t.Parallel()
	w := newSearch(t)
	for i := range 50 {
		word := fmt.Sprint("word", i)
		w.SayIn("arya", "open", word)
		found := w.searchAs("arya", word)
		same(t, word, []any{len(found.Hits), found.Behind}, []any{1, false})
	}
}

// interrupted is a store on which an update that indexes can fail: before it writes, after it writes and before the commit, or after
// the commit, so that the indexer does not learn of the commit.
type interrupted struct {
	storage.Store
	where *atomic.Value // "", "before", "during" or "after"
}

var errInterrupted = errors.New("interrupted")

func (s interrupted) Update(ctx context.Context, fn func(storage.Tx) error) error {
	indexed := false
	err := s.Store.Update(ctx, func(tx storage.Tx) error { return fn(interruptedTx{tx, s.where, &indexed}) })
	if err == nil && indexed && s.where.Load() == "after" {
		return errInterrupted
	}
	return err
}

type interruptedTx struct {
	storage.Tx
	where   *atomic.Value
	indexed *bool
}

func (t interruptedTx) Search() storage.SearchStore { return interruptedSearch{t.Tx.Search(), t} }

type interruptedSearch struct {
	storage.SearchStore
	tx interruptedTx
}

func (s interruptedSearch) Index(from storage.IndexMark, upTo int64, docs []parley.Document) error {
	*s.tx.indexed = true
	if s.tx.where.Load() == "before" {
		return errInterrupted
	}
	err := s.SearchStore.Index(from, upTo, docs)
	if err == nil && s.tx.where.Load() == "during" {
		err = errInterrupted
	}
	return err
}

func interruptible() (func(*fixture), *atomic.Value) {
	where := &atomic.Value{}
	where.Store("")
	return func(w *fixture) {
		w.Config.Log = slog.New(slog.DiscardHandler)
		w.WrapStore = func(s storage.Store) storage.Store { return interrupted{s, where} }
	}, where
}

func TestSearchSaysWhenItIsBehind(t *testing.T) {
	t.Parallel()
	home := stores.NewPlace(t)
	synctest.Test(t, func(t *testing.T) {
		change, where := interruptible()
		w := openFixture(t, home, change)
		w.AddAgents("arya")
		w.CreateChannel("arya", "open")
		w.SayIn("arya", "open", "word")
		began := time.Now()
		same(t, "not started", w.searchAs("arya", "word"), parley.SearchResult{Behind: true})
		same(t, "waited", time.Since(began), time.Duration(0))
		w.Start(ctx)
		defer w.Stop()
		same(t, "started", len(w.searchAs("arya", "word").Hits), 1)
		where.Store("before")
		w.SayIn("arya", "open", "word again")
		began = time.Now()
		found := w.searchAs("arya", "word")
		same(t, "interrupted", []any{len(found.Hits), found.Behind}, []any{1, true})
		same(t, "waited", time.Since(began), time.Second)
		same(t, "another need not wait", w.searchAs("user", "word").Behind, false)
		where.Store("")
		time.Sleep(3 * time.Second) // in the time of the bubble; the indexer retries by itself
		synctest.Wait()
		found = w.searchAs("arya", "word")
		same(t, "afterwards", []any{len(found.Hits), found.Behind}, []any{2, false})
	})
}

// A search that is given up does not wait for the index.
func TestSearchGivenUpDoesNotWait(t *testing.T) {
	t.Parallel()
	change, where := interruptible()
	w := newSearch(t, change)
	where.Store("before")
	w.SayIn("arya", "open", "word")
	given, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	if _, err := w.Search(given, as("arya"), parley.SearchRequest{Query: "word"}); parley.CodeOf(err) != parley.TimedOut {
		t.Errorf("got %v", err)
	}
}

// TestOwnMessageInADeletedConversation is not waited for.
func TestOwnMessageInADeletedConversation(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	w.CreateChannel("arya", "open")
	w.SayIn("arya", "open", "word")
	w.NoError(w.DeleteConversation(ctx, user, "open"))
	w.Start(ctx)
	same(t, "result", w.searchAs("arya", "word"), parley.SearchResult{})
}

// TestIndexHasNoGapAndNoRepeat interrupts the indexer anywhere, restarts the hub, and compares what is
// found with what was said.
func TestIndexHasNoGapAndNoRepeat(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		change, where := interruptible()
		w := openFixture(rt, stores.NewPlace(t), change)
		w.AddAgents("ned")
		w.CreateChannel("user", "open")
		said := 0
		for range rapid.IntRange(1, 4).Draw(rt, "starts") {
			where.Store(rapid.SampledFrom([]string{"", "before", "during", "after"}).Draw(rt, "interrupted"))
			w.Start(ctx)
			for range rapid.SampledFrom([]int{0, 1, 5, 140}).Draw(rt, "messages") {
				w.SayIn("user", "open", fmt.Sprint("word n", said))
				said++
			}
			w.Restart()
		}
		where.Store("")
		w.Start(ctx)
		w.awaitIndex()
		seen := map[string]int{}
		for r := (parley.SearchRequest{Query: "word", Limit: 100}); ; {
			found, err := w.Search(ctx, user, r)
			w.NoError(err)
			for _, hit := range found.Hits {
				seen[hit.Snippet.Text]++
			}
			if r.Cursor = found.Next; found.Next == nil {
				break
			}
		}
		for i := range said {
			if n := seen[fmt.Sprint("word n", i)]; n != 1 {
				rt.Fatalf("message %d of %d is found %d times", i, said, n)
			}
		}
		same(rt, "messages found", len(seen), said)
	})
}

// watched is a store that counts the words in each update that indexes.
type watched struct {
	storage.Store
	words chan<- int
}

func (s watched) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return s.Store.Update(ctx, func(tx storage.Tx) error { return fn(watchedTx{tx, s.words}) })
}

type watchedTx struct {
	storage.Tx
	words chan<- int
}

func (t watchedTx) Search() storage.SearchStore { return watchedSearch{t.Tx.Search(), t.words} }

type watchedSearch struct {
	storage.SearchStore
	words chan<- int
}

func (s watchedSearch) Index(from storage.IndexMark, upTo int64, docs []parley.Document) error {
	total := 0
	for _, d := range docs {
		total += len(d.Words) + len(d.Loose)
	}
	s.words <- total
	return s.SearchStore.Index(from, upTo, docs)
}

// Posts wait behind an update that indexes, so none may be long, whatever was said.
func TestLongMessagesAreIndexedInSmallUpdates(t *testing.T) {
	t.Parallel()
	words := make(chan int, 100)
	w := newHub(t, func(w *fixture) {
		w.WrapStore = func(s storage.Store) storage.Store { return watched{s, words} }
	})
	w.AddAgents("arya", "ned")
	w.CreateChannel("arya", "open")
	for i := range 6 {
		w.SayIn("arya", "open", fmt.Sprint("long", i, strings.Repeat(" word", 4000)))
	}
	w.Start(ctx)
	same(t, "found", len(w.searchSnippets("arya", "word")), 6)
	most := 0
	for len(words) > 0 {
		most = max(most, <-words)
	}
	if most > 10_000 || most < 8000 {
		t.Errorf("%d words were indexed in one update", most)
	}
}

// Of several hubs on one store, each message is indexed by one.
func TestSeveralIndexersShareTheWork(t *testing.T) {
	t.Parallel()
	w := newSearch(t)
	second, err := hub.New(ctx, w.Store, hub.Config{})
	w.NoError(err)
	second.Start(ctx)
	defer second.Stop()
	var posting sync.WaitGroup
	for i, h := range []*hub.Hub{w.Hub, second} {
		posting.Go(func() {
			for n := range 150 {
				_, err := h.Post(ctx, as([]string{"arya", "ned"}[i]), parley.Draft{Conversation: "open", Content: text(fmt.Sprint("word ", n))})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	posting.Wait()
	w.awaitIndex()
	total := 0
	for r := (parley.SearchRequest{Query: "word", Limit: 100}); ; {
		found, err := second.Search(ctx, as("ned"), r)
		w.NoError(err)
		total += len(found.Hits)
		if r.Cursor = found.Next; found.Next == nil {
			break
		}
	}
	same(t, "found", total, 300)
}

var vocabulary = strings.Fields("alpha Beta GAMMA delta-4 消息 消息格式 任务 naïve 🚀 foo_bar x.y")

// TestEveryWordFindsTheMessagesThatHaveIt compares what readers find with a plain look at what they may read.
func TestEveryWordFindsTheMessagesThatHaveIt(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := openFixture(rt, stores.NewPlace(t))
		w.Start(ctx)
		w.AddAgents("arya", "ned", "bran")
		readers := map[string][]string{"open": {"arya", "ned", "bran"}, "secret": {"arya", "ned"}, "own": {"arya"}}
		w.CreateChannel("arya", "open")
		w.CreatePrivateChannel("arya", "secret", "ned")
		w.CreateGroup("arya", "own")
		type said struct{ where, text string }
		var all []said
		for range rapid.IntRange(1, 12).Draw(rt, "messages") {
			s := said{
				rapid.SampledFrom([]string{"open", "secret", "own"}).Draw(rt, "where"),
				strings.Join(rapid.SliceOfN(rapid.SampledFrom(vocabulary), 1, 4).Draw(rt, "words"), " "),
			}
			w.SayIn("arya", s.where, s.text)
			all = append(all, s)
		}
		w.awaitIndex()
		for _, who := range []string{"arya", "ned", "bran"} {
			for _, word := range vocabulary {
				var want, got []string
				for _, s := range all {
					// No word is part of another but 消息, which is to be found in 消息格式.
					if slices.Contains(readers[s.where], who) && strings.Contains(s.text, word) {
						want = append(want, s.text)
					}
				}
				for _, hit := range w.searchAs(who, word).Hits {
					got = append(got, hit.Snippet.Text)
				}
				slices.Sort(want)
				slices.Sort(got)
				same(rt, who+" searching "+word, got, want)
			}
		}
	})
}
