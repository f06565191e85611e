package bridge

import (
	"errors"
	"io/fs"
)

// folders returns the directories in a folder; none if it is not there.
func (t *tree) folders(dir string) (names []string, err error) {
	err = t.in(dir, func(f *folder) error {
		names, err = f.folders()
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return names, err
}

// holds says whether a folder is there and holds something with a name.
func (t *tree) holds(dir, name string) (there bool, err error) {
	err = t.in(dir, func(f *folder) error {
		there, err = f.holds(name)
		return err
	})
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return there, err
}

// holds says whether something in the folder has a name.
func (f *folder) holds(name string) (bool, error) {
	_, err := f.stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	return err == nil, err
}
