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

// migrationSet is a set of migrations.
type migrationSet struct {
	files  fs.FS
	newest int64
}

func programMigrations() (s migrationSet, err error) {
	if s.files, err = fs.Sub(migrationFiles, "migrations"); err != nil {
		return s, err
	}
	names, err := fs.Glob(s.files, "*.sql")
	for _, name := range names {
		version, parseErr := goose.NumericComponent(name)
		err = errors.Join(err, parseErr)
		s.newest = max(s.newest, version)
	}
	return s, err
}

// upTo returns the migrations up to a version.
func (s migrationSet) upTo(version int64) fs.FS { return olderMigrations{s.files, version} }

// olderMigrations is a file system that hides the migrations after a version.
type olderMigrations struct {
	fs.FS
	version int64
}

func (o olderMigrations) Glob(pattern string) ([]string, error) {
	names, err := fs.Glob(o.FS, pattern)
	return slices.DeleteFunc(names, func(name string) bool {
		version, parseErr := goose.NumericComponent(name)
		return parseErr == nil && version > o.version
	}), err
}

// migrate runs the missing migrations, each in a transaction of its own, and never goes back to an older schema. One hub at a
// time migrates a schema.
func (d *dialer) migrate(ctx context.Context, files fs.FS) (err error) {
	db := stdlib.OpenDB(*d.config)
	defer func() { err = errors.Join(err, db.Close()) }()
	provider, err := goose.NewProvider(goose.DialectPostgres, db, files,
		goose.WithDisableGlobalRegistry(true), goose.WithSessionLocker(migrationLocker{}))
	if err != nil {
		return err
	}
	if _, err := provider.Up(ctx); err != nil {
		return fmt.Errorf("bringing the database up to date: %w", err)
	}
	return nil
}

// migrationLocker takes the lock under which a hub migrates a schema. goose's own lock polls every few seconds. This one waits
// on the server and gets the lock at once when it is free.
type migrationLocker struct{}

const migrationLock = "(1348563565, hashtext(current_schema()))"

func (migrationLocker) SessionLock(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "SELECT pg_advisory_lock"+migrationLock)
	return err
}

func (migrationLocker) SessionUnlock(ctx context.Context, conn *sql.Conn) error {
	_, err := conn.ExecContext(ctx, "SELECT pg_advisory_unlock"+migrationLock)
	return err
}

// deleteOldCommits deletes rows in commits that are older than 30 days. Their hubs have long ended or know the outcome of the
// commit.
func deleteOldCommits(ctx context.Context, c *pgx.Conn) error {
	_, err := c.Exec(ctx, `DELETE FROM commits WHERE at < (extract(epoch FROM clock_timestamp() - interval '30 days') * 1000)::bigint`)
	return err
}
