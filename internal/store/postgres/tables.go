package postgres

import (
	"context"
	"errors"
	"slices"

	"github.com/jackc/pgx/v5"
)

// table is a table of a backup, and those it refers to.
type table struct {
	Name  string
	Needs []string
}

// tablesOf lists the tables in an order in which each comes after those it refers to. What the
// migrations and the writers note about themselves belongs to the database, not to what is stored in it.
func tablesOf(ctx context.Context, tx pgx.Tx) ([]string, error) {
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
	return inOrder(all)
}

func inOrder(all []table) (ordered []string, err error) {
	for len(ordered) < len(all) {
		before := len(ordered)
		for _, t := range all {
			missing := func(name string) bool { return !slices.Contains(ordered, name) }
			if missing(t.Name) && !slices.ContainsFunc(t.Needs, missing) {
				ordered = append(ordered, t.Name)
			}
		}
		if len(ordered) == before {
			return nil, errors.New("the tables refer to each other in a circle")
		}
	}
	return ordered, nil
}

// quoted is a name as it stands in a statement.
func quoted(name string) string { return pgx.Identifier{name}.Sanitize() }
