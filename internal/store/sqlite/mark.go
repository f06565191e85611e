package sqlite

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"strings"
)

// mark keeps the number of the newest committed message or event outside the database. It is written after
// each commit and not synced, so it never runs ahead of the database; a database that is behind
// its mark has lost what was acknowledged.
type mark struct {
	file *os.File
	last int64
}

func openMark(path string) (*mark, error) {
	raw, err := os.ReadFile(path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	// A mark that power loss left empty or torn says nothing.
	last, err := strconv.ParseInt(strings.TrimSpace(string(raw)), 10, 64)
	if err != nil {
		last = 0
	}
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	return &mark{file, last}, nil
}

func (m *mark) check(path string, newest int64) error {
	if newest >= m.last {
		return nil
	}
	return damagedf(path, "its newest change is %d, but %d was acknowledged: the write-ahead log %s-wal is missing or cut; "+
		"put it back, or, to go on without what is lost, delete %s", newest, m.last, path, m.file.Name())
}

// write is best effort: a mark that could not be written is only older than it could be.
func (m *mark) write(seq int64) {
	if seq > m.last {
		m.last = seq
		_, _ = m.file.WriteAt(fmt.Appendf(nil, "%020d\n", seq), 0)
	}
}

func (m *mark) close() error { return m.file.Close() }
