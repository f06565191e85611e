package bridge

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// errTreeMoved says that what is at the path of a tree is not what was opened there.
var errTreeMoved = errors.New("the directory of the tree is gone, or another one has its place")

// checkInPlace returns errTreeMoved if the path of the tree no longer leads to it: an open directory does not show that it
// was renamed, removed or unmounted.
func (t *tree) checkInPlace() error {
	now, err := os.Stat(t.dir)
	if err != nil {
		return fmt.Errorf("%w: %w", errTreeMoved, err)
	}
	if !os.SameFile(now, t.info) {
		return errTreeMoved
	}
	_, err = t.root.Stat(".")
	if errors.Is(err, syscall.ESTALE) { // a file server has forgotten it
		return fmt.Errorf("%w: %w", errTreeMoved, err)
	}
	return nil
}

// openNext opens a tree, or the one that replaced it.
func openNext(dir string, gone *tree, reached bool) (*tree, error) {
	t, err := openTree(dir)
	switch {
	case err != nil && gone != nil:
		return nil, fmt.Errorf("%w: %w", errTreeMoved, err)
	case err != nil:
		return nil, err
	case !t.mayFollow(gone, reached):
		err := fmt.Errorf("%w: no bridge has been at what is at %s now", errTreeMoved, dir)
		return nil, errors.Join(err, t.close())
	}
	return t, nil
}

// mayFollow reports whether a tree may replace an earlier one. An empty mount point has another device and no folder of
// Parley: files written there would be lost, and missing files would count as read.
func (t *tree) mayFollow(gone *tree, reached bool) bool {
	if gone == nil && !reached || gone != nil && device(t) == device(gone) {
		return true
	}
	there, err := t.has("", ownFolder)
	return there && err == nil
}

func device(t *tree) uint64 { return uint64(t.info.Sys().(*syscall.Stat_t).Dev) } //nolint:unconvert,gosec // its type depends on the system
