package postgres

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store"
)

// oldestServer is PostgreSQL 13, the oldest version that the package supports.
const oldestServer = 13_00_00

// databaseInfo describes a database, before the package changes anything in it.
type databaseInfo struct {
	server   int // 150004 is 15.4
	encoding string
	schema   string // the schema for new tables; "": the search path names no schema that exists
	mayWrite bool
	tables   int   // number of tables in the schema, without those of extensions and of goose
	version  int64 // of the schema; 0: no migration has run

	application, minProgram string // from the table meta
}

func inspect(ctx context.Context, c *pgx.Conn) (f databaseInfo, err error) {
	var migrated, described bool
	err = c.QueryRow(ctx, `SELECT current_setting('server_version_num')::int, current_setting('server_encoding'),
		coalesce(current_schema(), ''),
		coalesce(has_schema_privilege(current_schema(), 'CREATE'), false) AND NOT pg_is_in_recovery(),
		to_regclass(quote_ident(current_schema()) || '.goose_db_version') IS NOT NULL,
		to_regclass(quote_ident(current_schema()) || '.meta') IS NOT NULL,
		(SELECT count(*) FROM pg_class c WHERE c.relkind IN ('r', 'p') AND c.relname <> 'goose_db_version'
			AND c.relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = current_schema())
			AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid AND d.deptype = 'e'))`).
		Scan(&f.server, &f.encoding, &f.schema, &f.mayWrite, &migrated, &described, &f.tables)
	if err == nil && migrated {
		err = c.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM goose_db_version").Scan(&f.version)
	}
	if err == nil && described && migrated {
		err = c.QueryRow(ctx, `SELECT coalesce(max(value) FILTER (WHERE key = 'application'), ''),
			coalesce(max(value) FILTER (WHERE key = 'min_program'), '') FROM meta`).Scan(&f.application, &f.minProgram)
	}
	return f, err
}

// check returns an error if the hub cannot use the database.
func (f databaseInfo) check(name string) error {
	switch {
	case f.server < oldestServer:
		return parley.Errorf(parley.Unavailable, "the server of %s is PostgreSQL %d, but parley needs %d", name, f.server/10000, oldestServer/10000).
			Suggest("use PostgreSQL %d or newer", oldestServer/10000)
	case f.encoding != "UTF8":
		return parley.Errorf(parley.Unavailable, "the database %s stores %s, not UTF-8", name, f.encoding).
			Suggest("create a database with the encoding UTF8")
	case f.schema == "":
		return parley.Errorf(parley.Unavailable, "the search path of the database %s names no schema that exists", name).
			Suggest("create the schema, or correct search_path in the address")
	case f.tables > 0 && f.application != "parley":
		return parley.Errorf(parley.BadInput, "the schema %s of the database %s belongs to another program", f.schema, name).
			Suggest("give parley a database of its own, or a schema: create it and add search_path to the address")
	case f.tables == 0 && !f.mayWrite:
		return parley.Errorf(parley.Unavailable, "the user may not create tables in the schema %s of the database %s", f.schema, name).
			Suggest("give the user the right to create there, or make it the owner of the database")
	case f.tables > 0:
		return store.CheckProgram(f.minProgram)
	default:
		return nil
	}
}

// Name returns a description of the database and schema of a URL, without the password. It returns an error if it cannot parse
// the URL.
func Name(url string) (string, error) {
	d, err := newDialer(url)
	if err != nil {
		return "", err
	}
	name := d.name()
	if path := d.config.RuntimeParams["search_path"]; path != "" {
		name += ", schema " + path
	}
	return name, nil
}

// HasData reports whether a database has tables. It returns an error if it cannot parse the URL or read the database.
func HasData(ctx context.Context, url string) (found bool, err error) {
	d, err := newDialer(url)
	if err != nil {
		return false, err
	}
	c, err := d.connect(ctx)
	if err != nil {
		return false, d.explain(err)
	}
	defer func() { err = errors.Join(err, c.Close(context.WithoutCancel(ctx))) }()
	f, err := inspect(ctx, c)
	return f.tables > 0, d.explain(err)
}
