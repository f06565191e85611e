package hub_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"go.uber.org/goleak"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/pgtest"
	"github.com/parley-hub/parley/internal/store/postgres"
	"github.com/parley-hub/parley/internal/store/sqlite"
)

// database is a store that the test closes.
type database interface {
	parley.Store
	CheckDeep(context.Context, func(parley.CheckReport)) (parley.CheckReport, error)
	Close() error
	DriveLeases(now func() int64)
}

// kind is a kind of store: where a new one is, and how it is opened.
type kind struct {
	Name     string
	checks   int // of each property, unless the command line says
	NewPlace func(testing.TB) string
	Open     func(place string) (database, error)
	// spoil changes the body of an artifact from outside; nil removes it.
	SpoilBlob func(place, sha256 string, content []byte) error
	// holds are the files or tables of a closed store that have a word in them.
	Containing func(place, word string) ([]string, error)
	// tamper runs a statement on a closed store from outside.
	Tamper func(place, statement string) error
}

// stores is the kind that tests run on. All tests run on each.
var stores kind

var kinds = []kind{
	{"SQLite", 8, newHome, func(home string) (database, error) { return sqlite.Open(ctx, home) }, spoilFile, filesWith, tamperFile},
	{"PostgreSQL", 4, migrated.Copy, func(url string) (database, error) { return postgres.Open(ctx, url) }, spoilRow, tablesWith, tamperDatabase},
}

// newHome is a home with all tables and no rows. Making them takes longer than most tests.
func newHome(t testing.TB) string {
	t.Helper()
	file, err := emptyFile()
	if err != nil {
		t.Fatal(err)
	}
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, "parley.db"), file, 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

var emptyFile = sync.OnceValues(func() ([]byte, error) {
	home, err := os.MkdirTemp("", "parley-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(home) }()
	db, err := sqlite.Open(ctx, home)
	if err != nil {
		return nil, err
	}
	if err := db.Close(); err != nil {
		return nil, err
	}
	return os.ReadFile(filepath.Join(home, "parley.db"))
})

// migrated is a database with all tables and no rows.
var migrated = &pgtest.Template{Make: func(url string) error {
	db, err := postgres.Open(ctx, url)
	if err != nil {
		return err
	}
	return db.Close()
}}

func spoilFile(home, sha256 string, content []byte) error {
	path := filepath.Join(home, "artifacts", sha256[:2], sha256)
	if content == nil {
		return os.Remove(path)
	}
	return os.WriteFile(path, content, 0o600)
}

func spoilRow(url, sha256 string, content []byte) error {
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	query, args := "UPDATE artifact_chunks SET data = $2 WHERE encode(sha256, 'hex') = $1", []any{sha256, content}
	if content == nil {
		query, args = "DELETE FROM artifact_chunks WHERE encode(sha256, 'hex') = $1", []any{sha256}
	}
	_, err = c.Exec(ctx, query, args...)
	return errors.Join(err, c.Close(ctx))
}

func tamperFile(home, statement string) error {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(home, "parley.db")+"?_pragma=busy_timeout(10000)")
	if err != nil {
		return err
	}
	_, err = db.ExecContext(ctx, statement)
	return errors.Join(err, db.Close())
}

func tamperDatabase(url, statement string) error {
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, statement)
	return errors.Join(err, c.Close(ctx))
}

func filesWith(home, word string) (found []string, err error) {
	err = filepath.WalkDir(home, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(word)) {
			found = append(found, entry.Name())
		}
		return err
	})
	return found, err
}

// tablesWith looks at rows as text, in which bytes are hexadecimal digits.
func tablesWith(url, word string) (found []string, err error) {
	c, err := pgx.Connect(ctx, url)
	if err != nil {
		return nil, err
	}
	rows, err := c.Query(ctx, "SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")
	if err != nil {
		return nil, errors.Join(err, c.Close(ctx))
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	for _, table := range tables {
		var n int
		if err == nil {
			err = c.QueryRow(ctx, "SELECT count(*) FROM "+pgx.Identifier{table}.Sanitize()+" t WHERE t::text LIKE $1 OR t::text LIKE $2",
				"%"+word+"%", "%"+hex.EncodeToString([]byte(word))+"%").Scan(&n)
		}
		if n > 0 {
			found = append(found, table)
		}
	}
	return found, errors.Join(err, c.Close(ctx))
}

// wanted are the stores to test on: all, or with the race detector PostgreSQL alone. SQLite is in this process, and ten
// times slower with it. PARLEY_STORES says otherwise.
func wanted() []string {
	switch named := os.Getenv("PARLEY_STORES"); {
	case named != "":
		return strings.Split(named, ",")
	case raced:
		return []string{"PostgreSQL"}
	default:
		return []string{"SQLite", "PostgreSQL"}
	}
}

// TestMain keeps the properties short unless the command line asks for more, and fails when
// something goes on running after the tests.
func TestMain(m *testing.M) {
	flag.Parse()
	given := map[string]bool{}
	flag.Visit(func(f *flag.Flag) { given[f.Name] = true })
	code := 0
	for _, stores = range kinds {
		if !slices.Contains(wanted(), stores.Name) {
			continue
		}
		fmt.Println("on", stores.Name)
		for name, value := range map[string]string{
			"rapid.checks": fmt.Sprint(stores.checks), "rapid.steps": "50", "rapid.nofailfile": "true",
		} {
			if given[name] {
				continue
			}
			if err := flag.Set(name, value); err != nil {
				panic(err)
			}
		}
		code = max(code, m.Run())
	}
	migrated.Drop()
	if err := goleak.Find(); code == 0 && err != nil {
		_, _ = os.Stderr.WriteString(err.Error() + "\n")
		code = 1
	}
	os.Exit(code)
}
