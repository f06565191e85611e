package pgtest

import "syscall"

// parentDir returns the directory in which to make the directory of a cluster; "" is the default one for temporary files. A
// cluster that need not be durable goes into memory if there is enough space, because that makes databases ten times faster.
func (o Options) parentDir() string {
	const memory, enough = "/dev/shm", 2 << 30
	var free syscall.Statfs_t
	if o.Durable || syscall.Statfs(memory, &free) != nil || free.Bavail*uint64(free.Bsize) < enough {
		return ""
	}
	return memory
}
