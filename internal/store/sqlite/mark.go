package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/parley-hub/parley"
)

// markNames are the files of a mark, both in the home.
var markNames = [...]string{"parley.mark", "parley.head"}

// mark keeps the number of the newest committed message or event outside the database. The store writes it after each commit,
// so it is never ahead of the database. A database that is behind its mark has lost acknowledged changes. There are two copies:
// if one of them is lost together with the write-ahead log, the other still shows the loss.
type mark struct {
	files [len(markNames)]*os.File
	last  int64
}

func openMark(home string) (_ *mark, err error) {
	m := &mark{}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.close())
		}
	}()
	for i, name := range markNames {
		path := filepath.Join(home, name)
		raw, err := os.ReadFile(path)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, unusableFile(err)
		}
		// Ignore a copy that a power loss has left empty or incomplete.
		if last, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64); err == nil {
			m.last = max(m.last, last)
		}
		if m.files[i], err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600); err != nil {
			return nil, unusableFile(err)
		}
	}
	return m, nil
}

// unusableFile returns the error for a file of a mark that cannot be opened. The error of the system names the file and the
// reason.
func unusableFile(err error) error {
	return parley.Errorf(parley.Internal, "the hub cannot use a file of its home: %w", err).
		Suggest("make it a file that this user can read and write, and start the hub again")
}

// check returns an error if the newest number in a database is smaller than the mark.
func (m *mark) check(path string, newest int64) error {
	if newest >= m.last {
		return nil
	}
	return damagedf(path, "its newest change is %d, but %d was acknowledged: the write-ahead log %s-wal is missing or cut; "+
		"put it back, or, to continue without the lost changes, delete %s", newest, m.last, path, m.names())
}

// names returns the paths of the files, for messages that advise a person to delete them.
func (m *mark) names() string { return m.files[0].Name() + " and " + m.files[1].Name() }

// write stores a number and does not sync the files. It ignores errors: then the mark is older, and shows the loss of fewer
// changes.
func (m *mark) write(seq int64) {
	if seq <= m.last {
		return
	}
	m.last = seq
	line := fmt.Appendf(nil, "%020d\n", seq)
	for _, file := range m.files {
		_, _ = file.WriteAt(line, 0)
	}
}

func (m *mark) close() (err error) {
	for _, file := range m.files {
		if file != nil {
			err = errors.Join(err, file.Close())
		}
	}
	return err
}
