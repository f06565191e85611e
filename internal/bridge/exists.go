package bridge

import (
	"errors"
	"io/fs"
)

// folders returns the directories in a folder; none if it is not there.
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

// has reports whether a folder exists and holds a name.
func (t *tree) has(dir, name string) (there bool, err error) {
	err = t.inFolder(dir, func(f *folder) error {
		there, err = f.has(name)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return there, err
}

// has reports whether the folder holds a name.
func (f *folder) has(name string) (bool, error) {
	_, err := f.stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
