package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const (
	searchGoal = 50 * time.Millisecond
	vocabulary = 20_000
	wordsEach  = 80
	rareEvery  = 50_000 // one message in so many has a rare word
)

// searches are what is searched for in the large history. The most common word is in nearly every message.
var searches = []struct{ what, agent, query string }{
	{"a rare word", parley.Owner, "needle"},
	{"a common word", parley.Owner, word(0)},
	{"two common words", parley.Owner, word(0) + " " + word(5)},
	{"a phrase of common words", parley.Owner, fmt.Sprintf("%q", word(0)+" "+word(1))},
	{"a beginning", parley.Owner, word(0)[:3] + "*"},
	{"a common word by somebody, long ago", parley.Owner, word(0) + " from:" + agentID(7) + " before:2023-11-15"},
	{"what nobody has answered", parley.Owner, "is:unanswered"},
	{"a common word, by who takes part in all of 1000 conversations", agentID(0), word(0)},
	{"a common word, by who takes part in one of them", agentID(1), word(0)},
}

// measureSearch times searches in a large history, and compares posts with and without the indexer.
func measureSearch(ctx context.Context, rounds int, length time.Duration, size int) ([]result, error) {
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	posts, err := measureIndexedPosts(ctx, dir, rounds, length)
	if err != nil {
		return nil, err
	}
	h, done, err := openSearch(ctx, filepath.Join(dir, "search"), size)
	if err != nil {
		return nil, err
	}
	results := []result{posts}
	for _, s := range searches {
		p50, p99, err := searchTimes(ctx, h, s.agent, s.query, length)
		if err != nil {
			return nil, err
		}
		results = append(results, atMost(1, result{
			what:   fmt.Sprintf("search among %d messages for %s, p99 (p50 %s), against 50 ms", size, s.what, p50.Round(10*time.Microsecond)),
			parley: p99.Round(10 * time.Microsecond).String(), baseline: searchGoal.String(), ratio: float64(p99) / float64(searchGoal),
		}))
	}
	return results, done()
}

// measureIndexedPosts compares posting to a hub that runs with posting to one that was not started, whose
// indexer rests. Each round has new ones: an indexer that catches up would take from what comes next.
func measureIndexedPosts(ctx context.Context, dir string, rounds int, length time.Duration) (result, error) {
	var perSecond [2][]float64
	for round := range rounds {
		for i, start := range []bool{true, false} {
			post, done, err := postTo(ctx, filepath.Join(dir, fmt.Sprintf("posts-%d-%t", round, start)), start)
			if err != nil {
				return result{}, err
			}
			n, err := throughput(length, posters, post)
			if err := errors.Join(err, done()); err != nil {
				return result{}, err
			}
			perSecond[i] = append(perSecond[i], n)
		}
	}
	with, without := median(perSecond[0]), median(perSecond[1])
	return atLeast(0.8, result{
		what: "durable posts, 64 posters, while they are indexed, against without", ratio: with / without,
		parley: fmt.Sprintf("%.0f/s", with), baseline: fmt.Sprintf("%.0f/s", without),
	}), nil
}

func searchTimes(ctx context.Context, h *hub.Hub, agent, query string, length time.Duration) (p50, p99 time.Duration, err error) {
	var times []time.Duration
	for end := time.Now().Add(length); time.Now().Before(end) || len(times) < 20; {
		began := time.Now()
		found, err := h.Search(ctx, hub.Caller{Agent: agent}, hub.SearchRequest{Query: query})
		if err == nil && len(found.Hits) == 0 {
			err = fmt.Errorf("%s finds nothing", query)
		}
		if err != nil {
			return 0, 0, err
		}
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	return times[len(times)/2], times[len(times)*99/100], nil
}

// openSearch fills a database with messages of many words and waits until they are indexed.
func openSearch(ctx context.Context, home string, size int) (*hub.Hub, func() error, error) {
	const conversations = 1000
	h, done, err := newHub(ctx, home, false)
	if err != nil {
		return nil, nil, err
	}
	for i := range conversations {
		n := hub.NewConversation{Name: fmt.Sprintf("channel-%d", i), Private: true}
		if i == 0 {
			n.With = []string{agentID(1)}
		}
		if _, err := h.CreateConversation(ctx, hub.Caller{Agent: agentID(0)}, n); err != nil {
			return nil, nil, err
		}
	}
	conn, err := openBare(filepath.Join(home, "parley.db"))
	if err != nil {
		return nil, nil, err
	}
	if err := errors.Join(fillTexts(conn, size, conversations), conn.Close()); err != nil {
		return nil, nil, err
	}
	h.Start(ctx)
	// A search waits a moment for its caller's own last message.
	receipt, err := h.Post(ctx, hub.Caller{Agent: agentID(0)}, parley.Draft{Conversation: "channel-0", Content: parley.Content{Text: "last"}})
	for behind := true; behind && err == nil; {
		var found hub.SearchResult
		found, err = h.Search(ctx, hub.Caller{Agent: receipt.Message.From}, hub.SearchRequest{Query: "last"})
		behind = found.Behind
	}
	return h, done, err
}

// fillTexts spreads messages over conversations and over a year. Every tenth was delivered to somebody.
func fillTexts(conn *sqlite.Conn, size, conversations int) (err error) {
	defer sqlitex.Save(conn)(&err)
	message, err := conn.Prepare(`INSERT INTO messages (seq, id, conv, sender, type, priority, created_at, requires_ack, hops, source, text, checksum)
		VALUES (?1, unhex(printf('%032x', ?1)), ?2, ?3, 'chat', 5, ?4, 0, 1, 'api', ?5, zeroblob(32))`)
	if err != nil {
		return err
	}
	delivery, err := conn.Prepare(`INSERT INTO deliveries (message, agent, state, waking, pair_seq, attempt, accepted_at) VALUES (?1, 3, 'accepted', 1, ?1, 0, 0)`)
	if err != nil {
		return err
	}
	texts := &bareLoop{statements: []*sqlite.Stmt{message, delivery}}
	source := rand.New(rand.NewPCG(1, 2))
	common := rand.NewZipf(source, 1.1, 4, vocabulary-1)
	const year = 365 * 24 * 3600 * 1000
	for i := int64(1); i <= int64(size); i++ {
		at := 1_700_000_000_000 + year*i/int64(size)
		if err := texts.exec(0, i, 1+i%int64(conversations), 3+i%posters, at, someText(common, i)); err != nil {
			return err
		}
		if i%10 == 0 {
			if err := texts.exec(1, i); err != nil {
				return err
			}
		}
	}
	return sqlitex.ExecuteTransient(conn, "UPDATE counters SET seq = ?", &sqlitex.ExecOptions{Args: []any{size}})
}

func someText(common *rand.Zipf, i int64) string {
	var b strings.Builder
	for range wordsEach {
		b.WriteString(word(int(common.Uint64())) + " ")
	}
	if i%rareEvery == rareEvery/2 {
		b.WriteString("needle")
	}
	return b.String()
}

// word is one of the vocabulary: its number in syllables.
func word(n int) string {
	const vowels, consonants = "aeiou", "bdfgklmnprst"
	var b strings.Builder
	for n += 12 * 5; n > 0; n /= 60 {
		b.WriteByte(consonants[n%12])
		b.WriteByte(vowels[n/12%5])
	}
	return b.String()
}
