package bridge

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// checkUnchanged returns errReplaced if a name now belongs to another file than the one that was found.
func (f *folder) checkUnchanged(name string, found file) error {
	now, err := f.stat(name)
	if err != nil || found.info == nil {
		return err
	}
	if !os.SameFile(now, found.info) || now.Size() != found.info.Size() || !now.ModTime().Equal(found.info.ModTime()) {
		return errReplaced
	}
	return nil
}

// rename moves a file into another folder. Both folders are open, so nobody can put a link in between.
func (f *folder) rename(name string, to *folder, newName string) error {
	if err := errors.Join(checkName(name), checkName(newName)); err != nil {
		return err
	}
	from, err := f.root.Open(".")
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // nothing was written through it
	into, err := to.root.Open(".")
	if err != nil {
		return err
	}
	defer into.Close() //nolint:errcheck // nothing was written through it
	if err := unix.Renameat(int(from.Fd()), name, int(into.Fd()), newName); err != nil {
		return &os.LinkError{Op: "rename", Old: name, New: newName, Err: err}
	}
	return nil
}

// putBack returns a file that was moved by mistake, unless its name is taken again.
func (f *folder) putBack(name string, to *folder, newName string) error {
	if exists, err := to.has(newName); exists || err != nil {
		return err
	}
	return f.rename(name, to, newName)
}
