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

// mark keeps the number of the newest committed message or event outside the database. It is written after
// each commit and not synced, so it never runs ahead of the database; a database that is behind
// its mark has lost acknowledged changes. There are two copies, so that the loss of the write-ahead log together with one
// of them is still noticed.
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
			return nil, unusable(err)
		}
		// A copy that power loss left empty or torn says nothing.
		if last, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64); err == nil {
			m.last = max(m.last, last)
		}
		if m.files[i], err = os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600); err != nil {
			return nil, unusable(err)
		}
	}
	return m, nil
}

// unusable says which file of a mark cannot be opened, and why, as the error of the system has it.
func unusable(err error) error {
	return parley.Errorf(parley.Internal, "the hub cannot use a file of its home: %w", err).
		Suggest("make it a file that this user can read and write, and start the hub again")
}

func (m *mark) check(path string, newest int64) error {
	if newest >= m.last {
		return nil
	}
	return damagedf(path, "its newest change is %d, but %d was acknowledged: the write-ahead log %s-wal is missing or cut; "+
		"put it back, or, to go on without what is lost, delete %s", newest, m.last, path, m.names())
}

// names are the files of the mark, for the sentence that tells people to delete them.
func (m *mark) names() string { return m.files[0].Name() + " and " + m.files[1].Name() }

// write is best effort: a mark that could not be written is only older than it could be.
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
