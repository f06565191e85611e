package connect

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Preview returns the changes as unified diffs, of the files to which links lead. It is for a person who makes the changes by hand.
func Preview(s Setup) (*Plan, error) {
	p := &Plan{Setup: s}
	for _, f := range s.files() {
		real, err := filepath.EvalSymlinks(f.path())
		if errors.Is(err, fs.ErrNotExist) {
			real, err = f.path(), nil
		}
		if err != nil {
			return nil, err
		}
		f.root, f.name = filepath.Dir(real), filepath.Base(real)
		change, err := f.preview()
		if err == nil {
			err = s.checkSyntax(f, change.before.text)
		}
		if err != nil {
			return nil, s.explain(err, "connect")
		}
		p.Changes = append(p.Changes, change)
	}
	return p, nil
}

func (f file) preview() (c Change, err error) {
	c.file = f
	info, err := os.Stat(f.root)
	if err == nil && info.IsDir() {
		c.before, err = f.read()
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	c.after, err = f.apply(c.before.text)
	return c, err
}
