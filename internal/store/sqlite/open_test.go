package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"zombiezen.com/go/sqlite"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store"
)

func TestFreshHome(t *testing.T) {
	home := filepath.Join(t.TempDir(), "deep", "home")
	db := opened(t, home)
	written(t, db, 1)
	mode(t, home, 0o700)
	for _, name := range []string{"parley.db", "parley.db-wal", "parley.lock", "parley.mark", "parley.head"} {
		mode(t, filepath.Join(home, name), 0o600)
	}
	if _, err := os.Stat(filepath.Join(home, "backups")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a fresh home has backups: %v", err)
	}
	if err := deep(t, db); err != nil {
		t.Errorf("checking: %v", err)
	}
}

func mode(t *testing.T, path string, want os.FileMode) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := info.Mode().Perm(); got != want {
		t.Errorf("%s has the mode %o, want %o", path, got, want)
	}
}

func TestHomeWithOddCharactersInItsName(t *testing.T) {
	home := filepath.Join(t.TempDir(), "a home?mode=ro#50% ü")
	db := opened(t, home)
	ids := written(t, db, 2)
	closed(t, db)
	if _, err := os.Stat(filepath.Join(home, "parley.db")); err != nil {
		t.Error(err)
	}
	holds(t, opened(t, home), ids)
}

func TestCloseLeavesEverythingInOneFile(t *testing.T) {
	home, ids := filled(t)
	files, err := os.ReadDir(home)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, file := range files {
		names = append(names, file.Name())
	}
	if want := []string{"parley.db", "parley.head", "parley.lock", "parley.mark"}; !slices.Equal(names, want) {
		t.Errorf("it left %v, want %v", names, want)
	}
	if holder, err := os.ReadFile(filepath.Join(home, "parley.lock")); err != nil || len(holder) > 0 {
		t.Errorf("the lock still names %q: %v", holder, err)
	}
	db := opened(t, home)
	holds(t, db, ids)
	select {
	case <-db.checkDone:
	default:
		t.Error("a check runs after an orderly stop")
	}
	more := written(t, db, 1)
	holds(t, db, append(ids, more...))
}

// The number drawn last is known by the row that has it. It must not be drawn again once that row
// is erased, and its absence is no damage.
func TestNumbersGoOnAfterTheNewestRowsAreErased(t *testing.T) {
	home, _ := filled(t)
	db := opened(t, home)
	err := db.Update(t.Context(), func(tx storage.Tx) error {
		c, err := tx.Conversations().Find("general")
		if err != nil {
			return err
		}
		if err := tx.Conversations().Delete(c.ID); err != nil {
			return err
		}
		_, err = tx.Conversations().Purge(1000)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	closed(t, db)
	err = opened(t, home).View(t.Context(), func(tx storage.Tx) error {
		list, err := tx.Messages().Scan(0, 100)
		if err != nil {
			return err
		}
		next, err := tx.Messages().NextSeq()
		if len(list) > 0 || next != 11 {
			t.Errorf("%d messages are left and the next has the number %d, want 11", len(list), next)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

func TestEveryConnectionWaitsForTheDisk(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	if err := createFile(path); err != nil {
		t.Fatal(err)
	}
	c, err := newConn(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.close() }()
	for pragma, want := range map[string]string{
		"journal_mode": "wal", "synchronous": "2", "foreign_keys": "1", "fullfsync": "1", "checkpoint_fullfsync": "1",
	} {
		var got string
		rows, err := c.Query("PRAGMA " + pragma)
		if err != nil {
			t.Fatal(err)
		}
		if rows.Next() {
			err = rows.Scan(&got)
		}
		rows.Close()
		if err != nil || got != want {
			t.Errorf("%s is %q, want %q: %v", pragma, got, want, err)
		}
	}
}

func TestHomeThatCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refuses(t, filepath.Join(file, "home"), "E002", "cannot create the home")
}

func TestCancelledOpenLetsTheHomeGo(t *testing.T) {
	home := t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if db, err := Open(ctx, home); err == nil {
		closed(t, db)
		t.Fatal("it was opened")
	}
	opened(t, home)
}

func TestHomeOnANetworkFileSystemIsRefused(t *testing.T) {
	real := fileSystemOf
	t.Cleanup(func() { fileSystemOf = real })
	home := t.TempDir()
	var asked string
	fileSystemOf = func(path string) (string, error) {
		asked = path
		return "nfs", nil
	}
	refuses(t, home, "E002", home, "network file system (nfs)", "local disk")
	if asked != home {
		t.Errorf("asked about %s", asked)
	}
	if files, err := os.ReadDir(home); err != nil || len(files) > 0 {
		t.Errorf("something was made there: %v %v", files, err)
	}
	fileSystemOf = func(string) (string, error) { return "", errors.New("cannot look") }
	if _, err := Open(t.Context(), home); err == nil || !strings.Contains(err.Error(), "cannot look") {
		t.Errorf("got %v", err)
	}
}

func TestHomeInUseNamesItsHolder(t *testing.T) {
	home := t.TempDir()
	first := opened(t, home)
	host, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for range 2 { // being refused does not take the name away
		_, err := Open(t.Context(), home)
		says(t, err, "E002", home, fmt.Sprintf("in use by process %d on %s since ", os.Getpid(), host))
		if parley.AsError(err).Reason != parley.Conflict {
			t.Errorf("the reason is %q", parley.AsError(err).Reason)
		}
	}
	written(t, first, 1)
	closed(t, first)
	opened(t, home)
}

// A killed hub leaves its name in the lock.
func TestHolderIsNotMixedWithTheOneBefore(t *testing.T) {
	home := t.TempDir()
	before := strings.Repeat("somebody else ", 20)
	if err := os.WriteFile(filepath.Join(home, "parley.lock"), []byte(before), 0o600); err != nil {
		t.Fatal(err)
	}
	opened(t, home)
	_, err := Open(t.Context(), home)
	says(t, err, fmt.Sprintf("in use by process %d on ", os.Getpid()))
	if strings.Contains(err.Error(), "somebody else") {
		t.Errorf("it names both: %v", err)
	}
}

func TestHomeInUseByAnotherProcess(t *testing.T) {
	home := t.TempDir()
	other := startHub(t, home)
	if got := other.line(); got != "open" {
		t.Fatal(got)
	}
	refuses(t, home, "in use by process "+strconv.Itoa(other.cmd.Process.Pid))
	other.say("hello")
	id := other.line()
	if err := other.stop(); err != nil {
		t.Fatal(err)
	}
	holds(t, opened(t, home), []string{id})
}

// A hub killed while it writes loses nothing it has acknowledged, and its home is free at once.
func TestKilledHubLosesNothingAcknowledged(t *testing.T) {
	home := t.TempDir()
	other := startHub(t, home)
	if got := other.line(); got != "open" {
		t.Fatal(got)
	}
	var ids []string
	for range 20 {
		other.say("hello")
		ids = append(ids, other.line())
	}
	other.kill()
	db := opened(t, home)
	if err := db.Checked(t.Context()); err != nil {
		t.Errorf("the check behind: %v", err)
	}
	holds(t, db, ids)
	written(t, db, 1)
}

func TestVersionsAreComparedByNumber(t *testing.T) {
	for _, c := range []struct {
		a, b  string
		older bool
	}{
		{"3.51.2", oldestSQLite, true},
		{"3.51.3", oldestSQLite, false},
		{"3.51.10", oldestSQLite, false},
		{"3.9.9", oldestSQLite, true},
		{"4.0.0", oldestSQLite, false},
		{"3.52", oldestSQLite, false},
		{"3.51", oldestSQLite, true},
		{"0.1.0", "0.1.0", false},
		{"0.1.0", "0.1.1", true},
		{"0.9.0", "0.10.0", true},
		{"1", "1.0.0", false},
		{"1.0.0", "1", false},
		{"", "0.0.1", true},
		{"2.0.0", "10.0.0", true},
	} {
		if store.OlderThan(c.a, c.b) != c.older {
			t.Errorf("%s older than %s: want %t", c.a, c.b, c.older)
		}
	}
}

func TestErrorsOfTheDatabaseAreExplained(t *testing.T) {
	for code, want := range map[sqlite.ResultCode]struct {
		code   parley.Code
		reason parley.Reason
		retry  bool
		says   string
	}{
		sqlite.ResultFull:         {parley.Unavailable, parley.StorageFull, true, "full"},
		sqlite.ResultBusy:         {parley.Unavailable, "", true, "locked"},
		sqlite.ResultBusySnapshot: {parley.Unavailable, "", true, "locked"},
		sqlite.ResultReadOnly:     {parley.Unavailable, "", true, "cannot write"},
		sqlite.ResultIOErrWrite:   {parley.Internal, "", true, "disk failed"},
		sqlite.ResultCorrupt:      {parley.Internal, "", false, "damaged"},
		sqlite.ResultNotADB:       {parley.Internal, "", false, "damaged"},
		sqlite.ResultConstraint:   {parley.Internal, "", false, "failed"},
	} {
		cause := code.ToError()
		err := parley.AsError(explain("/home/parley.db", cause))
		if err.Code != want.code || err.Reason != want.reason || err.Recoverable != want.retry || !strings.Contains(err.Message, want.says) {
			t.Errorf("%v: %+v", code, err)
		}
		if !errors.Is(err, cause) {
			t.Errorf("%v: the cause is lost", code)
		}
	}
	own := parley.Errorf(parley.BadInput, "mine")
	if got := explain("x", fmt.Errorf("wrapped: %w", own)); !errors.Is(got, own) || parley.CodeOf(got) != parley.BadInput {
		t.Errorf("an error that is explained already became %v", got)
	}
}
