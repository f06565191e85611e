package store

import (
	"database/sql"
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
	"github.com/parley-hub/parley/internal/store/groupcommit/committest"
)

// fixture is a store with the updates that were handed to it. Each update stores its label as an event.
type fixture struct {
	*committest.Fixture[storage.Tx]
	driver *testDriver
	store  *Store
	closed bool
}

// withStore runs a test in a bubble and requires at its end that exactly the acknowledged updates are stored.
func withStore(t *testing.T, act func(*fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		driver := openDriver(t, filepath.Join(t.TempDir(), "test.db"))
		driver.createSchema(t)
		store := New(driver)
		f := &fixture{driver: driver, store: store, Fixture: committest.New(t, driver.writer, committest.Target[storage.Tx]{
			Update: store.Update,
			Write: func(tx storage.Tx, label string) error {
				return tx.Log().Append(parley.Event{Kind: parley.EventKind(label)})
			},
			Writes: "INSERT INTO events",
		})}
		defer f.close() // also if act fails
		act(f)
		f.WG.Wait()
		f.close()
		stored, err := storedLabels(driver.path)
		if err != nil {
			t.Fatal(err)
		}
		f.Verify(stored)
	})
}

func (f *fixture) close() {
	if f.closed {
		return
	}
	f.closed = true
	if err := f.store.Close(); err != nil {
		f.Errorf("closing: %v", err)
	}
}

// storedLabels opens the file anew and returns the kinds of its events, whose numbers must have no gaps.
func storedLabels(path string) (labels []string, err error) {
	db, err := sql.Open("sqlite", path)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	rows, err := db.Query("SELECT num, kind FROM events ORDER BY num")
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var num int
		var label string
		if err := rows.Scan(&num, &label); err != nil {
			return nil, err
		}
		labels = append(labels, label)
		if num != len(labels) {
			return nil, fmt.Errorf("%s has the number %d, want %d", label, num, len(labels))
		}
	}
	return labels, rows.Err()
}
