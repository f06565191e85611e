package bridge

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// errAstray says that what is at the path of a tree is not what was opened there.
var errAstray = errors.New("the directory of the tree is gone, or another one has its place")

// astray says whether the tree is still the one that is found by its path. Whoever holds it open would not see otherwise that it
// was renamed, removed or unmounted.
func (t *tree) astray() error {
	now, err := os.Stat(t.dir)
	if err != nil {
		return fmt.Errorf("%w: %w", errAstray, err)
	}
	if !os.SameFile(now, t.info) {
		return errAstray
	}
	_, err = t.root.Stat(".")
	if errors.Is(err, syscall.ESTALE) { // a file server has forgotten it
		return fmt.Errorf("%w: %w", errAstray, err)
	}
	return nil
}

// openNext opens a tree, or what has taken the place of one that has gone.
func openNext(dir string, gone *tree) (*tree, error) {
	t, err := openTree(dir)
	if gone == nil {
		return t, err
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errAstray, err)
	}
	if !t.mayFollow(gone) {
		return nil, errors.Join(fmt.Errorf("%w: another file system is at %s, where no bridge has been", errAstray, dir), t.close())
	}
	return t, nil
}

// mayFollow says whether a tree may take the place of one that has gone. A mount point without its file system has another
// device and nothing of Parley's: what is written there would be lost.
func (t *tree) mayFollow(gone *tree) bool {
	there, err := t.holds("", own)
	return device(t) == device(gone) || there && err == nil
}

func device(t *tree) uint64 { return uint64(t.info.Sys().(*syscall.Stat_t).Dev) } //nolint:unconvert,gosec // its type depends on the system
