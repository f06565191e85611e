package bridge

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// errTreeMoved is the error for a path that no longer leads to the directory that was opened there.
var errTreeMoved = errors.New("the directory of the tree was removed or replaced")

// checkInPlace returns errTreeMoved if the path of the tree no longer leads to it. An open directory does not show that it was
// renamed, removed or unmounted.
func (t *tree) checkInPlace() error {
	now, err := os.Stat(t.dir)
	if err != nil {
		return fmt.Errorf("%w: %w", errTreeMoved, err)
	}
	if !os.SameFile(now, t.info) {
		return errTreeMoved
	}
	_, err = t.root.Stat(".")
	if errors.Is(err, syscall.ESTALE) { // the file server does not know the directory any more
		return fmt.Errorf("%w: %w", errTreeMoved, err)
	}
	return nil
}

// openNext opens a tree, or the directory that has replaced it. It returns errTreeMoved if the directory may not replace it.
func openNext(dir string, previous *tree, reached bool) (*tree, error) {
	t, err := openTree(dir)
	switch {
	case err != nil && previous != nil:
		return nil, fmt.Errorf("%w: %w", errTreeMoved, err)
	case err != nil:
		return nil, err
	case !t.mayFollow(previous, reached):
		err := fmt.Errorf("%w: no bridge has used the directory that is now at %s", errTreeMoved, dir)
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

// mayFollow reports whether a tree may replace an earlier one. It refuses an empty mount point, which has another device and no
// .parley folder: files written there would be lost, and missing files would count as read.
func (t *tree) mayFollow(previous *tree, reached bool) bool {
	if previous == nil && !reached || previous != nil && device(t) == device(previous) {
		return true
	}
	exists, err := t.has("", ownFolder)
	return exists && err == nil
}

func device(t *tree) uint64 { return uint64(t.info.Sys().(*syscall.Stat_t).Dev) } //nolint:unconvert,gosec // its type depends on the system
