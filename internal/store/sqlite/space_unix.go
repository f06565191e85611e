//go:build linux || darwin

package sqlite

import "syscall"

// space returns the bytes that are free for this user on the disk of a path, and the size of the disk.
func space(path string) (free, total int64, err error) {
	var info syscall.Statfs_t
	if err := syscall.Statfs(path, &info); err != nil {
		return 0, 0, err
	}
	return inBytes(info.Bavail, info.Bsize), inBytes(info.Blocks, info.Bsize), nil
}

// inBytes converts a number of blocks to bytes. The type of a block's size differs between systems.
func inBytes[Size int32 | uint32 | int64](blocks uint64, size Size) int64 {
	return int64(blocks) * int64(size)
}
