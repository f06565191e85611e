package pgtest

import "syscall"

// Memory returns a directory whose files are in memory, if the system has one with at least free bytes left. Otherwise it returns
// "", which stands for the default directory for temporary files.
func Memory(free uint64) string {
	const dir = "/dev/shm"
	var info syscall.Statfs_t
	if syscall.Statfs(dir, &info) != nil || info.Bavail*uint64(info.Bsize) < free {
		return ""
	}
	return dir
}
