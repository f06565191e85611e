package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/jackc/pgx/v5"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/pgtest"
	"github.com/parley-hub/parley/internal/store/postgres"
	home "github.com/parley-hub/parley/internal/store/sqlite"
)

// opener opens new, empty databases of one kind.
type opener struct {
	name string
	open func(ctx context.Context) (db database, done func() error, err error)
}

type database interface {
	storage.Store
	io.Closer
}

func onSQLite() opener {
	return opener{"SQLite", func(ctx context.Context) (database, func() error, error) {
		dir, err := os.MkdirTemp("", "parley-bench-")
		if err != nil {
			return nil, nil, err
		}
		db, err := home.Open(ctx, dir)
		if err != nil {
			return nil, nil, err
		}
		return db, func() error { return errors.Join(db.Close(), os.RemoveAll(dir)) }, nil
	}}
}

// lazyServer is a private PostgreSQL server that syncs to disk. The first use starts it.
type lazyServer struct {
	cluster   *pgtest.Cluster
	databases int
}

// create makes a new database and returns its address.
func (s *lazyServer) create(ctx context.Context) (url string, err error) {
	if s.cluster == nil {
		if s.cluster, err = pgtest.Start(pgtest.Options{Durable: true}); err != nil {
			return "", err
		}
	}
	admin, err := pgx.Connect(ctx, s.cluster.URL("postgres"))
	if err != nil {
		return "", err
	}
	s.databases++
	name := "bench" + strconv.Itoa(s.databases)
	_, err = admin.Exec(ctx, "CREATE DATABASE "+name)
	return s.cluster.URL(name), errors.Join(err, admin.Close(ctx))
}

func (s *lazyServer) stop() {
	if s.cluster != nil {
		_ = s.cluster.Stop()
	}
}

func onPostgres(server *lazyServer) opener {
	return opener{"PostgreSQL", func(ctx context.Context) (database, func() error, error) {
		url, err := server.create(ctx)
		if err != nil {
			return nil, nil, err
		}
		db, err := postgres.Open(ctx, url)
		if err != nil {
			return nil, nil, err
		}
		return db, db.Close, nil
	}}
}

func agentName(n int) string { return fmt.Sprintf("agent-%d", n) }

// hub opens a hub with the given number of agents and starts it. The inboxes of the agents have no bound.
func (o opener) hub(ctx context.Context, agents int) (*hub.Hub, func() error, error) {
	h, done, err := o.unstarted(ctx, agents)
	if err == nil {
		h.Start(ctx)
	}
	return h, done, err
}

// unstarted opens a hub as hub does, but does not start it.
func (o opener) unstarted(ctx context.Context, agents int) (*hub.Hub, func() error, error) {
	db, done, err := o.open(ctx)
	if err != nil {
		return nil, nil, err
	}
	h, err := hub.New(ctx, db, hub.Config{Rate: hub.Rate{PerSecond: -1}})
	if err != nil {
		return nil, nil, err
	}
	add := func(n int) error {
		_, err := h.AddAgent(ctx, hub.Caller{Agent: parley.Owner}, parley.NewAgent{
			ID: agentName(n), Profile: parley.Profile{InboxOverflow: parley.OverflowUnbounded},
		})
		return err
	}
	for n := range min(agents, posters) { // in order, because the baselines rely on the numbers of the agents' rows
		if err := add(n); err != nil {
			return nil, nil, err
		}
	}
	if err := inParallel(agents-posters, func(n int) error { return add(posters + n) }); err != nil {
		return nil, nil, err
	}
	return h, func() error {
		h.Stop()
		return done()
	}, nil
}

// inParallel makes n calls, many at once, so that the store commits their updates in groups.
func inParallel(n int, do func(n int) error) error {
	var (
		next  atomic.Int64
		group sync.WaitGroup
		errs  = make([]error, posters)
	)
	for w := range errs {
		group.Go(func() {
			for i := next.Add(1); i <= int64(n) && errs[w] == nil; i = next.Add(1) {
				errs[w] = do(int(i - 1))
			}
		})
	}
	group.Wait()
	return errors.Join(errs...)
}
