package bridge

import (
	"errors"
	"io/fs"
)

// folders returns the names of the directories in a folder. A missing folder has none.
func (t *tree) folders(dir string) (names []string, err error) {
	err = t.inFolder(dir, func(f *folder) error {
		names, err = f.folders()
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}

// has reports whether a folder exists and contains a name.
func (t *tree) has(dir, name string) (found bool, err error) {
	err = t.inFolder(dir, func(f *folder) error {
		found, err = f.has(name)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return found, err
}

// has reports whether the folder contains a name.
func (f *folder) has(name string) (bool, error) {
	_, err := f.stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
