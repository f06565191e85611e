package hubtest

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/jackc/pgx/v5"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/pgtest"
	"github.com/parley-hub/parley/internal/store/postgres"
	"github.com/parley-hub/parley/internal/store/sqlite"
)

// Store is a store that a test closes, and whose lease clock the test can drive.
type Store interface {
	storage.Store
	CheckDeep(context.Context, func(parley.CheckReport)) (parley.CheckReport, error)
	Close() error
	SetLeaseClock(now func() int64)
}

// StoreKind is a kind of store.
type StoreKind struct {
	Name string
	// NewPlace makes a place for a store: a home, or the URL of a database. It has all tables and no rows.
	NewPlace func(testing.TB) string
	// Open opens the store at a place.
	Open func(place string) (Store, error)
	// SpoilBlob changes the body of an artifact from outside; nil removes it.
	SpoilBlob func(place, sha256 string, content []byte) error
	// Containing returns the files or tables of a closed store that contain a word.
	Containing func(place, word string) ([]string, error)
	// Tamper runs a statement on a closed store from outside.
	Tamper func(place, statement string) error
}

// The kinds of store.
var (
	SQLite = StoreKind{
		"SQLite", newHome, func(home string) (Store, error) { return sqlite.Open(ctx, home) }, spoilFile, filesWith, tamperFile,
	}
	PostgreSQL = StoreKind{
		"PostgreSQL", migrated.Copy, func(url string) (Store, error) { return postgres.Open(ctx, url) }, spoilRow, tablesWith, tamperDatabase,
	}
)

// StoreKinds are all kinds of store.
var StoreKinds = []StoreKind{SQLite, PostgreSQL}

// DropTemplates removes the databases that new places are copied from. Call it after the last test.
func DropTemplates() { migrated.Drop() }

// newHome returns a home with all tables and no rows. It copies a prepared file, because making the tables takes longer than most
// tests.
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

// migrated is the template of a database with all tables and no rows.
var migrated = &pgtest.Template{Reuse: true, Make: func(url string) error {
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

// tablesWith returns the tables with a row whose text contains a word. In the text of a row, bytes are hexadecimal digits.
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
