package postgres

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
)

// table is a table of a backup, with the tables that it refers to.
type table struct {
	Name       string
	References []string
}

// listTables returns the tables of a backup. Each table comes after the tables that it refers to. The tables of goose and
// commits are not part of a backup: they describe the database and its writers.
func listTables(ctx context.Context, tx pgx.Tx) ([]string, error) {
	rows, err := tx.Query(ctx, `SELECT c.relname::text,
			coalesce(array_agg(f.relname::text) FILTER (WHERE f.oid <> c.oid), '{}')
		FROM pg_class c LEFT JOIN pg_constraint k ON k.conrelid = c.oid AND k.contype = 'f'
		LEFT JOIN pg_class f ON f.oid = k.confrelid
		WHERE c.relkind = 'r' AND c.relname NOT IN ('goose_db_version', 'commits')
			AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
		GROUP BY c.relname ORDER BY c.relname`)
	if err != nil {
		return nil, err
	}
	all, err := pgx.CollectRows(rows, pgx.RowToStructByPos[table])
	if err != nil {
		return nil, err
	}
	return orderByReferences(all)
}

func orderByReferences(all []table) (ordered []string, err error) {
	for len(ordered) < len(all) {
		before := len(ordered)
		for _, t := range all {
			missing := func(name string) bool { return !slices.Contains(ordered, name) }
			if missing(t.Name) && !slices.ContainsFunc(t.References, missing) {
				ordered = append(ordered, t.Name)
			}
		}
		if len(ordered) == before {
			return nil, errors.New("the tables refer to each other in a cycle")
		}
	}
	return ordered, nil
}

// quoteName quotes a name for a statement.
func quoteName(name string) string { return pgx.Identifier{name}.Sanitize() }
