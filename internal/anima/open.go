package anima

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/parley-hub/parley"
)

// openCopy opens a private copy of a database, with the files beside it that have recent writes. It leaves no lock
// beside the original, which may be on a read-only disk.
func openCopy(ctx context.Context, file string) (db *sql.DB, closeCopy func(), err error) {
	if err := checkFile(file); err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "parley-anima-")
	if err != nil {
		return nil, nil, err
	}
	remove := func() { _ = os.RemoveAll(dir) }
	copied := filepath.Join(dir, "conversations.db")
	if err := copyAll(file, copied); err != nil {
		remove()
		return nil, nil, err
	}
	// The schema is not trusted: it must not call functions.
	address := url.URL{Scheme: "file", Opaque: url.PathEscape(copied), RawQuery: "_pragma=trusted_schema(0)&_pragma=cell_size_check(1)"}
	if db, err = sql.Open("sqlite", address.String()); err == nil {
		db.SetMaxOpenConns(1)
		err = db.PingContext(ctx)
	}
	if err != nil {
		remove()
		return nil, nil, readError(err)
	}
	return db, func() { _ = db.Close(); remove() }, nil
}

var sqliteHeader = []byte("SQLite format 3\x00")

// checkFile checks that a file is a SQLite database, before anything else opens it.
func checkFile(file string) error {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return parley.Errorf(parley.BadInput, "there is no file %s", file).Suggest("the database of Anima is usually ~/.anima/conversations.db")
	case err != nil:
		return parley.Errorf(parley.BadInput, "cannot read %s: %w", file, err).Suggest("check its permissions")
	case !info.Mode().IsRegular():
		return notDatabaseError(file)
	}
	opened, err := os.Open(file)
	if err != nil {
		return parley.Errorf(parley.BadInput, "cannot read %s: %w", file, err).Suggest("check its permissions")
	}
	defer func() { _ = opened.Close() }()
	begin := make([]byte, len(sqliteHeader))
	if _, err := io.ReadFull(opened, begin); err != nil || !bytes.Equal(begin, sqliteHeader) {
		return notDatabaseError(file)
	}
	return nil
}

func notDatabaseError(file string) error {
	return parley.Errorf(parley.BadInput, "%s is not a SQLite database", file).Suggest("give the conversations.db of Anima")
}

// maxCopies is how often the package copies a database that another program is writing to.
const maxCopies = 5

// copyAll copies a database with the files beside it. If another program writes to them meanwhile, it copies them
// again.
func copyAll(from, to string) error {
	for range maxCopies {
		before := fileStates(from)
		for _, suffix := range []string{"", "-wal", "-journal"} {
			if err := copyFile(from+suffix, to+suffix); err != nil && (suffix == "" || !errors.Is(err, fs.ErrNotExist)) {
				return parley.Errorf(parley.BadInput, "cannot copy %s: %w", from+suffix, err).Suggest("check its permissions, and the free space for temporary files")
			}
		}
		if fileStates(from) == before {
			return nil
		}
	}
	return parley.Errorf(parley.Unavailable, "another program is writing to %s", from).Suggest("stop Anima, and repeat the import")
}

// fileStates returns the sizes and times of the files, which show whether they have changed.
func fileStates(file string) (list [3]struct {
	size int64
	at   time.Time
},
) {
	for i, suffix := range []string{"", "-wal", "-journal"} {
		if info, err := os.Stat(file + suffix); err == nil {
			list[i].size, list[i].at = info.Size(), info.ModTime()
		}
	}
	return list
}

func copyFile(from, to string) error {
	in, err := os.Open(from)
	if err != nil {
		_ = os.Remove(to) // left by an earlier copy
		return err
	}
	defer func() { _ = in.Close() }()
	out, err := os.OpenFile(to, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Close())
}
