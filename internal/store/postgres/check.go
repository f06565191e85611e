package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/parley-hub/parley"
)

// CheckDeep reads every row in full, so that the server notices pages it cannot trust, and verifies
// every reference. The server's own tools check its indexes: see pg_amcheck.
func (db *DB) CheckDeep(ctx context.Context) (err error) {
	c, err := db.dialer.connect(ctx)
	if err != nil {
		return db.checkFailed(ctx, err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	tx, err := c.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly})
	if err != nil {
		return db.checkFailed(ctx, err)
	}
	for _, check := range []func(context.Context, pgx.Tx) error{readAll, checkReferences} {
		if err := check(ctx, tx); err != nil {
			return db.checkFailed(ctx, err)
		}
	}
	return nil
}

func (db *DB) checkFailed(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return db.dialer.explain(err)
}

func readAll(ctx context.Context, tx pgx.Tx) error {
	tables, err := lines(ctx, tx, `SELECT quote_ident(relname) FROM pg_class WHERE relkind = 'r' AND relname <> 'goose_db_version'
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

// checkReferences looks for rows that refer to what is not there. The database never lets one in, but
// one may come back from a backup, or from an index that has lost an entry.
func checkReferences(ctx context.Context, tx pgx.Tx) error {
	queries, err := lines(ctx, tx, `SELECT format(
			'SELECT format(''%%s of %%s refers to %%s, which is not there'', %L, %L, c.%I) FROM %s c
				WHERE c.%I IS NOT NULL AND NOT EXISTS (SELECT 1 FROM %s p WHERE p.%I = c.%I) LIMIT 10',
			a.attname, k.conrelid::regclass, a.attname, k.conrelid::regclass, a.attname, k.confrelid::regclass, b.attname, a.attname)
		FROM pg_constraint k
		JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
		JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = k.confkey[1]
		WHERE k.contype = 'f' AND k.connamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())`)
	if err != nil {
		return err
	}
	var dangling []string
	for _, query := range queries {
		found, err := lines(ctx, tx, query)
		if err != nil {
			return err
		}
		dangling = append(dangling, found...)
	}
	if len(dangling) > 0 {
		return damaged(errors.New(strings.Join(dangling[:min(len(dangling), 10)], "; ")))
	}
	return nil
}

func lines(ctx context.Context, tx pgx.Tx, query string) ([]string, error) {
	rows, err := tx.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func damaged(cause error) error {
	return parley.Errorf(parley.Internal, "the database is damaged: %w", cause).
		Suggest("stop all hubs and restore the newest backup")
}
