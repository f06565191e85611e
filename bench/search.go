package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/store/postgres"
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

// library is a store with a large history to search in.
type library struct {
	name string
	open func(ctx context.Context) (*hub.Hub, func() error, error)
	fill func(ctx context.Context, size, conversations int) error
}

// measureSearch times searches in a large history.
func measureSearch(ctx context.Context, length time.Duration, size int, l library) ([]result, error) {
	h, done, err := openSearch(ctx, l, size)
	if err != nil {
		return nil, err
	}
	var results []result
	for _, s := range searches {
		p50, p99, err := searchTimes(ctx, h, s.agent, s.query, length)
		if err != nil {
			return nil, err
		}
		results = append(results, atMost(1, result{
			what:   fmt.Sprintf("%s: search among %d messages for %s, p99 (p50 %s), against 50 ms", l.name, size, s.what, p50.Round(10*time.Microsecond)),
			parley: p99.Round(10 * time.Microsecond).String(), baseline: searchGoal.String(), ratio: float64(p99) / float64(searchGoal),
		}))
	}
	return results, done()
}

func sqliteLibrary() library {
	var home string
	return library{
		name: "SQLite",
		open: func(ctx context.Context) (*hub.Hub, func() error, error) {
			var err error
			if home, err = os.MkdirTemp("", "parley-bench-"); err != nil {
				return nil, nil, err
			}
			h, done, err := newHub(ctx, home, false)
			return h, func() error { return errors.Join(done(), os.RemoveAll(home)) }, err
		},
		fill: func(_ context.Context, size, conversations int) error {
			conn, err := openBare(filepath.Join(home, "parley.db"))
			if err != nil {
				return err
			}
			return errors.Join(fillTexts(conn, size, conversations), conn.Close())
		},
	}
}

func postgresLibrary(server *lazyServer) library {
	var url string
	return library{
		name: "PostgreSQL",
		open: func(ctx context.Context) (*hub.Hub, func() error, error) {
			var err error
			if url, err = server.create(ctx); err != nil {
				return nil, nil, err
			}
			db, err := postgres.Open(ctx, url)
			if err != nil {
				return nil, nil, err
			}
			return opener{"PostgreSQL", func(context.Context) (database, func() error, error) { return db, db.Close, nil }}.idle(ctx, posters)
		},
		fill: func(ctx context.Context, size, conversations int) error {
			conn, err := pgx.Connect(ctx, url)
			if err != nil {
				return err
			}
			return errors.Join(copyTexts(ctx, conn, size, conversations), conn.Close(ctx))
		},
	}
}

// measureIndexedPosts compares posting to a hub that runs with posting to one that was not started, whose
// indexer rests. Each round has new ones: an indexer that catches up would take from what comes next.
func measureIndexedPosts(ctx context.Context, rounds int, length time.Duration) ([]result, error) {
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	var perSecond [2][]float64
	for round := range rounds {
		for i, start := range []bool{true, false} {
			post, done, err := postTo(ctx, filepath.Join(dir, fmt.Sprintf("posts-%d-%t", round, start)), start)
			if err != nil {
				return nil, err
			}
			n, err := throughput(length, posters, post)
			if err := errors.Join(err, done()); err != nil {
				return nil, err
			}
			perSecond[i] = append(perSecond[i], n)
		}
	}
	with, without := median(perSecond[0]), median(perSecond[1])
	return []result{atLeast(0.8, result{
		what: "durable posts, 64 posters, while they are indexed, against without", ratio: with / without,
		parley: fmt.Sprintf("%.0f/s", with), baseline: fmt.Sprintf("%.0f/s", without),
	})}, nil
}

func searchTimes(ctx context.Context, h *hub.Hub, agent, query string, length time.Duration) (p50, p99 time.Duration, err error) {
	var times []time.Duration
	for end := time.Now().Add(length); time.Now().Before(end) || len(times) < 20; {
		began := time.Now()
		found, err := h.Search(ctx, hub.Caller{Agent: agent}, parley.SearchRequest{Query: query})
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
func openSearch(ctx context.Context, l library, size int) (*hub.Hub, func() error, error) {
	const conversations = 1000
	h, done, err := l.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	for i := range conversations {
		n := parley.NewConversation{Name: fmt.Sprintf("channel-%d", i), Private: true}
		if i == 0 {
			n.With = []string{agentID(1)}
		}
		if _, err := h.CreateConversation(ctx, hub.Caller{Agent: agentID(0)}, n); err != nil {
			return nil, nil, err
		}
	}
	if err := l.fill(ctx, size, conversations); err != nil {
		return nil, nil, err
	}
	h.Start(ctx)
	receipt, err := h.Post(ctx, hub.Caller{Agent: agentID(0)}, parley.Draft{Conversation: "channel-0", Content: parley.Content{Text: "last"}})
	if err != nil {
		return nil, nil, err
	}
	return h, done, indexed(ctx, h, receipt.Message.From)
}

// indexed waits until the last message of an agent is indexed, and with it all before: a search waits a
// moment for that, and says if it was not long enough.
func indexed(ctx context.Context, h *hub.Hub, agent string) error {
	for {
		found, err := h.Search(ctx, hub.Caller{Agent: agent}, parley.SearchRequest{Query: "last"})
		if err != nil || !found.Behind {
			return err
		}
	}
}

// fillTexts spreads messages over conversations and over a year. Every tenth was delivered to somebody.
func fillTexts(conn *sqlite.Conn, size, conversations int) (err error) {
	defer sqlitex.Save(conn)(&err)
	message, err := conn.Prepare(`INSERT INTO messages (seq, id, conv, sender, type, priority, created_at, requires_ack, hops, source, text, checksum)
		VALUES (?1, unhex(printf('%032x', ?1)), ?2, ?3, 'chat', 5, ?4, 0, 1, 'api', ?5, zeroblob(32))`)
	if err != nil {
		return err
	}
	delivery, err := conn.Prepare(`INSERT INTO deliveries (message, agent, state, waking, purpose, rank, place, pair_seq, attempt, accepted_at, marks)
		VALUES (?1, 3, 'acked', 1, '', 5, ?1, ?1, 0, 0, 0)`)
	if err != nil {
		return err
	}
	statements := &bareLoop{statements: []*sqlite.Stmt{message, delivery}}
	for row := range texts(size) {
		if err := statements.exec(0, row.seq, 1+row.seq%int64(conversations), 3+row.seq%posters, row.at, row.text); err != nil {
			return err
		}
		if row.seq%10 == 0 {
			if err := statements.exec(1, row.seq); err != nil {
				return err
			}
		}
	}
	return sqlitex.ExecuteTransient(conn, "UPDATE counters SET seq = ?", &sqlitex.ExecOptions{Args: []any{size}})
}

// copyTexts is fillTexts for PostgreSQL.
func copyTexts(ctx context.Context, conn *pgx.Conn, size, conversations int) error {
	next, stop := iter.Pull(rows(size, int64(conversations)))
	defer stop()
	_, err := conn.CopyFrom(ctx, pgx.Identifier{"messages"},
		[]string{"seq", "id", "conv", "sender", "type", "priority", "created_at", "requires_ack", "hops", "source", "text", "checksum"},
		pgx.CopyFromFunc(func() ([]any, error) {
			row, _ := next()
			return row, nil
		}))
	if err != nil {
		return err
	}
	for _, statement := range []string{
		`INSERT INTO deliveries (message, agent, state, waking, purpose, rank, place, pair_seq, attempt, accepted_at, marks)
			SELECT seq, 3, 'acked', 1, '', 5, seq, seq, 0, 0, 0 FROM messages WHERE seq % 10 = 0`,
		"UPDATE counters SET seq = (SELECT max(seq) FROM messages)",
		"ANALYZE",
	} {
		if _, err := conn.Exec(ctx, statement); err != nil {
			return err
		}
	}
	return nil
}

func rows(size int, conversations int64) iter.Seq[[]any] {
	return func(yield func([]any) bool) {
		for r := range texts(size) {
			id := make([]byte, 16)
			binary.BigEndian.PutUint64(id[8:], uint64(r.seq))
			row := []any{r.seq, id, 1 + r.seq%conversations, 3 + r.seq%posters, "chat", 5, r.at, 0, 1, "api", r.text, make([]byte, 32)}
			if !yield(row) {
				return
			}
		}
	}
}

type textRow struct {
	seq, at int64
	text    string
}

// texts are messages over a year.
func texts(size int) iter.Seq[textRow] {
	return func(yield func(textRow) bool) {
		common := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 4, vocabulary-1)
		const year = 365 * 24 * 3600 * 1000
		for i := int64(1); i <= int64(size); i++ {
			if !yield(textRow{i, 1_700_000_000_000 + year*i/int64(size), someText(common, i)}) {
				return
			}
		}
	}
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
