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

// checkFile checks a database file before anything changes it, and reports whether the last hub that used the file stopped
// uncleanly.
func checkFile(path string, mark *mark) (unclean bool, err error) {
	hasLog, err := exists(path + "-wal")
	if err != nil {
		return false, err
	}
	hasJournal, err := exists(path + "-journal")
	if err != nil {
		return false, err
	}
	found, err := exists(path)
	if err != nil {
		return false, err
	}
	unclean = hasLog || hasJournal
	if found {
		if err := checkHeader(path, unclean); err != nil {
			return false, err
		}
		last, err := newestNumber(path)
		if err != nil {
			return false, err
		}
		return unclean, mark.check(path, last)
	}
	switch {
	case hasLog: // a journal alone is normal: SQLite makes it before the first page of a new file
		return false, damagedf(path, "it is missing or empty, but its write-ahead log exists")
	case mark.last > 0:
		return false, damagedf(path, "it is missing or empty, but %d changes were acknowledged; to start with an empty database, delete %s",
			mark.last, mark.names())
	default:
		return unclean, nil
	}
}

// newestNumber returns the number of the newest message or event in a file. It opens the file only for reading: a connection
// that can write would move the write-ahead log into the file when it closes. If there is a journal, SQLite must roll it back
// first, which needs a connection that can write. A journal remains when a hub stops while it switches the file to a
// write-ahead log, and then there is no write-ahead log yet.
func newestNumber(path string) (last int64, err error) {
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
		return 0, err // the hub stopped before it made the tables, or the database belongs to another program
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
	unfinished := id == 0 && header[18] == 2 // in WAL mode without an id, as a Parley database is before its first table
	switch {
	case !bytes.HasPrefix(header, []byte("SQLite format 3\x00")):
		return damagedf(path, "its header does not say that it is a database")
	case page < 512 || page&(page-1) != 0:
		return damagedf(path, "its header gives the impossible page size %d", page)
	case !unclean && info.Size() != pages*page:
		return damagedf(path, "it has %d bytes, but its header says %d", info.Size(), pages*page)
	case !unclean && id != applicationID && pages > 1 && !unfinished: // a file of one page never had a table
		return foreignDatabase(path)
	default:
		return nil
	}
}

func foreignDatabase(path string) error {
	return parley.Errorf(parley.BadInput, "%s is a database of another program", path).Suggest("use another home")
}

// checkApplication refuses the database of another program. checkHeader cannot always do that, because the newest version of the
// header may still be in the write-ahead log.
func checkApplication(ctx context.Context, db *sql.DB, path string) error {
	var id int
	if err := db.QueryRowContext(ctx, "PRAGMA application_id").Scan(&id); err != nil {
		return err
	}
	tables, err := countTables(ctx, db)
	if err == nil && tables > 0 && id != applicationID {
		return foreignDatabase(path)
	}
	return err
}

// pendingCheck is a file that exists from an unclean stop until a check has passed. If the hub stops during the check, the next
// start repeats the check. If the check fails, the file holds its result, and the hub refuses updates until a check passes.
type pendingCheck struct {
	path    string
	due     bool  // a check must run
	failure error // what the last check found; nil: it did not fail
}

// load reads the file. If there is none and the last stop was unclean, it creates the file.
func (d *pendingCheck) load(unclean bool) error {
	found, err := os.ReadFile(d.path)
	switch {
	case err == nil && len(found) > 0:
		d.due = true
		d.failure = suggestRestore(parley.Errorf(parley.Internal, "%s", strings.TrimSpace(string(found))).From(errDamaged))
		return nil
	case err == nil:
		d.due = true
		return nil
	case !errors.Is(err, fs.ErrNotExist) || !unclean:
		return ignoreMissing(err)
	}
	d.due = true
	return errors.Join(createFile(d.path), store.SyncPath(filepath.Dir(d.path)))
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// markPassed removes the file. It ignores errors: if the file remains, the next start checks again.
func (d *pendingCheck) markPassed() { _ = os.Remove(d.path) }

// saveFailure writes the result of a failed check into the file. It ignores errors: the next start checks again in any case.
func (d *pendingCheck) saveFailure(found error) {
	_ = os.WriteFile(d.path, []byte(parley.AsError(found).Message+"\n"), 0o600)
	_ = store.SyncPath(d.path)
}

// checkInBackground verifies the structure of a database that was not closed. If it finds damage, the store refuses further
// updates.
func (db *DB) checkInBackground(ctx context.Context) {
	defer close(db.checkDone)
	db.checkErr = db.pragmaCheck(ctx, "quick_check")
	switch {
	case ctx.Err() != nil:
	case errors.Is(db.checkErr, errDamaged):
		db.Halt(db.checkErr)
		db.pending.saveFailure(db.checkErr)
	case db.checkErr != nil: // the check could not run, so the file may be sound or damaged: the check stays due
	default:
		db.pending.markPassed()
		db.Resume()
	}
}

// Checked waits for the background check that Open started, and returns its error. Without such a check it returns nil at once.
// It returns context.Canceled if the database was closed before the check ended, and the error of ctx if ctx ends first.
func (db *DB) Checked(ctx context.Context) error {
	select {
	case <-db.checkDone:
		return db.checkErr
	case <-ctx.Done():
		return ctx.Err()
	}
}

// CheckDeep verifies everything that is stored: every page, index and reference of the file, every message, artifact, audit
// entry and count. It calls progress from time to time; progress may be nil. The report holds the damage that it found. An
// error means that the check could not finish.
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

// checkPages runs SQLite's own checks on a file and adds the damage that they find to a report.
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

// pragmaCheck runs a check on its own connection, because ctx may interrupt the check.
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
		return explainUnlessCanceled(ctx, path, err)
	}
	var found []string
	for len(found) < 10 {
		more, err := stmt.Step()
		if err != nil {
			return explainUnlessCanceled(ctx, path, err)
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

func explainUnlessCanceled(ctx context.Context, path string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return explain(path, err)
}
