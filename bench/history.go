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

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const (
	pageSize        = 20
	smallSize       = 1_000 // in the small history
	minMessagesEach = 2 * pageSize
)

// measureHistory compares fetching the last messages of a conversation through the hub with the
// bare query, in a large and in a small database.
func measureHistory(ctx context.Context, rounds int, length time.Duration, large *library) (results []result, err error) {
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	small, err := newLibrary(ctx, sqliteLibrary(filepath.Join(dir, "small")), smallSize, conversationsFor(smallSize))
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, small.close()) }()
	var times [4][]time.Duration
	var fetches [4]poster
	for i, l := range []*library{large, small} {
		query, closeQuery, err := l.bareQuery()
		if err != nil {
			return nil, err
		}
		defer func() { _ = closeQuery() }()
		fetches[2*i], fetches[2*i+1] = l.fetch(ctx), query
	}
	for range rounds {
		for i, fetch := range fetches {
			took, err := latency(length, fetch)
			if err != nil {
				return nil, err
			}
			times[i] = append(times[i], took)
		}
	}
	a, b, c, d := median(times[0]), median(times[1]), median(times[2]), median(times[3])
	what := fmt.Sprintf("last %d of a conversation among %d messages, p50, against ", pageSize, large.size)
	among := fmt.Sprintf("among %d", smallSize)
	return []result{
		atMost(1.5, result{What: what + "the bare query", Parley: a.String(), Baseline: b.String(), Ratio: float64(a) / float64(b)}),
		atMost(1.5, result{What: what + among, Parley: a.String(), Baseline: c.String(), Ratio: float64(a) / float64(c)}),
		{
			What: "for comparison: the bare query itself, against " + among, Goal: "–", Met: true,
			Parley: b.String(), Baseline: d.String(), Ratio: float64(b) / float64(d),
		},
	}, nil
}

// conversationsFor returns the number of conversations of a library. Each conversation has more messages than one page.
func conversationsFor(size int) int { return max(min(maxConversations, size/minMessagesEach), 1) }

// fetch fetches the last messages of some conversation through the hub.
func (l *library) fetch(ctx context.Context) poster {
	return func(int, int) error {
		list, err := l.hub.History(ctx, hub.Caller{Agent: agentID(0)}, l.conversations[rand.IntN(len(l.conversations))], parley.Page{Limit: pageSize})
		if err == nil && len(list) != pageSize {
			err = fmt.Errorf("got %d messages", len(list))
		}
		return err
	}
}

// bareQuery fetches the same rows by a query on the database, without a hub.
func (l *library) bareQuery() (poster, func() error, error) {
	conn, err := openBare(filepath.Join(l.home, "parley.db"))
	if err != nil {
		return nil, nil, err
	}
	last, err := conn.Prepare(bareHistory)
	if err != nil {
		return nil, nil, errors.Join(err, conn.Close())
	}
	return func(int, int) error { return queryLast(last, int64(1+rand.IntN(len(l.conversations)))) }, conn.Close, nil
}

const bareHistory = `SELECT seq, id, conv, sender, recipient, reply_to, type, priority, word, created_at, expires_at,
	deadline, requires_ack, hops, source, trace, task, mentions, text, code, artifacts, payload, metadata, key, checksum
	FROM messages WHERE conv = ? ORDER BY seq DESC LIMIT 20`

// bareMessage holds the columns of one row.
type bareMessage struct {
	numbers [10]int64
	texts   [12]string
	blobs   [3][]byte
}

// queryLast reads every column of every row, as every reader of messages must.
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
	if len(list) != pageSize {
		return fmt.Errorf("got %d messages", len(list))
	}
	return nil
}
