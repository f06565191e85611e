package connect

import (
	"bytes"
	"errors"
	"path"
	"slices"
	"strings"

	"github.com/parley-hub/parley/internal/home"
)

// Disconnect restores the files of a client, and forgets the connection. It returns the paths of the files that it changed. A file that
// nobody has edited gets back its bytes, or is removed if Parley has created it. From another file, Parley takes out only what it has
// added. If a file cannot be restored, Disconnect restores the others, keeps the journal for the next call, and returns the error.
func Disconnect(c Connection, m Machine, h home.Dir) (changed []string, err error) {
	s, err := c.Setup(m)
	if err != nil {
		return nil, err
	}
	for _, r := range slices.Backward(c.Files) {
		done, problem := r.restore(s)
		if done {
			changed = append(changed, r.file().path())
		}
		err = errors.Join(err, problem)
	}
	if err != nil {
		return changed, err
	}
	return changed, c.forget(h)
}

// restore restores one file. done reports whether it has changed.
func (r Record) restore(s Setup) (done bool, err error) {
	f := r.file()
	now, err := f.read()
	if err != nil {
		return false, err
	}
	if now.info == nil {
		return false, f.removeDirs(r.Dirs)
	}
	if i := slices.IndexFunc(s.files(), func(of file) bool { return baseName(of) == baseName(f) }); i >= 0 {
		f.edits = s.files()[i].edits
	}
	before := r.before()
	untouched := bytes.Equal(now.text, r.After) || r.Existed && bytes.Equal(now.text, r.Before)
	if !untouched {
		if before, err = f.revert(now.text, before); err != nil {
			return false, err
		}
	}
	switch {
	case before == nil:
		if err := now.checkWritable(f.path()); err != nil {
			return false, err
		}
		return true, errors.Join(f.remove(now), f.removeDirs(r.Dirs))
	case bytes.Equal(before, now.text):
		return false, nil
	default:
		return true, f.write(now, before)
	}
}

// baseName returns the name by which a file of a client is known in all places. The names opencode.json and opencode.jsonc are one.
func baseName(f file) string { return strings.TrimSuffix(path.Base(f.name), "c") }
