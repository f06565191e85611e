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

// Restore puts a backup into a database in which nothing is stored, in one transaction. It verifies the
// backup first, and refuses one that needs a newer program; afterwards it checks what it has stored.
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
	if err := d.prepareFor(ctx, c, m); err != nil {
		return err
	}
	return pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, takeTurn); err != nil {
			return err
		}
		if err := d.refuseStored(ctx, tx); err != nil {
			return err
		}
		return load(ctx, tx, from, m)
	})
}

// prepareFor makes the tables as they were when the backup was made.
func (d *dialer) prepareFor(ctx context.Context, c *pgx.Conn, m store.Manifest) error {
	found, err := inspect(ctx, c)
	if err != nil {
		return err
	}
	if err := found.check(d.name()); err != nil {
		return err
	}
	known, err := migrations()
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

func (d *dialer) refuseStored(ctx context.Context, tx pgx.Tx) error {
	var used bool
	if err := tx.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM agents)").Scan(&used); err != nil {
		return err
	}
	if used {
		return parley.Errorf(parley.BadInput, "the database %s is in use already", d.name()).Because(parley.Conflict).
			Suggest("restore into a new database")
	}
	return nil
}

// load fills the tables, each after those it refers to.
func load(ctx context.Context, tx pgx.Tx, from string, m store.Manifest) error {
	tables, err := tablesOf(ctx, tx)
	if err != nil {
		return err
	}
	for _, table := range slices.Backward(tables) { // migrations have put rows into some
		if _, err := tx.Exec(ctx, "DELETE FROM "+quoted(table)); err != nil {
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
	if err := goOnCounting(ctx, tx); err != nil {
		return err
	}
	var oldest string
	if err := tx.QueryRow(ctx, "SELECT value FROM meta WHERE key = 'min_program'").Scan(&oldest); err != nil {
		return err
	}
	return store.CheckProgram(oldest)
}

// loadTable reads a file once more, and makes sure that it is still the one that was verified.
func loadTable(ctx context.Context, tx pgx.Tx, path, table string, want store.ManifestFile) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	body := parley.Verified(file, want.SHA256)
	_, err = tx.Conn().PgConn().CopyFrom(ctx, body, "COPY "+quoted(table)+" FROM STDIN (FORMAT binary)")
	return errors.Join(err, body.Close())
}

// goOnCounting lets columns whose numbers the server draws go on after the largest that was loaded.
func goOnCounting(ctx context.Context, tx pgx.Tx) error {
	rows, err := tx.Query(ctx, `SELECT c.relname::text, a.attname::text FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
		WHERE a.attidentity <> '' AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())`)
	if err != nil {
		return err
	}
	columns, err := pgx.CollectRows(rows, pgx.RowToStructByPos[struct{ Table, Column string }])
	for _, c := range columns {
		if err == nil {
			_, err = tx.Exec(ctx, fmt.Sprintf("SELECT setval(pg_get_serial_sequence($1, $2), max(%s)) FROM %s HAVING max(%[1]s) IS NOT NULL",
				quoted(c.Column), quoted(c.Table)), quoted(c.Table), c.Column)
		}
	}
	return err
}

// checkRestored looks at what is stored now as a hub will find it.
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
