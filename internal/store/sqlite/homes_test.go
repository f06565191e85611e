package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// files are the files of a home, by name.
type files map[string][]byte

// homes are made once and copied for each test, because making one is slow.
type homes struct {
	empty  files    // migrated and closed
	live   files    // with messages, taken while it was open
	closed files    // the same after it was closed
	ids    []string // of the messages
}

func madeHomes(t *testing.T) homes {
	t.Helper()
	made, err := makeHomes()
	if err != nil {
		t.Fatal(err)
	}
	return made
}

var makeHomes = sync.OnceValues(func() (made homes, err error) {
	home, err := os.MkdirTemp("", "parley-home")
	if err != nil {
		return made, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(home)) }()
	db, err := Open(context.Background(), home)
	if err != nil {
		return made, err
	}
	if err := db.Close(); err != nil {
		return made, err
	}
	if made.empty, err = filesOf(home); err != nil {
		return made, err
	}
	if db, err = Open(context.Background(), home); err != nil {
		return made, err
	}
	if made.ids, err = postTen(db); err == nil {
		made.live, err = filesOf(home)
	}
	if err := errors.Join(err, db.Close()); err != nil {
		return made, err
	}
	made.closed, err = filesOf(home)
	return made, err
})

func postTen(db *DB) (ids []string, err error) {
	c, err := prepare(db)
	for i := 0; i < 10 && err == nil; i++ {
		var id string
		id, err = post(db, c, fmt.Sprintf("message %d of 10", i))
		ids = append(ids, id)
	}
	return ids, err
}

// filesOf copies the files of a home. The index of the write-ahead log is left out: it is made anew.
func filesOf(home string) (files, error) {
	found := files{}
	list, err := os.ReadDir(home)
	for _, entry := range list {
		if err != nil || entry.Name() == "parley.db-shm" || entry.IsDir() {
			continue
		}
		found[entry.Name()], err = os.ReadFile(filepath.Join(home, entry.Name()))
	}
	return found, err
}

// in writes the files into a new home.
func (f files) in(t *testing.T) string {
	t.Helper()
	home := t.TempDir()
	for name, content := range f {
		if err := os.WriteFile(filepath.Join(home, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return home
}
