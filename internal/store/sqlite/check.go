package sqlite

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"zombiezen.com/go/sqlite"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store"
)

const applicationID = 0x5061726c // "Parl"

// checkFile looks at a file before anything is changed, and says whether it was left by an unclean
// stop.
func checkFile(path string, mark *mark) (unclean bool, err error) {
	log, err := exists(path + "-wal")
	if err != nil {
		return false, err
	}
	journal, err := exists(path + "-journal")
	if err != nil {
		return false, err
	}
	found, err := exists(path)
	if err != nil {
		return false, err
	}
	unclean = log || journal
	if found {
		if err := checkHeader(path, unclean); err != nil {
			return false, err
		}
		last, err := lastDrawn(path)
		if err != nil {
			return false, err
		}
		return unclean, mark.check(path, last)
	}
	switch {
	case log: // a journal alone is what a file that never had a page begins with
		return false, damagedf(path, "it is missing or empty, but its write-ahead log is there")
	case mark.last > 0:
		return false, damagedf(path, "it is missing or empty, but %d changes were acknowledged; to begin anew, delete %s",
			mark.last, mark.names())
	default:
		return unclean, nil
	}
}

// lastDrawn is the number the newest message or event has. It reads without changing anything: a
// connection that can write would move the write-ahead log into the file when it is closed. Only where
// a stop has left a journal, which it does while the file is switched to a write-ahead log and has
// none, must it be rolled back first.
func lastDrawn(path string) (last int64, err error) {
	mode := sqlite.OpenReadOnly
	if journal, err := exists(path + "-journal"); err != nil {
		return 0, err
	} else if journal {
		mode = sqlite.OpenReadWrite
	}
	opened, err := sqlite.OpenConn(path, mode)
	if err != nil {
		return 0, explain(path, err)
	}
	opened.SetBusyTimeout(busyTimeout)
	c := &conn{sqlite: opened, statements: map[string]*sqlite.Stmt{}}
	defer func() { err = errors.Join(err, explain(path, c.close())) }()
	read := func(query string, dest ...any) error {
		rows, err := c.Query(query)
		if err != nil {
			return explain(path, err)
		}
		defer rows.Close()
		if rows.Next() {
			return rows.Scan(dest...)
		}
		return explain(path, rows.Err())
	}
	var tables int64
	err = read("SELECT count(*) FROM sqlite_schema WHERE name IN ('counters', 'messages', 'events')", &tables)
	if err != nil || tables < 3 {
		return 0, err // stopped before it had any, or another program's
	}
	var message, event int64
	err = read(`SELECT seq, (SELECT coalesce(max(seq), 0) FROM messages), (SELECT coalesce(max(num), 0) FROM events)
		FROM counters`, &last, &message, &event)
	return max(last, message, event), err
}

func checkHeader(path string, unclean bool) error {
	file, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	header := make([]byte, 100)
	if _, err := io.ReadFull(file, header); err != nil {
		return damagedf(path, "it is shorter than its header")
	}
	info, err := file.Stat()
	if err != nil {
		return err
	}
	page := int64(binary.BigEndian.Uint16(header[16:]))
	if page == 1 {
		page = 64 << 10
	}
	pages, id := int64(binary.BigEndian.Uint32(header[28:])), binary.BigEndian.Uint32(header[68:])
	unfinished := id == 0 && header[18] == 2 // in WAL mode without an id, as ours is before its first table
	switch {
	case !bytes.HasPrefix(header, []byte("SQLite format 3\x00")):
		return damagedf(path, "its header does not say that it is a database")
	case page < 512 || page&(page-1) != 0:
		return damagedf(path, "its header gives the impossible page size %d", page)
	case !unclean && info.Size() != pages*page:
		return damagedf(path, "it has %d bytes, but its header says %d", info.Size(), pages*page)
	case !unclean && id != applicationID && pages > 1 && !unfinished: // one page: it never had any table
		return foreign(path)
	default:
		return nil
	}
}

func foreign(path string) error {
	return parley.Errorf(parley.BadInput, "%s is a database of another program", path).Suggest("use another home")
}

// checkOwner refuses the database of another program where the header could not tell: its newest page
// may be in the write-ahead log.
func checkOwner(ctx context.Context, db *sql.DB, path string) error {
	var id int
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return err
	}
	tables, err := countTables(ctx, db)
	if err == nil && tables > 0 && id != applicationID {
		return foreign(path)
	}
	return err
}

// dueCheck is a file that is there from an unclean stop until a check has gone through. A hub that is
// stopped during the check does it again at the next start; one whose check has failed, and is in the
// file, takes no update until a check goes through.
type dueCheck struct {
	path    string
	due     bool
	failure error
}

func (d *dueCheck) remember(unclean bool) error {
	found, err := os.ReadFile(d.path)
	switch {
	case err == nil && len(found) > 0:
		d.due = true
		d.failure = restorable(parley.Errorf(parley.Internal, "%s", strings.TrimSpace(string(found))).From(errDamaged))
		return nil
	case err == nil:
		d.due = true
		return nil
	case !errors.Is(err, fs.ErrNotExist) || !unclean:
		return ignoreMissing(err)
	}
	d.due = true
	return errors.Join(create(d.path), store.SyncPath(filepath.Dir(d.path)))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// passed and failed are best effort: where the file cannot be written, the next start checks again.
func (d *dueCheck) passed() { _ = os.Remove(d.path) }

func (d *dueCheck) failed(found error) {
	_ = os.WriteFile(d.path, []byte(parley.AsError(found).Message+"\n"), 0o600)
	_ = store.SyncPath(d.path)
}

// checkBehind verifies the structure of a database that was not closed. If it does not hold, no
// update is taken any more.
func (db *DB) checkBehind(ctx context.Context) {
	defer close(db.checked)
	db.checkErr = db.pragmaCheck(ctx, "quick_check")
	switch {
	case ctx.Err() != nil:
	case errors.Is(db.checkErr, errDamaged):
		db.Halt(db.checkErr)
		db.due.failed(db.checkErr)
	case db.checkErr != nil: // it could not be made, which says nothing of the file: it stays due
	default:
		db.due.passed()
		db.Resume()
	}
}

// Checked waits for the check behind the start, if there is one, and returns what it found, or
// context.Canceled if the database was closed before.
func (db *DB) Checked(ctx context.Context) error {
	select {
	case <-db.checked:
		return db.checkErr
	case <-ctx.Done():
		return ctx.Err()
	}
}

// CheckDeep verifies everything that is stored: every page, index and reference of the file, every
// message, artifact and audit entry, every count. progress, which may be nil, is told now and then how
// far it is. An error means that the check could not be made; what it found is in the report.
func (db *DB) CheckDeep(ctx context.Context, progress func(parley.CheckReport)) (report parley.CheckReport, err error) {
	if progress == nil {
		progress = func(parley.CheckReport) {}
	}
	c, err := newConn(db.path, "query_only=1")
	if err != nil {
		return report, explain(db.path, err)
	}
	err = errors.Join(checkPages(ctx, c, db.path, &report), c.close())
	if err == nil {
		err = store.Check(ctx, db, &report, progress)
	}
	return report, err
}

// checkPages adds to a report what SQLite itself finds wrong with a file.
func checkPages(ctx context.Context, c *conn, path string, report *parley.CheckReport) error {
	for _, check := range []string{"integrity_check", "foreign_key_check"} {
		err := runCheck(ctx, c, path, check)
		if errors.Is(err, errDamaged) {
			report.Add("%s", parley.AsError(err).Message)
		} else if err != nil {
			return err
		}
	}
	return nil
}

// pragmaCheck uses a connection of its own, so that it may be interrupted.
func (db *DB) pragmaCheck(ctx context.Context, check string) error {
	c, err := newConn(db.path, "query_only=1")
	if err != nil {
		return explain(db.path, err)
	}
	defer func() { _ = c.close() }()
	return runCheck(ctx, c, db.path, check)
}

func runCheck(ctx context.Context, c *conn, path, check string) error {
	c.sqlite.SetInterrupt(ctx.Done())
	stmt, err := c.prepare("PRAGMA " + check)
	if err != nil {
		return checkFailed(ctx, path, err)
	}
	var found []string
	for len(found) < 10 {
		more, err := stmt.Step()
		if err != nil {
			return checkFailed(ctx, path, err)
		}
		if !more {
			break
		}
		line := make([]string, stmt.ColumnCount())
		for i := range line {
			line[i] = stmt.ColumnText(i)
		}
		if text := strings.Join(line, " "); text != "ok" {
			found = append(found, text)
		}
	}
	if len(found) > 0 {
		return damagedf(path, "%s", strings.Join(found, "; "))
	}
	return nil
}

func checkFailed(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return explain(path, err)
}
