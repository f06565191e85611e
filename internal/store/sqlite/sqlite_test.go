package sqlite

import (
	"bytes"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store/storetest"
)

func TestConformance(t *testing.T) {
	storetest.Run(t, func(t *testing.T) storage.Store { return opened(t, madeHomes(t).empty.in(t)) })
}

// opened opens a home and closes it when the test has ended.
func opened(t *testing.T, home string) *DB {
	t.Helper()
	db, err := Open(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { closed(t, db) })
	return db
}

func closed(t *testing.T, db *DB) {
	t.Helper()
	if err := db.Close(); err != nil {
		t.Errorf("closing: %v", err)
	}
}

// deep is what a check of everything finds.
func deep(t *testing.T, db *DB) error {
	t.Helper()
	report, err := db.CheckDeep(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	return report.Err()
}

// written posts messages and returns their ids.
func written(t *testing.T, db *DB, n int) (ids []string) {
	t.Helper()
	c, err := prepare(db)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		id, err := post(db, c, fmt.Sprintf("message %d of %d", i, n))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return ids
}

// filled is a home with ten messages that was closed in an orderly way.
func filled(t *testing.T) (home string, ids []string) {
	t.Helper()
	made := madeHomes(t)
	return made.closed.in(t), slices.Clone(made.ids)
}

// crashed is the same home as a killed hub leaves it.
func crashed(t *testing.T) (home string, ids []string) {
	t.Helper()
	made := madeHomes(t)
	return made.live.in(t), slices.Clone(made.ids)
}

// holds requires that a store has exactly these messages, all of them intact.
func holds(t *testing.T, db *DB, ids []string) {
	t.Helper()
	err := db.View(t.Context(), func(tx storage.Tx) error {
		list, err := tx.Messages().Scan(0, 1000)
		if err != nil {
			return err
		}
		if len(list) != len(ids) {
			t.Errorf("%d messages, want %d", len(list), len(ids))
		}
		for i, m := range list[:min(len(list), len(ids))] {
			if m.ID != ids[i] || !m.Intact() {
				t.Errorf("message %d is %s, want %s; intact: %t", i, m.ID, ids[i], m.Intact())
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// refuses requires that a home cannot be opened, for a reason that contains all these words.
func refuses(t *testing.T, home string, words ...string) {
	t.Helper()
	db, err := Open(t.Context(), home)
	if err == nil {
		closed(t, db)
		t.Fatal("it was opened")
	}
	says(t, err, words...)
}

// says requires an error with a code, these words, and something to do about it.
func says(t *testing.T, err error, words ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
	if e := parley.AsError(err); e.Suggestion == "" {
		t.Errorf("%q suggests nothing", err)
	}
}

// raw runs statements on a closed home's file, from outside.
func raw(t *testing.T, home string, statements ...string) {
	t.Helper()
	err := withDB(filepath.Join(home, "parley.db"), func(db *sql.DB) error {
		for _, statement := range statements {
			if _, err := db.Exec(statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// change rewrites a file of a home.
func change(t *testing.T, home, name string, edit func([]byte) []byte) {
	t.Helper()
	path := filepath.Join(home, name)
	before, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	after := edit(bytes.Clone(before))
	if bytes.Equal(before, after) {
		t.Fatalf("%s was not changed", name)
	}
	if err := os.WriteFile(path, after, 0o600); err != nil {
		t.Fatal(err)
	}
}

// cut shortens a file.
func cut(to func(size int) int) func([]byte) []byte {
	return func(raw []byte) []byte { return raw[:to(len(raw))] }
}

// flip turns the bits of n bytes over.
func flip(at, n int) func([]byte) []byte {
	return func(raw []byte) []byte {
		for i := range n {
			raw[at+i] ^= 0xff
		}
		return raw
	}
}
