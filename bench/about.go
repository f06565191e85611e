package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	nats "github.com/nats-io/nats-server/v2/server"
	"zombiezen.com/go/sqlite"
	"zombiezen.com/go/sqlite/sqlitex"
)

// beginReport notes the time and the commit before the measurements. It returns a function that completes the report after them.
func beginReport(ctx context.Context, server *lazyServer, o options) func() (report, error) {
	r := report{MeasuredAt: time.Now().UTC().Truncate(time.Second)}
	var commitErr error
	r.Commit, r.Changed, commitErr = commit(ctx)
	return func() (report, error) {
		var err error
		r.Machine, err = thisMachine(ctx, server)
		r.Settings = settings{
			Rounds: o.rounds, Length: o.length.String(), History: o.history, Conversations: conversationsFor(o.history),
			Words: wordsEach, Vocabulary: vocabulary, Body: len(body), Posters: posters, Partners: partners,
			Subscribers: subscriberCount, EventRate: eventRate, EventReaders: membersEach, ScriptedAgents: scriptAgents, IdleAgents: idleAgents,
			BridgeAgents: busAgents,
		}
		return r, errors.Join(commitErr, err)
	}
}

// commit returns the id of the measured commit, and whether any file differs from it. The page and its results do not count: a
// run writes them.
func commit(ctx context.Context) (id string, changed bool, err error) {
	head, err := exec.CommandContext(ctx, "git", "rev-parse", "--short=12", "HEAD").Output()
	if err != nil {
		return "", false, fmt.Errorf("which commit is measured is not known: git rev-parse: %w", err)
	}
	status, err := exec.CommandContext(ctx, "git", "status", "--porcelain", "--", ":/", ":(top,exclude)docs/"+pageFile, ":(top,exclude)docs/"+resultsFile).Output()
	if err != nil {
		return "", false, fmt.Errorf("git status: %w", err)
	}
	return strings.TrimSpace(string(head)), len(status) > 0, nil
}

func thisMachine(ctx context.Context, server *lazyServer) (m machine, err error) {
	m = machine{
		System: runtime.GOOS + "/" + runtime.GOARCH, Processor: processor(), Cores: runtime.NumCPU(), Go: runtime.Version(), NATS: nats.VERSION,
	}
	if m.SQLite, err = sqliteVersion(); err != nil {
		return m, err
	}
	m.PostgreSQL, err = server.version(ctx)
	return m, err
}

// processor returns the name of the processor, or "unknown" on systems other than Linux.
func processor() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return "unknown"
	}
	for line := range strings.Lines(string(text)) {
		if key, value, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return "unknown"
}

func sqliteVersion() (version string, err error) {
	conn, err := sqlite.OpenConn(":memory:", sqlite.OpenReadWrite)
	if err != nil {
		return "", err
	}
	err = sqlitex.ExecuteTransient(conn, "SELECT sqlite_version()", &sqlitex.ExecOptions{ResultFunc: func(row *sqlite.Stmt) error {
		version = row.ColumnText(0)
		return nil
	}})
	return version, errors.Join(err, conn.Close())
}

// version returns the version of the server.
func (s *lazyServer) version(ctx context.Context) (version string, err error) {
	url, err := s.create(ctx)
	if err != nil {
		return "", err
	}
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return "", err
	}
	err = conn.QueryRow(ctx, "SHOW server_version").Scan(&version)
	return version, errors.Join(err, conn.Close(ctx))
}
