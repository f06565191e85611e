package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	home "github.com/parley-hub/parley/internal/store/sqlite"
)

const (
	posters  = 64
	partners = 16 // each poster writes to this many others, one DM each
)

var body = strings.Repeat("All work and no play. ", 24)[:512]

// poster posts once and returns when the message is durable.
type poster func(worker, n int) error

// measurePosts compares durable posts through the hub with a bare loop, which writes the same rows to the same schema in groups.
// It also compares a single poster with two bare commits: one of the same rows, and one of a single row.
func measurePosts(ctx context.Context, rounds int, length time.Duration) ([]result, error) {
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	hubPost, closeHub, err := hubPoster(ctx, filepath.Join(dir, "hub"))
	if err != nil {
		return nil, err
	}
	aloneHubPost, closeAloneHub, err := hubPoster(ctx, filepath.Join(dir, "alone"))
	if err != nil {
		return nil, err
	}
	groupedPost, closeGrouped, err := barePoster(ctx, filepath.Join(dir, "bare"), true)
	if err != nil {
		return nil, err
	}
	singlePost, closeSingle, err := barePoster(ctx, filepath.Join(dir, "same"), false)
	if err != nil {
		return nil, err
	}
	oneRowCommit, closeOneRow, err := bareCommit(filepath.Join(dir, "single.db"))
	if err != nil {
		return nil, err
	}
	var hubRates, groupedRates []float64
	var hubTimes, singleTimes, oneRowTimes []time.Duration
	for range rounds {
		a, err := throughput(length, posters, hubPost)
		if err != nil {
			return nil, err
		}
		b, err := throughput(length, posters, groupedPost)
		if err != nil {
			return nil, err
		}
		c, err := latency(length, aloneHubPost)
		if err != nil {
			return nil, err
		}
		d, err := latency(length, singlePost)
		if err != nil {
			return nil, err
		}
		e, err := latency(length, oneRowCommit)
		if err != nil {
			return nil, err
		}
		hubRates, groupedRates = append(hubRates, a), append(groupedRates, b)
		hubTimes, singleTimes, oneRowTimes = append(hubTimes, c), append(singleTimes, d), append(oneRowTimes, e)
	}
	a, b, c, d, e := median(hubRates), median(groupedRates), median(hubTimes), median(singleTimes), median(oneRowTimes)
	return []result{
		atLeast(0.7, result{
			What: "durable posts, 64 posters, against a bare loop that group-commits the same rows", Ratio: a / b,
			Parley: fmt.Sprintf("%.0f/s", a), Baseline: fmt.Sprintf("%.0f/s", b),
		}),
		atMost(2, result{
			What: "one poster, p50, against one bare commit of the same rows with fsync", Ratio: float64(c) / float64(d),
			Parley: c.Round(time.Microsecond).String(), Baseline: d.Round(time.Microsecond).String(),
		}),
		atMost(2, result{
			What: "the same against one bare commit of a single row", Ratio: float64(c) / float64(e),
			Parley: c.Round(time.Microsecond).String(), Baseline: e.Round(time.Microsecond).String(),
		}),
	}, errors.Join(closeHub(), closeAloneHub(), closeGrouped(), closeSingle(), closeOneRow())
}

func throughput(length time.Duration, workers int, post poster) (perSecond float64, err error) {
	var (
		done  atomic.Int64
		group sync.WaitGroup
		fail  atomic.Pointer[error]
		stop  atomic.Bool
	)
	began := time.Now()
	for w := range workers {
		group.Go(func() {
			for n := 0; !stop.Load(); n++ {
				if err := post(w, n); err != nil {
					fail.Store(&err)
					return
				}
				done.Add(1)
			}
		})
	}
	time.Sleep(length)
	stop.Store(true)
	group.Wait()
	if failed := fail.Load(); failed != nil {
		return 0, *failed
	}
	return float64(done.Load()) / time.Since(began).Seconds(), nil
}

func latency(length time.Duration, post poster) (p50 time.Duration, err error) {
	var times []time.Duration
	for end := time.Now().Add(length / 2); time.Now().Before(end); {
		began := time.Now()
		if err := post(0, len(times)); err != nil {
			return 0, err
		}
		times = append(times, time.Since(began))
	}
	return median(times), nil
}

func agentID(n int) string { return fmt.Sprintf("agent-%d", n%posters) }

func newHub(ctx context.Context, dir string, start bool) (*hub.Hub, func() error, error) {
	db, err := home.Open(ctx, dir)
	if err != nil {
		return nil, nil, err
	}
	h, err := hub.New(ctx, db, hub.Config{Rate: hub.Rate{PerSecond: -1}})
	if err != nil {
		return nil, nil, err
	}
	if start {
		h.Start(ctx)
	}
	for n := range posters {
		if _, err := h.AddAgent(ctx, hub.Caller{Agent: parley.Owner}, parley.NewAgent{
			ID: agentID(n), Profile: parley.Profile{InboxOverflow: parley.OverflowUnbounded},
		}); err != nil {
			return nil, nil, err
		}
	}
	return h, func() error {
		h.Stop()
		return db.Close()
	}, nil
}

// hubPoster posts to a new, started hub.
func hubPoster(ctx context.Context, home string) (poster, func() error, error) {
	return newHubPoster(ctx, home, true)
}

// newHubPoster posts to a new hub, which is started or not.
func newHubPoster(ctx context.Context, home string, start bool) (poster, func() error, error) {
	h, done, err := newHub(ctx, home, start)
	if err != nil {
		return nil, nil, err
	}
	post, err := dmPoster(ctx, h)
	return post, done, err
}

// dmPoster posts to DMs. It opens the DMs first, so that the measurement includes only the posts.
func dmPoster(ctx context.Context, h *hub.Hub) (poster, error) {
	var dms [posters][partners]string
	for w := range posters {
		for p := range partners {
			receipt, err := h.Post(ctx, hub.Caller{Agent: agentID(w)}, parley.Draft{
				Direct: []string{agentID(w + p + 1)}, Content: parley.Content{Text: body},
			})
			if err != nil {
				return nil, err
			}
			dms[w][p] = receipt.Message.Conversation
		}
	}
	return func(worker, n int) error {
		_, err := h.Post(ctx, hub.Caller{Agent: agentID(worker), Source: "api"}, parley.Draft{
			Conversation: dms[worker][n%partners], Content: parley.Content{Text: body},
		})
		return err
	}, nil
}

// barePoster is the baseline: it inserts only the rows of a post, without checks and reads. It commits posts in groups, or each
// in a transaction of its own.
func barePoster(ctx context.Context, home string, grouped bool) (poster, func() error, error) {
	// The hub makes the schema, the agents and the conversations.
	_, done, err := hubPoster(ctx, home)
	if err != nil {
		return nil, nil, err
	}
	if err := done(); err != nil {
		return nil, nil, err
	}
	conn, err := openBare(filepath.Join(home, "parley.db"))
	if err != nil {
		return nil, nil, err
	}
	loop := &bareLoop{conn: conn, queue: make(chan bareRow, 256)}
	if err := loop.prepare(); err != nil {
		return nil, nil, err
	}
	group := sync.WaitGroup{}
	group.Go(loop.run)
	conversations := int(loop.conversations)
	post := func(worker, n int) error {
		row := bareRow{conv: int64(1 + (worker*partners+n%partners)%conversations), sender: int64(3 + worker), done: make(chan error, 1)}
		row.id = uuid.Must(uuid.NewV7())
		if !grouped {
			return loop.write([]bareRow{row})
		}
		loop.queue <- row
		return <-row.done
	}
	return post, func() error {
		close(loop.queue)
		group.Wait()
		return conn.Close()
	}, nil
}

// openBare opens a database with the settings of the store, but without the store.
func openBare(path string) (*sqlite.Conn, error) {
	conn, err := sqlite.OpenConn(path, sqlite.OpenReadWrite|sqlite.OpenCreate)
	if err != nil {
		return nil, err
	}
	for _, pragma := range []string{
		"journal_mode=WAL", "synchronous=FULL", "foreign_keys=1", "temp_store=memory", "cache_size=-65536",
	} {
		if err := sqlitex.ExecuteTransient(conn, "PRAGMA "+pragma, nil); err != nil {
			return nil, err
		}
	}
	return conn, nil
}

type bareRow struct {
	id           uuid.UUID
	conv, sender int64
	done         chan error
}

type bareLoop struct {
	conn          *sqlite.Conn
	queue         chan bareRow
	statements    []*sqlite.Stmt
	seq           int64
	conversations int64
}

// bareSQL holds the statements of one post: begin, commit, and one statement for each row.
var bareSQL = []string{
	"BEGIN IMMEDIATE",
	"COMMIT",
	`INSERT INTO messages (seq, id, conv, sender, type, priority, created_at, requires_ack, hops, source, text, checksum)
		VALUES (?, ?, ?, ?, 'chat', 5, ?, 0, 1, 'api', ?, ?)`,
	"UPDATE conversations SET messages = messages + 1, last_seq = ?2, updated_at = ?3 WHERE num = ?1",
	`INSERT INTO pairs (sender, recipient, count) VALUES (?, ?, 1)
		ON CONFLICT (sender, recipient) DO UPDATE SET count = pairs.count + 1`,
	`INSERT INTO deliveries (message, agent, state, waking, purpose, rank, place, pair_seq, attempt, accepted_at, marks, next_at)
		VALUES (?1, ?2, 'accepted', 1, '', 5, ?1, ?3, 0, ?4, 0, ?5)`,
	`INSERT INTO inboxes (agent, waking, quiet, evicted) VALUES (?, 1, 0, 0)
		ON CONFLICT (agent) DO UPDATE SET waking = inboxes.waking + 1`,
}

func (l *bareLoop) prepare() error {
	for _, text := range bareSQL {
		stmt, err := l.conn.Prepare(text)
		if err != nil {
			return err
		}
		l.statements = append(l.statements, stmt)
	}
	return sqlitex.ExecuteTransient(l.conn, "SELECT (SELECT max(num) FROM events) + 10000, (SELECT max(num) FROM conversations)",
		&sqlitex.ExecOptions{ResultFunc: func(stmt *sqlite.Stmt) error {
			l.seq, l.conversations = stmt.ColumnInt64(0), stmt.ColumnInt64(1)
			return nil
		}})
}

// exec runs the ith statement.
func (l *bareLoop) exec(i int, args ...any) error {
	stmt := l.statements[i]
	if err := stmt.Reset(); err != nil {
		return err
	}
	for column, arg := range args {
		switch arg := arg.(type) {
		case int64:
			stmt.BindInt64(column+1, arg)
		case string:
			stmt.BindText(column+1, arg)
		case []byte:
			stmt.BindBytes(column+1, arg)
		}
	}
	_, err := stmt.Step()
	return err
}

func (l *bareLoop) run() {
	for batch := range batches(l.queue) {
		err := l.write(batch)
		for _, row := range batch {
			row.done <- err
		}
	}
}

// batches yields the queued rows in groups.
func batches(queue <-chan bareRow) iter.Seq[[]bareRow] {
	return func(yield func([]bareRow) bool) {
		var batch []bareRow
		for row := range queue {
			batch = append(batch[:0], row)
		fill:
			for len(batch) < 256 {
				select {
				case row, ok := <-queue:
					if !ok {
						break fill
					}
					batch = append(batch, row)
				default:
					break fill
				}
			}
			if !yield(batch) {
				return
			}
		}
	}
}

func (l *bareLoop) write(batch []bareRow) error {
	if err := l.exec(0); err != nil {
		return err
	}
	for _, row := range batch {
		l.seq++
		now := time.Now().UnixMilli()
		recipient := 3 + (row.sender-2)%posters
		err := errors.Join(
			l.exec(2, l.seq, row.id[:], row.conv, row.sender, now, body, make([]byte, 32)),
			l.exec(3, row.conv, l.seq, now),
			l.exec(4, row.sender, recipient),
			l.exec(5, l.seq, recipient, l.seq, now, now),
			l.exec(6, recipient),
		)
		if err != nil {
			return err
		}
	}
	return l.exec(1)
}

// bareCommit inserts the same body as one row, in a transaction of its own.
func bareCommit(path string) (poster, func() error, error) {
	conn, err := openBare(path)
	if err != nil {
		return nil, nil, err
	}
	if err := sqlitex.ExecuteTransient(conn, "CREATE TABLE messages (seq INTEGER PRIMARY KEY, text TEXT NOT NULL)", nil); err != nil {
		return nil, nil, err
	}
	loop := &bareLoop{conn: conn}
	insert, err := conn.Prepare("INSERT INTO messages (text) VALUES (?)")
	if err != nil {
		return nil, nil, err
	}
	loop.statements = []*sqlite.Stmt{insert}
	return func(int, int) error { return loop.exec(0, body) }, conn.Close, nil
}
