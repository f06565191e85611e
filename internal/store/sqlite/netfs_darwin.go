package sqlite

import (
	"fmt"
	"syscall"
)

const mntLocal = 0x1000 // MNT_LOCAL of sys/mount.h

// networkFS returns the name of the network file system that holds a path, or "" if the file system is local.
func networkFS(path string) (string, error) {
	var info syscall.Statfs_t
	if err := syscall.Statfs(path, &info); err != nil {
		return "", fmt.Errorf("looking at the file system of %s: %w", path, err)
	}
	if info.Flags&mntLocal != 0 {
		return "", nil
	}
	name := make([]byte, 0, len(info.Fstypename))
	for _, c := range info.Fstypename {
		if c == 0 {
			break
		}
		name = append(name, byte(c))
	}
	return string(name), nil
}
