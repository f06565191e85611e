package connect

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/parley-hub/parley/internal/home"
)

// Disconnect restores the files of a client, and forgets the connection. It returns the paths of the files that it changed. A file that
// nobody has edited gets back its bytes, or is removed if Parley has created it. From another file, Parley takes out only what it has
// added. If a file cannot be restored, Disconnect changes nothing and returns the error. If a write fails, it restores the others, and
// keeps the journal for the next call.
func Disconnect(c Connection, m Machine, h home.Dir) (changed []string, err error) {
	s, err := c.Setup(m)
	if err != nil {
		return nil, err
	}
	var all []restoration
	for _, r := range slices.Backward(c.Files) {
		one, err := r.plan(s)
		if err != nil {
			return nil, s.explain(err, "disconnect")
		}
		all = append(all, one)
	}
	for _, one := range all {
		done, problem := one.apply()
		if done {
			changed = append(changed, one.file.path())
		}
		err = errors.Join(err, problem)
	}
	if err != nil {
		return changed, err
	}
	return changed, c.forget(h)
}

// restoration is how one file is restored.
type restoration struct {
	file   file
	now    content
	before []byte // nil if the file is removed
	dirs   []string
}

// plan returns how to restore a file. It changes nothing.
func (r Record) plan(s Setup) (one restoration, err error) {
	f := r.file()
	one = restoration{file: f, dirs: r.Dirs}
	if _, err := os.Stat(f.root); errors.Is(err, fs.ErrNotExist) {
		return one, nil // somebody has removed the whole directory
	}
	if one.now, err = f.read(); err != nil || one.now.info == nil {
		return one, err
	}
	if i := slices.IndexFunc(s.files(), func(of file) bool { return baseName(of) == baseName(f) }); i >= 0 {
		f.edits = s.files()[i].edits
	}
	one.before = r.before()
	untouched := bytes.Equal(one.now.text, r.After) || r.Existed && bytes.Equal(one.now.text, r.Before)
	if !untouched {
		if one.before, err = f.revert(one.now.text, one.before); err != nil {
			return one, err
		}
	}
	if bytes.Equal(one.before, one.now.text) && one.before != nil {
		return one, nil
	}
	return one, one.now.checkWritable(f.path())
}

// apply restores the file. done reports whether it has changed.
func (r restoration) apply() (done bool, err error) {
	switch _, gone := os.Stat(r.file.root); {
	case errors.Is(gone, fs.ErrNotExist):
		return false, nil
	case r.now.info == nil:
		return false, r.file.removeDirs(r.dirs)
	case r.before == nil:
		return true, errors.Join(r.file.remove(r.now), r.file.removeDirs(r.dirs))
	case bytes.Equal(r.before, r.now.text):
		return false, nil
	default:
		return true, r.file.write(r.now, r.before)
	}
}

// baseName returns the name by which a file of a client is known in all places. The names opencode.json and opencode.jsonc are one.
func baseName(f file) string { return strings.TrimSuffix(path.Base(f.name), "c") }
