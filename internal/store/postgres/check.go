package postgres

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store"
)

// CheckDeep verifies everything that is stored: every reference, message, artifact, audit entry and count. It first reads every
// row in full, so that the server notices damaged pages. It does not check indexes; use PostgreSQL's pg_amcheck for that. It
// calls progress from time to time; progress may be nil. The report holds the damage that it found. An error means that the
// check could not finish.
func (db *DB) CheckDeep(ctx context.Context, progress func(parley.CheckReport)) (report parley.CheckReport, err error) {
	if progress == nil {
		progress = func(parley.CheckReport) {}
	}
	if err := db.checkRows(ctx, &report); err != nil {
		return report, db.explainUnlessCanceled(ctx, err)
	}
	return report, store.Check(ctx, db, &report, progress)
}

func (db *DB) checkRows(ctx context.Context, report *parley.CheckReport) error {
	c, err := db.dialer.connect(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	tx, err := c.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return err
	}
	if err := readAllRows(ctx, tx); err != nil {
		return err
	}
	return checkReferences(ctx, tx, report)
}

func (db *DB) explainUnlessCanceled(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return db.dialer.explain(err)
}

func readAllRows(ctx context.Context, tx pgx.Tx) error {
	tables, err := queryStrings(ctx, tx, `SELECT quote_ident(relname) FROM pg_class WHERE relkind = 'r' AND relname <> 'goose_db_version'
		AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())`)
	if err != nil {
		return err
	}
	for _, table := range tables {
		var size int64
		read := fmt.Sprintf("SELECT coalesce(sum(octet_length(t::text)), 0) FROM %s t", table)
		if err := tx.QueryRow(ctx, read).Scan(&size); err != nil {
			return fmt.Errorf("reading %s: %w", table, err)
		}
	}
	return nil
}

// checkReferences adds rows that refer to missing rows to a report. The server refuses to store such a row, but a backup of the
// server or an index that has lost an entry can bring one in.
func checkReferences(ctx context.Context, tx pgx.Tx, report *parley.CheckReport) error {
	queries, err := queryStrings(ctx, tx, `SELECT format(
			'SELECT format(''%%s of %%s refers to %%s, which does not exist'', %L, %L, c.%I) FROM %s c
				WHERE c.%I IS NOT NULL AND NOT EXISTS (SELECT 1 FROM %s p WHERE p.%I = c.%I) LIMIT 10',
			a.attname, k.conrelid::regclass, a.attname, k.conrelid::regclass, a.attname, k.confrelid::regclass, b.attname, a.attname)
		FROM pg_constraint k
		JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
		JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = k.confkey[1]
		WHERE k.contype = 'f' AND k.connamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())`)
	if err != nil {
		return err
	}
	for _, query := range queries {
		dangling, err := queryStrings(ctx, tx, query)
		if err != nil {
			return err
		}
		for _, row := range dangling {
			report.Add("%s", row)
		}
	}
	return nil
}

func queryStrings(ctx context.Context, tx pgx.Tx, query string) ([]string, error) {
	rows, err := tx.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
