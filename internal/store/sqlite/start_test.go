//go:build unix

package sqlite

import (
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/parley-hub/parley"
)

// A stop while a new or restored file is switched to a write-ahead log leaves a journal to roll back.
func TestStopWhileSwitchingToALogIsGotOver(t *testing.T) {
	home, ids := filled(t)
	path := filepath.Join(home, "parley.db")
	raw(t, home, "PRAGMA journal_mode = DELETE")
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=cache_size(1)&_pragma=locking_mode(exclusive)")
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	// A transaction too large for the cache is half in the file, with what was there in the journal.
	for _, statement := range []string{"BEGIN IMMEDIATE", "UPDATE messages SET text = printf('%.*c', 40000, 'x')"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	left, err := filesOf(home)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	if len(left["parley.db-journal"]) == 0 {
		t.Fatal("there is no journal: the test shows nothing")
	}
	holds(t, opened(t, left.in(t)), ids)
}

// A kill while the very first page is written leaves an empty file and a journal that has nothing to roll
// back. Nothing was ever acknowledged there: it is a new home.
func TestStopWhileTheFirstPageIsWrittenIsGotOver(t *testing.T) {
	left := files{"parley.db": nil, "parley.db-journal": firstJournal(t), "parley.lock": nil}
	db := opened(t, left.in(t))
	if err := db.Checked(t.Context()); err != nil {
		t.Error(err)
	}
	holds(t, db, written(t, db, 2))

	left["parley.mark"] = fmt.Appendf(nil, "%020d\n", 10)
	refuses(t, left.in(t), "is damaged", "missing or empty, but 10 changes were acknowledged")
	delete(left, "parley.mark")
	left["parley.db-wal"] = []byte("a log")
	refuses(t, left.in(t), "is damaged", "missing or empty, but its write-ahead log exists")
}

// firstJournal is what lies beside a database whose first transaction has not written its first page.
func firstJournal(t *testing.T) []byte {
	t.Helper()
	home := t.TempDir()
	db, err := sql.Open("sqlite", filepath.Join(home, "parley.db"))
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	for _, statement := range []string{"BEGIN IMMEDIATE", "CREATE TABLE meta (n INTEGER)"} {
		if _, err := db.Exec(statement); err != nil {
			t.Fatal(err)
		}
	}
	left, err := filesOf(home)
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if len(left["parley.db"]) > 0 || len(left["parley.db-journal"]) == 0 {
		t.Fatalf("the file has %d bytes, the journal %d: the test shows nothing", len(left["parley.db"]), len(left["parley.db-journal"]))
	}
	return left["parley.db-journal"]
}

func TestHomeBelowOneThatCannotBeListed(t *testing.T) {
	parent := t.TempDir()
	home := filepath.Join(parent, "a", "b", "home")
	closed(t, opened(t, home))
	if err := os.Chmod(filepath.Dir(home), 0o111); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Dir(home), 0o700) })
	if err := makeHome(home); err != nil {
		t.Errorf("an existing home: %v", err)
	}
}

// Without a descriptor left, Open says so, and leaves nothing open and nothing locked.
func TestOpenWithoutDescriptorsLeavesNothingBehind(t *testing.T) {
	home, ids := filled(t)
	var before syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for spare := range uint64(40) {
		few := before
		few.Cur = limitLeaving(t, spare)
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &few); err != nil {
			t.Fatal(err)
		}
		db, err := Open(t.Context(), home)
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &before); err != nil {
			t.Fatal(err)
		}
		if err != nil {
			failed++
			if parley.AsError(err).Reason == parley.Conflict {
				t.Fatalf("with %d descriptors: the lock was kept: %v", spare, err)
			}
			continue
		}
		closed(t, db)
	}
	if failed == 0 {
		t.Error("it never failed: the test shows nothing")
	}
	holds(t, opened(t, home), ids)
}

// limitLeaving is the limit under which exactly so many descriptors are free, whatever this process has inherited.
func limitLeaving(t *testing.T, spare uint64) uint64 {
	t.Helper()
	used := map[uint64]bool{}
	for fd := range uint64(4096) {
		var stat syscall.Stat_t
		used[fd] = !errors.Is(syscall.Fstat(int(fd), &stat), syscall.EBADF)
	}
	limit := uint64(0)
	for ; spare > 0 || used[limit]; limit++ {
		if !used[limit] {
			spare--
		}
	}
	return limit
}

// A mark that cannot be read is said, and the home can be opened once it can.
func TestOpenWithAMarkThatCannotBeRead(t *testing.T) {
	for _, name := range markNames {
		t.Run(name, func(t *testing.T) {
			home, ids := filled(t)
			path := filepath.Join(home, name)
			if err := errors.Join(os.Remove(path), os.Mkdir(path, 0o700)); err != nil {
				t.Fatal(err)
			}
			if _, err := Open(t.Context(), home); err == nil || !strings.Contains(err.Error(), path) {
				t.Errorf("Open said %v", err)
			}
			if err := os.Remove(path); err != nil {
				t.Fatal(err)
			}
			holds(t, opened(t, home), ids)
		})
	}
}

// A check that could not be made says nothing of the file.
func TestCheckThatCannotBeMadeIsNoDamage(t *testing.T) {
	home, _ := crashed(t)
	db := opened(t, home)
	if err := db.Checked(t.Context()); err != nil {
		t.Fatal(err)
	}
	db.checkDone = make(chan struct{})
	db.path = filepath.Join(home, "nothing-there.db")
	db.checkInBackground(t.Context())
	if err := db.checkErr; err == nil || errors.Is(err, errDamaged) {
		t.Errorf("the check said %v", err)
	}
	written(t, db, 1) // and updates are taken
}

func TestBackupOfEachSchemaIsKept(t *testing.T) {
	home, ids := filled(t)
	err := withDB(filepath.Join(home, "parley.db"), func(db *sql.DB) error {
		dir := filepath.Join(home, "backups")
		if err := backUpBeforeMigration(t.Context(), db, dir, 1, 3); err != nil {
			return err
		}
		if _, err := db.Exec("DROP TABLE audit"); err != nil {
			return err
		}
		return backUpBeforeMigration(t.Context(), db, dir, 2, 3)
	})
	if err != nil {
		t.Fatal(err)
	}
	first := filepath.Join(home, "backups", "schema-1-before-3.db")
	if table(t, first, "audit") < 0 || table(t, first, "messages") != len(ids) {
		t.Error("what was there first is not in its backup")
	}
	if names := backupsOf(t, home); len(names) != 2 || strings.Contains(strings.Join(names, " "), ".tmp") {
		t.Errorf("backups: %v", names)
	}
}
