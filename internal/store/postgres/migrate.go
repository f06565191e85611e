package postgres

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// steps are the migrations this program knows.
type steps struct {
	files  fs.FS
	newest int64
}

func migrations() (s steps, err error) {
	if s.files, err = fs.Sub(migrationFiles, "migrations"); err != nil {
		return s, err
	}
	names, err := fs.Glob(s.files, "*.sql")
	for _, name := range names {
		version, bad := goose.NumericComponent(name)
		err = errors.Join(err, bad)
		s.newest = max(s.newest, version)
	}
	return s, err
}

// upTo are the steps to a version that is not the newest.
func (s steps) upTo(version int64) fs.FS { return older{s.files, version} }

// older hides the migrations after a version.
type older struct {
	fs.FS
	version int64
}

func (o older) Glob(pattern string) ([]string, error) {
	names, err := fs.Glob(o.FS, pattern)
	return slices.DeleteFunc(names, func(name string) bool {
		version, bad := goose.NumericComponent(name)
		return bad == nil && version > o.version
	}), err
}

// migrate brings the tables up to date: forward only, each step in a transaction, one hub at a time.
func (d *dialer) migrate(ctx context.Context, files fs.FS) (err error) {
	db := stdlib.OpenDB(*d.config)
	defer func() { err = errors.Join(err, db.Close()) }()
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithSessionLocker(oneAtATime{}))
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("bringing the database up to date: %w", err)
	}
	return nil
}

// oneAtATime is the lock that the migrations of one schema are made under. goose's own asks again
// every few seconds; this one waits.
type oneAtATime struct{}

const migrationLock = "(1348563565, hashtext(current_schema()))"

func (oneAtATime) SessionLock(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock"+migrationLock)
	return err
}

func (oneAtATime) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "SELECT pg_advisory_unlock"+migrationLock)
	return err
}

// forgetWriters drops what hubs that ended long ago have left in commits. Nobody is in doubt about a
// commit for so long.
func forgetWriters(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, `DELETE FROM commits WHERE at < (extract(epoch FROM clock_timestamp() - interval '30 days') * 1000)::bigint`)
	return err
}
