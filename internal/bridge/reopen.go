package bridge

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// errTreeMoved says that what is at the path of a tree is not what was opened there.
var errTreeMoved = errors.New("the directory of the tree is gone, or another one has its place")

// checkInPlace says whether the tree is still the one that is found by its path. Whoever holds it open would not see otherwise that it
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

// openNext opens a tree, or what has taken the place of one that has gone, or that was reached by an earlier process.
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

// mayFollow says whether a tree may take the place of one that has gone, or was reached before. A mount point without its file
// system has another device and nothing of Parley's: what is written there would be lost, and what is missing there taken for read.
func (t *tree) mayFollow(gone *tree, reached bool) bool {
	if gone == nil && !reached || gone != nil && device(t) == device(gone) {
		return true
	}
	there, err := t.has("", ownFolder)
	return there && err == nil
}

func device(t *tree) uint64 { return uint64(t.info.Sys().(*syscall.Stat_t).Dev) } //nolint:unconvert,gosec // its type depends on the system
