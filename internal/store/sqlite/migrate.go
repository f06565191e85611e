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

// migrate brings a database up to date. It first makes a backup, and then runs each missing migration in a transaction of its
// own. It never goes back to an older schema. It returns an error for a database that needs a newer program.
func migrate(ctx context.Context, path, backups string) error {
	files, err := programMigrations()
	if err != nil {
		return err
	}
	return withDB(path, func(db *sql.DB) error {
		if err := checkApplication(ctx, db, path); err != nil {
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
		if err := backUpBeforeMigration(ctx, db, backups, current, target); err != nil {
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
		return nil // a newer program made the database and allows this program to use it
	}
	return checkSchema(ctx, db, files)
}

// checkProgram returns an error if this program may not use a database, or contains a SQLite that is too old.
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

// backUpBeforeMigration copies an existing database before a migration changes it. A backup's name holds the old and the new
// schema version, so that a migration that fails at every start does not fill the disk with backups. A file gets that name only
// when it is complete.
func backUpBeforeMigration(ctx context.Context, db *sql.DB, dir string, current, next int64) error {
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
	// createFile sets the permissions before SQLite writes, so that other users can never read the messages in the copy.
	if err := createFile(partial); err != nil {
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

// countTables returns how many tables, indexes and triggers a database has. It does not count those of SQLite and of goose, which
// exist before the first migration runs.
func countTables(ctx context.Context, db *sql.DB) (n int, err error) {
	err = db.QueryRowContext(ctx, `SELECT count(*) FROM sqlite_schema
		WHERE name NOT LIKE 'sqlite\_%' ESCAPE '\' AND name <> 'goose_db_version'`).Scan(&n)
	return n, err
}

type schemaEntry struct{ kind, name, table, sql string }

// programMigrations are the migrations of this program. programSchema is the schema of a new database after them.
var (
	programMigrations = sync.OnceValues(func() (fs.FS, error) { return fs.Sub(migrationFiles, "migrations") })
	programSchema     = sync.OnceValues(func() ([]schemaEntry, error) {
		files, err := programMigrations()
		if err != nil {
			return nil, err
		}
		return schemaAfter(context.Background(), files)
	})
)

// schemaAfter returns the schema of a new database after the given migrations.
func schemaAfter(ctx context.Context, files fs.FS) ([]schemaEntry, error) {
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
	return readSchema(ctx, fresh)
}

// expectedSchema is schemaAfter, but computes the schema of the program's own migrations only once.
func expectedSchema(ctx context.Context, files fs.FS) ([]schemaEntry, error) {
	if ours, err := programMigrations(); err == nil && files == ours {
		return programSchema()
	}
	return schemaAfter(ctx, files)
}

// checkSchema compares the schema of a database with that of a new database after the same migrations.
func checkSchema(ctx context.Context, db *sql.DB, files fs.FS) error {
	want, err := expectedSchema(ctx, files)
	if err != nil {
		return err
	}
	have, err := readSchema(ctx, db)
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
	return parley.Errorf(parley.Internal, "another program changed the schema of the database: %s %s", e.kind, e.name).
		Suggest("undo that change, or restore the newest backup")
}

func readSchema(ctx context.Context, db *sql.DB) (entries []schemaEntry, err error) {
	// The query leaves out the tables in which SQLite keeps statistics after somebody has run ANALYZE.
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
