package bridge

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// checkUnchanged returns errReplaced if a name no longer means the file that was found.
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

// rename moves a file into another folder. Both folders are open, so no link can come in between.
func (f *folder) rename(name string, to *folder, as string) error {
	if err := errors.Join(checkName(name), checkName(as)); err != nil {
		return err
	}
	from, err := f.root.Open(".")
	if err != nil {
		return err
	}
	defer from.Close() //nolint:errcheck // it was only a way in
	into, err := to.root.Open(".")
	if err != nil {
		return err
	}
	defer into.Close() //nolint:errcheck // it was only a way in
	if err := unix.Renameat(int(from.Fd()), name, int(into.Fd()), as); err != nil {
		return &os.LinkError{Op: "rename", Old: name, New: as, Err: err}
	}
	return nil
}

// putBack returns a file that was moved by mistake, unless its name is taken again.
func (f *folder) putBack(name string, to *folder, as string) error {
	if taken, err := to.has(as); taken || err != nil {
		return err
	}
	return f.rename(name, to, as)
}
