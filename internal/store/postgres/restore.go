package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store"
)

// Restore loads a backup in one transaction into a database that no hub has used. It verifies the backup before and the database
// after. It returns an error for a damaged backup, for a backup that needs a newer program, and for a database that is in use.
func Restore(ctx context.Context, from, url string) (m store.Manifest, err error) {
	if m, err = store.VerifyBackup(ctx, from, manifestDatabase); err != nil {
		return m, err
	}
	d, err := newDialer(url)
	if err != nil {
		return m, err
	}
	if err := d.restore(ctx, from, m); err != nil {
		if ctx.Err() != nil {
			return m, ctx.Err()
		}
		return m, d.explain(err)
	}
	return m, checkRestored(ctx, url, m)
}

func (d *dialer) restore(ctx context.Context, from string, m store.Manifest) (err error) {
	c, err := d.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close(context.WithoutCancel(ctx))) }()
	if err := d.prepareTables(ctx, c, m); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, takeWriteLock); err != nil {
			return err
		}
		if err := d.refuseUsed(ctx, tx); err != nil {
			return err
		}
		return loadTables(ctx, tx, from, m)
	})
}

// prepareTables makes the tables with the schema that the backup has.
func (d *dialer) prepareTables(ctx context.Context, c *pgx.Conn, m store.Manifest) error {
	found, err := inspect(ctx, c)
	if err != nil {
		return err
	}
	if err := found.check(d.name()); err != nil {
		return err
	}
	known, err := programMigrations()
	switch {
	case err != nil:
		return err
	case m.Schema > known.newest:
		return parley.Errorf(parley.Unavailable, "the backup was made by parley %s with newer tables", m.Program).
			Suggest("install parley %s", m.Program)
	case found.version > m.Schema:
		return parley.Errorf(parley.BadInput, "the database %s has newer tables than the backup", d.name()).
			Because(parley.Conflict).Suggest("restore into a new database")
	case found.version < m.Schema:
		return d.migrate(ctx, known.upTo(m.Schema))
	default:
		return nil
	}
}

func (d *dialer) refuseUsed(ctx context.Context, tx pgx.Tx) error {
	var used bool
	if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM agents)").Scan(&used); err != nil {
		return err
	}
	if used {
		return parley.Errorf(parley.BadInput, "the database %s is not empty", d.name()).Because(parley.Conflict).
			Suggest("restore into a new database")
	}
	return nil
}

// loadTables fills the tables, each after the tables that it refers to.
func loadTables(ctx context.Context, tx pgx.Tx, from string, m store.Manifest) error {
	tables, err := listTables(ctx, tx)
	if err != nil {
		return err
	}
	for _, table := range slices.Backward(tables) { // the migrations have put rows into some tables
		if _, err := tx.Exec(ctx, "DELETE FROM "+quoteName(table)); err != nil {
			return err
		}
	}
	for _, file := range m.Files {
		table := strings.TrimSuffix(file.Path, store.CopySuffix)
		if !slices.Contains(tables, table) {
			return store.BackupDamaged(from, fmt.Errorf("there is no table for %s", file.Path))
		}
		if err := loadTable(ctx, tx, filepath.Join(from, file.Path), table, file); err != nil {
			return err
		}
	}
	if err := advanceSequences(ctx, tx); err != nil {
		return err
	}
	var oldest string
	if err := tx.QueryRow(ctx, "SELECT value FROM meta WHERE key = 'min_program'").Scan(&oldest); err != nil {
		return err
	}
	return store.CheckProgram(oldest)
}

// loadTable loads a file into a table. It returns an error if the file is no longer the one that was verified.
func loadTable(ctx context.Context, tx pgx.Tx, path, table string, want store.ManifestFile) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	body := parley.Verified(file, want.SHA256)
	_, err = tx.Conn().PgConn().CopyFrom(ctx, body, "COPY "+quoteName(table)+" FROM STDIN (FORMAT binary)")
	return errors.Join(err, body.Close())
}

// advanceSequences makes the server draw numbers for identity columns after the largest number that was loaded.
func advanceSequences(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `SELECT c.relname::text, a.attname::text FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
		WHERE a.attidentity <> '' AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())`)
	if err != nil {
		return err
	}
	columns, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Table, Column string }])
	for _, c := range columns {
		if err == nil {
			_, err = tx.Exec(ctx, fmt.Sprintf("SELECT setval(pg_get_serial_sequence($1, $2), max(%s)) FROM %s HAVING max(%[1]s) IS NOT NULL",
				quoteName(c.Column), quoteName(c.Table)), quoteName(c.Table), c.Column)
		}
	}
	return err
}

// checkRestored opens the database as a hub does, checks it and compares its counts with those of the manifest.
func checkRestored(ctx context.Context, url string, m store.Manifest) error {
	db, err := Open(ctx, url)
	if err != nil {
		return err
	}
	report, err := db.CheckDeep(ctx, nil)
	if err == nil {
		err = report.Err()
	}
	if err == nil && (report.Messages != m.Messages || report.Artifacts != m.Artifacts || report.Audited != m.Audited) {
		err = parley.Errorf(parley.Internal, "%d messages, %d artifacts and %d audit entries were restored, the backup has %d, %d and %d",
			report.Messages, report.Artifacts, report.Audited, m.Messages, m.Artifacts, m.Audited).
			Suggest("restore into a new database")
	}
	return errors.Join(err, db.Close())
}
