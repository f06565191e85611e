package main

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/store/postgres"
)

const (
	vocabulary       = 20_000
	wordsEach        = 80
	rareMessages     = 20    // number of messages with a rare word
	maxConversations = 1_000 // conversations of a large library
	firstAt          = 1_700_000_000_000
	yearInMillis     = 365 * 24 * 3600 * 1000
	firstAgentRow    = 3 // the rows before are the owner's and the hub's own
)

// library is a hub with a history. One agent has private conversations, which are filled evenly with indexed messages.
type library struct {
	name          string // of the database
	home          string // of SQLite; else ""
	size          int
	hub           *hub.Hub
	conversations []string
	close         func() error
}

// libraryDatabase is a database in which a library is made.
type libraryDatabase struct {
	name string
	home string
	open func(ctx context.Context) (*hub.Hub, func() error, error)
	fill func(ctx context.Context, l library) error
}

// newLibrary fills a database with messages and waits until all of them are indexed.
func newLibrary(ctx context.Context, s libraryDatabase, size, conversations int) (l *library, err error) {
	h, done, err := s.open(ctx)
	if err != nil {
		return nil, err
	}
	l = &library{name: s.name, home: s.home, size: size, hub: h, close: done}
	defer func() {
		if err != nil {
			err = errors.Join(err, done())
		}
	}()
	for i := range conversations {
		n := parley.NewConversation{Name: fmt.Sprintf("channel-%d", i), Private: true}
		if i == 0 {
			n.With = []string{agentID(1)}
		}
		view, err := h.CreateConversation(ctx, hub.Caller{Agent: agentID(0)}, n)
		if err != nil {
			return nil, err
		}
		l.conversations = append(l.conversations, view.ID)
	}
	if err := s.fill(ctx, *l); err != nil {
		return nil, err
	}
	h.Start(ctx)
	receipt, err := h.Post(ctx, hub.Caller{Agent: agentID(0)}, parley.Draft{Conversation: "channel-0", Content: parley.Content{Text: "last"}})
	if err != nil {
		return nil, err
	}
	return l, indexed(ctx, h, receipt.Message.From)
}

// sqliteLibrary returns the database of a new home.
func sqliteLibrary(home string) libraryDatabase {
	return libraryDatabase{
		name: "SQLite", home: home,
		open: func(ctx context.Context) (*hub.Hub, func() error, error) { return newHub(ctx, home, false) },
		fill: func(_ context.Context, l library) error {
			conn, err := openBare(filepath.Join(home, "parley.db"))
			if err != nil {
				return err
			}
			return errors.Join(fillTexts(conn, l), conn.Close())
		},
	}
}

// postgresLibrary returns a new database of a server.
func postgresLibrary(server *lazyServer) libraryDatabase {
	var url string
	return libraryDatabase{
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
			return opener{"PostgreSQL", func(context.Context) (database, func() error, error) { return db, db.Close, nil }}.unstarted(ctx, posters)
		},
		fill: func(ctx context.Context, l library) error {
			conn, err := pgx.Connect(ctx, url)
			if err != nil {
				return err
			}
			return errors.Join(copyTexts(ctx, conn, l), conn.Close(ctx))
		},
	}
}

// sharedLibrary is the large library on SQLite. Several measurements share it, because indexing it takes minutes.
type sharedLibrary struct {
	size    int
	dir     string
	library *library
}

// open returns the library. The first call makes it.
func (s *sharedLibrary) open(ctx context.Context) (l *library, err error) {
	if s.library != nil {
		return s.library, nil
	}
	if s.dir, err = os.MkdirTemp("", "parley-bench-"); err != nil {
		return nil, err
	}
	s.library, err = newLibrary(ctx, sqliteLibrary(filepath.Join(s.dir, "large")), s.size, conversationsFor(s.size))
	return s.library, err
}

// closedHome closes the library and returns its home, so that another process can open it. This object cannot open it again.
func (s *sharedLibrary) closedHome(ctx context.Context) (home string, err error) {
	l, err := s.open(ctx)
	if err != nil {
		return "", err
	}
	done := l.close
	l.close = func() error { return nil }
	return l.home, done()
}

// remove closes the library and removes its files.
func (s *sharedLibrary) remove() error {
	var err error
	if s.library != nil {
		err = s.library.close()
	}
	if s.dir != "" {
		err = errors.Join(err, os.RemoveAll(s.dir))
	}
	return err
}

// indexed waits until the last message of an agent and all messages before it are indexed. A search waits a moment for that, and
// reports when it was not long enough.
func indexed(ctx context.Context, h *hub.Hub, agent string) error {
	for {
		found, err := h.Search(ctx, hub.Caller{Agent: agent}, parley.SearchRequest{Query: "last"})
		if err != nil || !found.Behind {
			return err
		}
	}
}

// fillTexts inserts the messages of a library. Every tenth message has a delivery.
func fillTexts(conn *sqlite.Conn, l library) (err error) {
	defer sqlitex.Save(conn)(&err)
	message, err := conn.Prepare(`INSERT INTO messages (seq, id, conv, sender, type, priority, created_at, requires_ack, hops, source, text, checksum)
		VALUES (?, ?, ?, ?, 'chat', 5, ?, 0, 1, 'api', ?, ?)`)
	if err != nil {
		return err
	}
	delivery, err := conn.Prepare(`INSERT INTO deliveries (message, agent, state, waking, purpose, rank, place, pair_seq, attempt, accepted_at, marks)
		VALUES (?1, 3, 'acked', 1, '', 5, ?1, ?1, 0, 0, 0)`)
	if err != nil {
		return err
	}
	statements := &bareLoop{statements: []*sqlite.Stmt{message, delivery}}
	for row := range l.rows() {
		if err := statements.exec(0, row.seq, row.id[:], row.conv, row.sender, row.at, row.text, row.checksum); err != nil {
			return err
		}
		if row.seq%10 == 0 {
			if err := statements.exec(1, row.seq); err != nil {
				return err
			}
		}
	}
	return sqlitex.ExecuteTransient(conn, "UPDATE counters SET seq = ?", &sqlitex.ExecOptions{Args: []any{l.size}})
}

// copyTexts does on PostgreSQL what fillTexts does on SQLite.
func copyTexts(ctx context.Context, conn *pgx.Conn, l library) error {
	next, stop := iter.Pull(l.rows())
	defer stop()
	_, err := conn.CopyFrom(ctx, pgx.Identifier{"messages"},
		[]string{"seq", "id", "conv", "sender", "type", "priority", "created_at", "requires_ack", "hops", "source", "text", "checksum"},
		pgx.CopyFromFunc(func() ([]any, error) {
			row, more := next()
			if !more {
				return nil, nil
			}
			return []any{row.seq, row.id[:], row.conv, row.sender, "chat", 5, row.at, 0, 1, "api", row.text, row.checksum}, nil
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

// textRow is a message of a library as the database has it.
type textRow struct {
	seq, at, conv, sender int64
	id                    uuid.UUID
	text                  string
	checksum              []byte
}

// rows yields the messages of a library, spread over its conversations, its senders and a year.
func (l library) rows() iter.Seq[textRow] {
	return func(yield func(textRow) bool) {
		common := rand.NewZipf(rand.New(rand.NewPCG(1, 2)), 1.1, 4, vocabulary-1)
		rareEvery := int64(max(l.size/rareMessages, 1))
		for i := int64(1); i <= int64(l.size); i++ {
			row := textRow{
				seq: i, at: firstAt + yearInMillis*i/int64(l.size), conv: 1 + i%int64(len(l.conversations)), sender: firstAgentRow + i%posters,
				text: libraryText(common, i%rareEvery == rareEvery/2),
			}
			binary.BigEndian.PutUint64(row.id[8:], uint64(i))
			row.checksum = l.seal(row)
			if !yield(row) {
				return
			}
		}
	}
}

// seal returns the checksum of a row. The hub compares it with the row, and serves no row with another checksum.
func (l library) seal(row textRow) []byte {
	m := parley.Message{
		ID: row.id.String(), Seq: row.seq, TraceID: row.id.String(), Conversation: l.conversations[row.conv-1],
		From: agentID(int(row.sender - firstAgentRow)), Type: parley.TypeChat, Priority: parley.DefaultPriority,
		CreatedAt: time.UnixMilli(row.at), Source: "api", Hops: 1, Content: parley.Content{Text: row.text},
	}
	sum, err := hex.DecodeString(m.Seal(m.BodyDigest()))
	if err != nil {
		panic("a checksum is hexadecimal: " + err.Error())
	}
	return sum
}

func libraryText(common *rand.Zipf, rare bool) string {
	var b strings.Builder
	for range wordsEach {
		b.WriteString(word(int(common.Uint64())) + " ")
	}
	if rare {
		b.WriteString("needle")
	}
	return b.String()
}

// word returns the nth word of the vocabulary: the number n written in syllables.
func word(n int) string {
	const vowels, consonants = "aeiou", "bdfgklmnprst"
	var b strings.Builder
	for n += 12 * 5; n > 0; n /= 60 {
		b.WriteByte(consonants[n%12])
		b.WriteByte(vowels[n/12%5])
	}
	return b.String()
}
