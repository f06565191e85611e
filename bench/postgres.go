package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/parley-hub/parley/internal/store/postgres"
)

// measurePostgres compares durable posts on PostgreSQL with a bare loop. The loop writes the same rows under the same lock, and
// commits them in groups too.
func measurePostgres(ctx context.Context, rounds int, length time.Duration, server *lazyServer) ([]result, error) {
	h, closeHub, err := onPostgres(server).hub(ctx, posters)
	if err != nil {
		return nil, err
	}
	post, err := dmPoster(ctx, h)
	if err != nil {
		return nil, err
	}
	bare, closeBare, err := barePostgres(ctx, server)
	if err != nil {
		return nil, err
	}
	var parleyRates, bareRates []float64
	for range rounds {
		a, err := throughput(length, posters, post)
		if err != nil {
			return nil, err
		}
		b, err := throughput(length, posters, bare)
		if err != nil {
			return nil, err
		}
		parleyRates, bareRates = append(parleyRates, a), append(bareRates, b)
	}
	a, b := median(parleyRates), median(bareRates)
	return []result{atLeast(0.7, result{
		What: "durable posts, 64 posters, PostgreSQL, against a bare loop with the same rows and lock, grouped alike", Ratio: a / b,
		Parley: fmt.Sprintf("%.0f/s", a), Baseline: fmt.Sprintf("%.0f/s", b),
	})}, errors.Join(closeHub(), closeBare())
}

// postgresRows are the statements that write the rows of one post.
var postgresRows = []string{
	`INSERT INTO messages (seq, id, conv, sender, type, priority, created_at, requires_ack, hops, source, text, checksum)
		VALUES ($1, $2, $3, $4, 'chat', 5, $5, 0, 1, 'api', $6, $7)`,
	"UPDATE conversations SET messages = messages + 1, last_seq = $2, updated_at = $3 WHERE num = $1",
	`INSERT INTO pairs (sender, recipient, count) VALUES ($1, $2, 1)
		ON CONFLICT (sender, recipient) DO UPDATE SET count = pairs.count + 1 RETURNING count`,
	`INSERT INTO deliveries (message, agent, state, waking, purpose, rank, place, pair_seq, attempt, accepted_at, marks, next_at)
		VALUES ($1, $2, 'accepted', 1, '', 5, $1, $3, 0, $4, 0, $4)`,
	`INSERT INTO inboxes (agent, waking, quiet, evicted) VALUES ($1, 1, 0, 0)
		ON CONFLICT (agent) DO UPDATE SET waking = inboxes.waking + 1 RETURNING waking`,
}

// barePostgres posts by the bare loop, which executes the statements in turn. It reads and checks nothing.
func barePostgres(ctx context.Context, server *lazyServer) (poster, func() error, error) {
	url, err := server.create(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := prepareBare(ctx, url); err != nil {
		return nil, nil, err
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, nil, err
	}
	loop := &postgresLoop{conn: conn, queue: make(chan bareRow, 256)}
	if err := conn.QueryRow(ctx, "SELECT (SELECT max(num) FROM events) + 10000, (SELECT count(*) FROM conversations)").
		Scan(&loop.seq, &loop.conversations); err != nil {
		return nil, nil, err
	}
	group := sync.WaitGroup{}
	group.Go(func() { loop.run(ctx) })
	post := func(worker, n int) error {
		row := bareRow{
			id: uuid.Must(uuid.NewV7()), sender: int64(3 + worker), done: make(chan error, 1),
			conv: 1 + (int64(worker*partners+n%partners) % loop.conversations),
		}
		loop.queue <- row
		return <-row.done
	}
	return post, func() error {
		close(loop.queue)
		group.Wait()
		return conn.Close(ctx)
	}, nil
}

// prepareBare lets a hub make the schema, the agents and the conversations.
func prepareBare(ctx context.Context, url string) error {
	db, err := postgres.Open(ctx, url)
	if err != nil {
		return err
	}
	o := opener{"PostgreSQL", func(context.Context) (database, func() error, error) { return db, db.Close, nil }}
	h, done, err := o.hub(ctx, posters)
	if err != nil {
		return err
	}
	_, err = dmPoster(ctx, h)
	return errors.Join(err, done())
}

type postgresLoop struct {
	conn               *pgx.Conn
	queue              chan bareRow
	seq, conversations int64
}

func (l *postgresLoop) run(ctx context.Context) {
	for batch := range batches(l.queue) {
		err := pgx.BeginFunc(ctx, l.conn, func(tx pgx.Tx) error { return l.write(ctx, tx, batch) })
		for _, row := range batch {
			row.done <- err
		}
	}
}

func (l *postgresLoop) write(ctx context.Context, tx pgx.Tx, batch []bareRow) error {
	if _, err := tx.Exec(ctx, "SELECT pg_advisory_xact_lock(1348563564, 'counters'::regclass::oid::int4)"); err != nil {
		return err
	}
	for _, row := range batch {
		l.seq++
		now, recipient := time.Now().UnixMilli(), 3+(row.sender-2)%posters
		for i, args := range [][]any{
			{l.seq, row.id[:], row.conv, row.sender, now, body, make([]byte, 32)},
			{row.conv, l.seq, now},
			{row.sender, recipient},
			{l.seq, recipient, l.seq, now},
			{recipient},
		} {
			if _, err := tx.Exec(ctx, postgresRows[i], args...); err != nil {
				return err
			}
		}
	}
	return nil
}
