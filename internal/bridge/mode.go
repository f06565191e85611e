package bridge

import (
	"io/fs"
	"os"
	"path"
)

// copyMode gives a new folder the mode of its parent, so that the users of the tree can use it. Into .parley only the owner may
// write. It ignores errors, because some file servers have no modes.
func (f *folder) copyMode(name string) {
	mode := f.mode()
	if path.Join(f.path, name) == ownFolder {
		mode &^= 0o022
	}
	if made, err := f.root.Lstat(name); err == nil && made.Mode().Perm() != mode.Perm() {
		_ = f.root.Chmod(name, mode&(fs.ModePerm|fs.ModeSticky)|made.Mode()&fs.ModeSetgid)
	}
}

// mode returns the mode of the folder itself.
func (f *folder) mode() fs.FileMode {
	info, err := f.root.Stat(".")
	if err != nil {
		return 0o755
	}
	return info.Mode()
}

// readableMode returns the mode of a file that all users who can reach the folder may read.
func (f *folder) readableMode() fs.FileMode { return 0o600 | (f.mode()&0o011)<<2 }

// giveToOwner makes the owner of the tree the owner of a file that the superuser has created. For other users it does nothing.
func (f *folder) giveToOwner(name string) error {
	if os.Geteuid() != 0 || f.tree.owners[0] == 0 {
		return nil
	}
	return f.root.Lchown(name, int(f.tree.owners[0]), -1)
}
