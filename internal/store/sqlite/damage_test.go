package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

const pageSize = 4096

func TestDamagedHeaderIsRefused(t *testing.T) {
	for name, home := range map[string]func(*testing.T) (string, []string){"closed": filled, "crashed": crashed} {
		t.Run(name, func(t *testing.T) {
			for words, edit := range map[string]func([]byte) []byte{
				"its header does not say that it is a database": flip(3, 1),
				"impossible page size":                          flip(16, 2),
				"shorter than its header":                       cut(func(int) int { return 50 }),
			} {
				home, _ := home(t)
				change(t, home, "parley.db", edit)
				refuses(t, home, "E006", filepath.Join(home, "parley.db"), "is damaged", words, "restore the newest backup")
			}
		})
	}
}

func TestTruncatedDatabaseIsRefused(t *testing.T) {
	for name, to := range map[string]func(int) int{
		"a page":      func(size int) int { return size - pageSize },
		"half a page": func(size int) int { return size - pageSize/2 },
		"most":        func(int) int { return 2 * pageSize },
	} {
		t.Run(name, func(t *testing.T) {
			home, _ := filled(t)
			change(t, home, "parley.db", cut(to))
			refuses(t, home, "is damaged", "bytes, but its header says")
		})
	}
}

func TestTruncatedDatabaseWithAWriteAheadLogIsFound(t *testing.T) {
	for name, to := range map[string]func(int) int{
		"half": func(size int) int { return size / 2 / pageSize * pageSize },
		"most": func(int) int { return 2 * pageSize },
	} {
		t.Run(name, func(t *testing.T) {
			home, _ := crashed(t)
			change(t, home, "parley.db", cut(to))
			db, err := Open(t.Context(), home)
			if err == nil { // then the check behind the start finds it
				err = db.Checked(t.Context())
				closed(t, db)
			}
			says(t, err, "is damaged")
		})
	}
}

func TestEmptiedOrMissingDatabaseIsRefused(t *testing.T) {
	for name, lose := range map[string]func(string) error{
		"emptied": func(path string) error { return os.Truncate(path, 0) }, "missing": os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			home, _ := filled(t)
			if err := lose(filepath.Join(home, "parley.db")); err != nil {
				t.Fatal(err)
			}
			refuses(t, home, "is damaged", "missing or empty, but 10 changes were acknowledged", "parley.mark")
			if found, err := exists(filepath.Join(home, "parley.db")); err != nil || found {
				t.Errorf("a new one was put in its place: %v", err)
			}
			home, _ = crashed(t)
			if err := lose(filepath.Join(home, "parley.db")); err != nil {
				t.Fatal(err)
			}
			refuses(t, home, "is damaged", "missing or empty, but its write-ahead log exists")
		})
	}
}

func TestForeignDatabaseIsRefusedAndNotTouched(t *testing.T) {
	for name, statements := range map[string][]string{
		"plain":      {"PRAGMA journal_mode = DELETE", "CREATE TABLE theirs (n INTEGER)"},
		"in WAL":     {"PRAGMA journal_mode = WAL", "CREATE TABLE theirs (n INTEGER)"},
		"with an id": {"PRAGMA application_id = 77", "PRAGMA journal_mode = WAL", "CREATE TABLE theirs (n INTEGER)"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			path := filepath.Join(home, "parley.db")
			db := foreignDB(t, path, statements)
			if err := db.Close(); err != nil {
				t.Fatal(err)
			}
			before, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			refuses(t, home, "E003", path+" is a database of another program", "another home")
			if after, err := os.ReadFile(path); err != nil || !bytes.Equal(before, after) {
				t.Errorf("it was changed: %v", err)
			}
		})
	}
}

// foreignDB makes a database of another program and leaves it open.
func foreignDB(t *testing.T, path string, statements []string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, statement := range statements {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	return db
}

// With a write-ahead log the header of the file says nothing yet.
func TestForeignDatabaseThatCrashedIsRefused(t *testing.T) {
	live, home := filepath.Join(t.TempDir(), "live.db"), t.TempDir()
	db := foreignDB(t, live, []string{"PRAGMA journal_mode = WAL", "CREATE TABLE theirs (n INTEGER)", "INSERT INTO theirs VALUES (1)"})
	for _, suffix := range []string{"", "-wal"} {
		raw, err := os.ReadFile(live + suffix)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(home, "parley.db"+suffix), raw, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	refuses(t, home, "E003", "is a database of another program")
	path := filepath.Join(home, "parley.db")
	if theirs, goose := table(t, path, "theirs"), table(t, path, "goose_db_version"); theirs != 1 || goose != -1 {
		t.Errorf("their rows: %d, our versions: %d", theirs, goose)
	}
}

func TestCrashedHomeComesBackByItself(t *testing.T) {
	home, ids := crashed(t)
	db := opened(t, home)
	if err := db.Checked(t.Context()); err != nil {
		t.Errorf("the check behind: %v", err)
	}
	holds(t, db, ids)
	more := written(t, db, 2)
	closed(t, db)
	if _, err := os.Stat(filepath.Join(home, "parley.unchecked")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the check went through and is still due: %v", err)
	}
	holds(t, opened(t, home), append(ids, more...))
}

// What is lost with a write-ahead log was acknowledged: the mark beside the database knows.
func TestLostWriteAheadLogIsNamed(t *testing.T) {
	for name, lose := range map[string]func(*testing.T, string){
		"missing": func(t *testing.T, home string) {
			if err := os.Remove(filepath.Join(home, "parley.db-wal")); err != nil {
				t.Fatal(err)
			}
		},
		"emptied": func(t *testing.T, home string) { change(t, home, "parley.db-wal", cut(func(int) int { return 0 })) },
		"cut": func(t *testing.T, home string) {
			change(t, home, "parley.db-wal", cut(func(n int) int { return n / 2 }))
		},
		"cut a little": func(t *testing.T, home string) {
			change(t, home, "parley.db-wal", cut(func(n int) int { return n - 10 }))
		},
		"damaged": func(t *testing.T, home string) {
			change(t, home, "parley.db-wal", func(raw []byte) []byte { return flip(len(raw)/2, 8)(raw) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			home, ids := crashed(t)
			wal, err := os.ReadFile(filepath.Join(home, "parley.db-wal"))
			if err != nil {
				t.Fatal(err)
			}
			lose(t, home)
			for range 2 { // asking again changes nothing
				refuses(t, home, "is damaged", "but 10 was acknowledged", filepath.Join(home, "parley.db-wal")+" is missing or cut",
					"delete "+filepath.Join(home, "parley.mark")+" and "+filepath.Join(home, "parley.head"))
			}
			// Putting it back, as the sentence says, brings everything back.
			if err := os.WriteFile(filepath.Join(home, "parley.db-wal"), wal, 0o600); err != nil {
				t.Fatal(err)
			}
			db := opened(t, home)
			holds(t, db, ids)
			if err := db.Checked(t.Context()); err != nil {
				t.Errorf("the check behind: %v", err)
			}
		})
	}
}

func TestWithoutItsMarkAShortenedDatabaseGoesOn(t *testing.T) {
	home, _ := crashed(t)
	for _, name := range []string{"parley.db-wal", "parley.mark", "parley.head"} {
		if err := os.Remove(filepath.Join(home, name)); err != nil {
			t.Fatal(err)
		}
	}
	db := opened(t, home)
	holds(t, db, written(t, db, 1))
}

// The head is kept in two places: losing one of them with the write-ahead log is noticed.
func TestLogAndOneMarkDeletedTogetherAreNamed(t *testing.T) {
	for _, lost := range markNames {
		home, _ := crashed(t)
		for _, name := range []string{"parley.db-wal", lost} {
			if err := os.Remove(filepath.Join(home, name)); err != nil {
				t.Fatal(err)
			}
		}
		refuses(t, home, "is damaged", "but 10 was acknowledged")
	}
}

func TestMarkFollowsEachCommit(t *testing.T) {
	home := t.TempDir()
	db := opened(t, home)
	for i := range 12 {
		written(t, db, 1)
		text, err := os.ReadFile(filepath.Join(home, "parley.mark"))
		if err != nil {
			t.Fatal(err)
		}
		if n, err := strconv.Atoi(string(bytes.TrimSpace(text))); err != nil || n != i+1 {
			t.Fatalf("after %d messages the mark says %q", i+1, text)
		}
	}
}

func TestTornMarkSaysNothing(t *testing.T) {
	for _, text := range []string{"", "\x00\x00\x00\x00", "garbage", "0000000000000"} {
		home, ids := filled(t)
		for _, name := range markNames {
			writeFile(t, filepath.Join(home, name), []byte(text))
		}
		db := opened(t, home)
		holds(t, db, ids)
	}
}

// breakPage damages the first page of a table that starting does not read.
func breakPage(t *testing.T, home, name string) {
	t.Helper()
	var root int
	path := filepath.Join(home, "parley.db")
	file, err := sql.Open("sqlite", "file:"+path+"?mode=ro&immutable=1")
	if err != nil {
		t.Fatal(err)
	}
	if err := file.QueryRow("SELECT rootpage FROM sqlite_schema WHERE name = ?", name).Scan(&root); err != nil {
		t.Fatal(err)
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	change(t, home, "parley.db", flip((root-1)*pageSize, 16))
}

func TestDamageFoundBehindTheStartStopsUpdates(t *testing.T) {
	home, ids := crashed(t)
	breakPage(t, home, "audit")
	for range 2 { // an orderly restart does not make it good
		db := opened(t, home)
		found := db.Checked(t.Context())
		says(t, found, "E006", filepath.Join(home, "parley.db"), "is damaged", "restore the newest backup")
		if _, err := post(db, parley.Conversation{}, "hello"); err == nil || err.Error() != found.Error() {
			t.Errorf("an update was told %v, want %v", err, found)
		}
		holds(t, db, ids)
		closed(t, db)
	}
}

// Once damage has been found, no restart takes updates before a check has gone through.
func TestDamageOnceFoundStopsUpdatesFromTheStart(t *testing.T) {
	home, _ := crashed(t)
	breakPage(t, home, "audit")
	db := opened(t, home)
	found := db.Checked(t.Context())
	closed(t, db)
	db, err := Open(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := post(db, parley.Conversation{}, "hello"); err == nil || err.Error() != found.Error() {
		t.Errorf("before the check, an update was told %v, want %v", err, found)
	}
	closed(t, db)
	breakPage(t, home, "audit") // which mends it: the same bits again
	db = opened(t, home)
	if err := db.Checked(t.Context()); err != nil {
		t.Fatal(err)
	}
	written(t, db, 1)
}

// What is left of a cut log must still be there for whoever is told to put the rest back.
func TestCutLogIsLeftAsItIs(t *testing.T) {
	home, _ := crashed(t)
	change(t, home, "parley.db-wal", cut(func(n int) int { return n / 2 }))
	before, err := filesOf(home)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		refuses(t, home, "is damaged", "write-ahead log")
	}
	after, err := filesOf(home)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"parley.db", "parley.db-wal", "parley.mark", "parley.head"} {
		if !bytes.Equal(before[name], after[name]) {
			t.Errorf("%s was changed", name)
		}
	}
}

func TestOrderlyStopNeedsNoCheck(t *testing.T) {
	home, ids := filled(t)
	breakPage(t, home, "audit")
	db := opened(t, home)
	if err := db.Checked(t.Context()); err != nil {
		t.Errorf("it was checked: %v", err)
	}
	holds(t, db, append(ids, written(t, db, 1)...))
	says(t, deep(t, db), "is damaged") // which is there for this
}

func TestCheckThatWasInterruptedIsMadeAtTheNextStart(t *testing.T) {
	home, _ := crashed(t)
	breakPage(t, home, "audit")
	db := opened(t, home)
	closed(t, db) // perhaps during the check, perhaps after it
	says(t, opened(t, home).Checked(t.Context()), "is damaged")
}

func TestCheckedWaitsNoLongerThanItsContext(t *testing.T) {
	db := &DB{checkDone: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := db.Checked(ctx); err == nil {
		t.Error("it did not wait")
	}
}

func TestDeepCheckFindsReferencesToNothing(t *testing.T) {
	home, _ := filled(t)
	raw(t, home, "PRAGMA foreign_keys = 0", `INSERT INTO deliveries
		(message, agent, state, waking, purpose, rank, place, pair_seq, attempt, accepted_at, marks) VALUES (999, 999, 'accepted', 0, '', 5, 999, 1, 0, 0, 0)`)
	says(t, deep(t, opened(t, home)), "is damaged", "deliveries")
}

func TestFlippedBytesInAMessageAreFoundByItsChecksum(t *testing.T) {
	home, ids := filled(t)
	for i := range 3 {
		change(t, home, "parley.db", func(raw []byte) []byte {
			at := bytes.Index(raw, fmt.Appendf(nil, "message %d of 10", i))
			if at < 0 {
				t.Fatal("the text is not in the file")
			}
			raw[at+2+i] ^= 0x01
			return raw
		})
	}
	db := opened(t, home)
	err := db.View(t.Context(), func(tx storage.Tx) error {
		for i, id := range ids {
			m, err := tx.Messages().Get(id)
			if err != nil {
				return err
			}
			if m.Intact() != (i >= 3) {
				t.Errorf("message %d (%q) is intact: %t", i, m.Content.Text, m.Intact())
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
