package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/pressly/goose/v3"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrate brings a database up to date: forward only, each step in a transaction, after a backup
// of what was there. It refuses a database that needs a newer program.
func migrate(ctx context.Context, path, backups string) error {
	files, err := ourSteps()
	if err != nil {
		return err
	}
	return withDB(path, func(db *sql.DB) error {
		if err := checkOwner(ctx, db, path); err != nil {
			return err
		}
		return migrateDB(ctx, db, files, backups)
	})
}

func migrateDB(ctx context.Context, db *sql.DB, files fs.FS, backups string) error {
	if err := checkProgram(ctx, db); err != nil {
		return err
	}
	steps, err := goose.NewProvider(goose.DialectSQLite3, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return err
	}
	pending, err := steps.HasPending(ctx)
	if err != nil {
		return err
	}
	if pending {
		current, target, err := steps.GetVersions(ctx)
		if err != nil {
			return err
		}
		if err := backUp(ctx, db, backups, current, target); err != nil {
			return err
		}
		if _, err := steps.Up(ctx); err != nil {
			return fmt.Errorf("bringing the database up to date: %w", err)
		}
	}
	current, target, err := steps.GetVersions(ctx)
	if err != nil {
		return err
	}
	if current > target {
		return nil // made by a newer program that lets this one use it
	}
	return checkSchema(ctx, db, files)
}

func checkProgram(ctx context.Context, db *sql.DB) error {
	var version string
	if err := db.QueryRowContext(ctx, "SELECT sqlite_version()").Scan(&version); err != nil {
		return err
	}
	if store.OlderThan(version, oldestSQLite) {
		return parley.Errorf(parley.Internal, "this program was built with SQLite %s, it needs %s", version, oldestSQLite).
			Suggest("install a newer build")
	}
	var tables int
	err := db.QueryRowContext(ctx, "SELECT count(*) FROM sqlite_schema WHERE name = 'meta'").Scan(&tables)
	if err != nil || tables == 0 {
		return err
	}
	var oldest string
	err = db.QueryRowContext(ctx, "SELECT value FROM meta WHERE key = 'min_program'").Scan(&oldest)
	if errors.Is(err, sql.ErrNoRows) {
		return errors.New("it does not say which program may use it")
	}
	if err == nil {
		err = store.CheckProgram(oldest)
	}
	return err
}

// backUp copies an existing database aside before it is changed. There is one copy for each way from a
// schema to another, so that a migration that fails at every start does not fill the disk; and what has
// that name is whole.
func backUp(ctx context.Context, db *sql.DB, dir string, current, next int64) error {
	if tables, err := countTables(ctx, db); err != nil || tables == 0 {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	target := filepath.Join(dir, fmt.Sprintf("schema-%d-before-%d.db", current, next))
	partial := target + ".tmp"
	if err := os.Remove(partial); ignoreMissing(err) != nil {
		return err
	}
	// Made first, so that the copy of everybody's messages is never readable by others.
	if err := create(partial); err != nil {
		return err
	}
	_, err := db.ExecContext(ctx, "VACUUM INTO ?", partial)
	if err == nil {
		err = errors.Join(store.SyncPath(partial), os.Rename(partial, target))
	}
	if err != nil {
		return errors.Join(fmt.Errorf("backing up to %s: %w", target, err), ignoreMissing(os.Remove(partial)))
	}
	return store.SyncPath(dir)
}

// countTables counts what a database holds beside the tables of SQLite and of the migrations: these
// are there before the first migration is.
func countTables(ctx context.Context, db *sql.DB) (n int, err error) {
	err = db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema
		WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name <> 'goose_db_version'`).Scan(&n)
	return n, err
}

type schemaEntry struct{ kind, name, table, sql string }

// ourSteps are the migrations of this program, ourSchema what they make of a new database.
var (
	ourSteps  = sync.OnceValues(func() (fs.FS, error) { return fs.Sub(migrationFiles, "migrations") })
	ourSchema = sync.OnceValues(func() ([]schemaEntry, error) {
		files, err := ourSteps()
		if err != nil {
			return nil, err
		}
		return schemaBy(context.Background(), files)
	})
)

// schemaBy is what steps make of a new database.
func schemaBy(ctx context.Context, files fs.FS) ([]schemaEntry, error) {
	fresh, err := sql.Open("sqlite", ":memory:")
	if err != nil {
		return nil, err
	}
	fresh.SetMaxOpenConns(1)
	defer func() { _ = fresh.Close() }()
	steps, err := goose.NewProvider(goose.DialectSQLite3, fresh, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, err
	}
	if _, err := steps.Up(ctx); err != nil {
		return nil, err
	}
	return schemaOf(ctx, fresh)
}

// expectedSchema is schemaBy, worked out once for what is asked at every start.
func expectedSchema(ctx context.Context, files fs.FS) ([]schemaEntry, error) {
	if ours, err := ourSteps(); err == nil && files == ours {
		return ourSchema()
	}
	return schemaBy(ctx, files)
}

// checkSchema compares a database with a new one made by the same steps.
func checkSchema(ctx context.Context, db *sql.DB, files fs.FS) error {
	want, err := expectedSchema(ctx, files)
	if err != nil {
		return err
	}
	have, err := schemaOf(ctx, db)
	if err != nil {
		return err
	}
	for _, entry := range want {
		if !slices.Contains(have, entry) {
			return schemaDiffers(entry)
		}
	}
	for _, entry := range have {
		if !slices.Contains(want, entry) {
			return schemaDiffers(entry)
		}
	}
	return nil
}

func schemaDiffers(e schemaEntry) error {
	return parley.Errorf(parley.Internal, "the schema of the database was changed from outside: %s %s", e.kind, e.name).
		Suggest("undo that change, or restore the newest backup")
}

func schemaOf(ctx context.Context, db *sql.DB) (entries []schemaEntry, err error) {
	// SQLite keeps statistics in tables of its own where somebody has run ANALYZE.
	rows, err := db.QueryContext(ctx, `SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema
		WHERE name NOT LIKE 'sqlite\_stat%' ESCAPE '\' ORDER BY type, name`)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var e schemaEntry
		if err := rows.Scan(&e.kind, &e.name, &e.table, &e.sql); err != nil {
			return nil, err
		}
		entries = append(entries, e)
	}
	return entries, rows.Err()
}
