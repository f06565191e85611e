package main

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const lastOnes = 20

// measureHistory compares fetching the last messages of a conversation through the hub with the
// bare query, in a large and in a small database.
func measureHistory(ctx context.Context, rounds int, length time.Duration, size int) ([]result, error) {
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	large, err := openHistory(ctx, filepath.Join(dir, "large"), size, 1000)
	if err != nil {
		return nil, err
	}
	small, err := openHistory(ctx, filepath.Join(dir, "small"), 1000, 10)
	if err != nil {
		return nil, err
	}
	var whole, bare, few, fewBare []time.Duration
	for range rounds {
		a, err := latency(length, large.fetch)
		if err != nil {
			return nil, err
		}
		b, err := latency(length, large.query)
		if err != nil {
			return nil, err
		}
		c, err := latency(length, small.fetch)
		if err != nil {
			return nil, err
		}
		d, err := latency(length, small.query)
		if err != nil {
			return nil, err
		}
		whole, bare, few, fewBare = append(whole, a), append(bare, b), append(few, c), append(fewBare, d)
	}
	a, b, c, d := median(whole), median(bare), median(few), median(fewBare)
	what := fmt.Sprintf("last %d of a conversation among %d messages, p50, against ", lastOnes, size)
	return []result{
		atMost(1.5, result{what: what + "the bare query", parley: a.String(), baseline: b.String(), ratio: float64(a) / float64(b)}),
		atMost(1.5, result{what: what + "among 1,000", parley: a.String(), baseline: c.String(), ratio: float64(a) / float64(c)}),
		{
			what: "for comparison: the bare query itself, against among 1,000", goal: "–", met: true,
			parley: b.String(), baseline: d.String(), ratio: float64(b) / float64(d),
		},
	}, errors.Join(large.close(), small.close())
}

type history struct {
	fetch, query poster
	close        func() error
}

// openHistory fills a database with messages spread evenly over conversations.
func openHistory(ctx context.Context, home string, size, conversations int) (history, error) {
	h, done, err := newHub(ctx, home, true)
	if err != nil {
		return history{}, err
	}
	caller := hub.Caller{Agent: agentID(0)}
	ids := make([]string, conversations)
	for i := range ids {
		view, err := h.CreateConversation(ctx, caller, parley.NewConversation{Name: fmt.Sprintf("channel-%d", i), Private: true})
		if err != nil {
			return history{}, err
		}
		ids[i] = view.ID
	}
	conn, err := openBare(filepath.Join(home, "parley.db"))
	if err != nil {
		return history{}, err
	}
	if err := fill(conn, size, conversations); err != nil {
		return history{}, err
	}
	last, err := conn.Prepare(bareHistory)
	if err != nil {
		return history{}, err
	}
	return history{
		fetch: func(int, int) error {
			list, err := h.History(ctx, caller, ids[rand.IntN(conversations)], parley.Page{Limit: lastOnes})
			if err == nil && len(list) != lastOnes {
				err = fmt.Errorf("got %d messages", len(list))
			}
			return err
		},
		query: func(int, int) error { return queryLast(last, int64(1+rand.IntN(conversations))) },
		close: func() error { return errors.Join(conn.Close(), done()) },
	}, nil
}

const bareHistory = `SELECT seq, id, conv, sender, recipient, reply_to, type, priority, word, created_at, expires_at,
	deadline, requires_ack, hops, source, trace, task, mentions, text, code, artifacts, payload, metadata, key, checksum
	FROM messages WHERE conv = ? ORDER BY seq DESC LIMIT 20`

// bareMessage is what the rows hold, as the database has it.
type bareMessage struct {
	numbers [10]int64
	texts   [12]string
	blobs   [3][]byte
}

// queryLast reads every column of every row, as anybody who wants the messages must.
func queryLast(last *sqlite.Stmt, conv int64) error {
	if err := last.Reset(); err != nil {
		return err
	}
	last.BindInt64(1, conv)
	var list []bareMessage
	for {
		more, err := last.Step()
		if err != nil {
			return err
		}
		if !more {
			break
		}
		var m bareMessage
		numbers, texts, blobs := 0, 0, 0
		for i := range last.ColumnCount() {
			switch last.ColumnType(i) {
			case sqlite.TypeInteger:
				m.numbers[numbers] = last.ColumnInt64(i)
				numbers++
			case sqlite.TypeText:
				m.texts[texts] = last.ColumnText(i)
				texts++
			case sqlite.TypeBlob:
				m.blobs[blobs] = make([]byte, last.ColumnLen(i))
				last.ColumnBytes(i, m.blobs[blobs])
				blobs++
			}
		}
		list = append(list, m)
	}
	if len(list) != lastOnes {
		return fmt.Errorf("got %d messages", len(list))
	}
	return nil
}

func fill(conn *sqlite.Conn, size, conversations int) error {
	err := sqlitex.ExecuteTransient(conn, `WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?)
		INSERT INTO messages (seq, id, conv, sender, type, priority, created_at, requires_ack, hops, source, text, checksum)
		SELECT i, unhex(printf('%032x', i)), 1 + i % ?, 3 + i % ?, 'chat', 5, 1700000000000 + i, 0, 1, 'api', ?, zeroblob(32) FROM n`,
		&sqlitex.ExecOptions{Args: []any{size, conversations, posters, body}})
	if err != nil {
		return err
	}
	return sqlitex.ExecuteTransient(conn, "UPDATE counters SET seq = ?", &sqlitex.ExecOptions{Args: []any{size}})
}
