package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
)

// contents are the rows of a database, with a digest of its schema.
type contents struct {
	schema string            // changes with every table, index, constraint, trigger and function
	reset  string            // statements that empty all tables and set all sequences back
	rows   map[string][]byte // of the tables that are not empty, by their quoted names, as COPY writes them
}

// schemaMark returns a digest of the definitions in a database. When a definition changes, its row in the catalog gets a new
// xmin.
const schemaMark = `
WITH changed AS (
	SELECT 'c' || oid || ':' || xmin AS row FROM pg_class WHERE oid >= 16384
	UNION ALL SELECT 'a' || attrelid || '.' || attnum || ':' || xmin FROM pg_attribute WHERE attrelid >= 16384
	UNION ALL SELECT 'i' || indexrelid || ':' || xmin FROM pg_index WHERE indexrelid >= 16384
	UNION ALL SELECT 'k' || oid || ':' || xmin FROM pg_constraint WHERE oid >= 16384
	UNION ALL SELECT 't' || oid || ':' || xmin FROM pg_trigger WHERE oid >= 16384
	UNION ALL SELECT 'p' || oid || ':' || xmin FROM pg_proc WHERE oid >= 16384
)
SELECT md5(coalesce(string_agg(row, ' ' ORDER BY row), '')) FROM changed`

var errSchemaChanged = errors.New("the tables are not those of the template any more")

// readContents reads the rows of a database.
func readContents(url string) (*contents, error) {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	defer func() { _ = conn.Close(ctx) }()
	c := &contents{rows: map[string][]byte{}}
	if err := conn.QueryRow(ctx, schemaMark).Scan(&c.schema); err != nil {
		return nil, err
	}
	tables, err := queryStrings(ctx, conn, "SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) FROM pg_tables WHERE schemaname NOT IN ('pg_catalog', 'information_schema')")
	if err != nil {
		return nil, err
	}
	sequences, err := queryStrings(ctx, conn, "SELECT format('SELECT setval(%L, %s, %L)', quote_ident(schemaname) || '.' || quote_ident(sequencename), "+
		"coalesce(last_value, start_value), last_value IS NOT NULL) FROM pg_sequences")
	if err != nil {
		return nil, err
	}
	statements := []string{"SET session_replication_role = replica"} // then the order of tables does not matter
	for _, table := range tables {
		statements = append(statements, "DELETE FROM "+table)
		var rows bytes.Buffer
		if _, err := conn.PgConn().CopyTo(ctx, &rows, fmt.Sprintf("COPY %s TO STDOUT", table)); err != nil {
			return nil, err
		}
		if rows.Len() > 0 {
			c.rows[table] = rows.Bytes()
		}
	}
	c.reset = strings.Join(append(statements, sequences...), ";\n")
	return c, nil
}

func queryStrings(ctx context.Context, conn *pgx.Conn, query string) ([]string, error) {
	rows, err := conn.Query(ctx, query)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

// restore gives a database the rows of c, and ends all connections to it. It returns an error if the tables have changed.
func (c *contents) restore(url string) error {
	ctx := context.Background()
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	if err := endOtherConnections(ctx, conn); err != nil {
		return err
	}
	var schema string
	if err := conn.QueryRow(ctx, schemaMark).Scan(&schema); err != nil {
		return err
	}
	if schema != c.schema {
		return errSchemaChanged
	}
	if _, err := conn.PgConn().Exec(ctx, c.reset).ReadAll(); err != nil {
		return err
	}
	for table, rows := range c.rows {
		if _, err := conn.PgConn().CopyFrom(ctx, bytes.NewReader(rows), fmt.Sprintf("COPY %s FROM STDIN", table)); err != nil {
			return err
		}
	}
	return nil
}

// endOtherConnections ends all other connections to the database, and waits until they have ended. The server rolls their
// transactions back.
func endOtherConnections(ctx context.Context, conn *pgx.Conn) error {
	const others = "FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() AND backend_type = 'client backend'"
	if _, err := conn.Exec(ctx, "SELECT pg_terminate_backend(pid, 10000) "+others); err != nil {
		return err
	}
	var left int
	if err := conn.QueryRow(ctx, "SELECT count(*) "+others).Scan(&left); err != nil {
		return err
	}
	if left > 0 {
		return fmt.Errorf("%d connections do not end", left)
	}
	return nil
}
