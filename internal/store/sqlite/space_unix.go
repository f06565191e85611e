//go:build linux || darwin

package sqlite

import "syscall"

// space is what is free for this user, and in all, on the disk of a path.
func space(path string) (free, total int64, err error) {
	var info syscall.Statfs_t
	if err := syscall.Statfs(path, &info); err != nil {
		return 0, 0, err
	}
	return inBytes(info.Bavail, info.Bsize), inBytes(info.Blocks, info.Bsize), nil
}

// inBytes takes a block's size as each system gives it.
func inBytes[Size int32 | uint32 | int64](blocks uint64, size Size) int64 {
	return int64(blocks) * int64(size)
}
