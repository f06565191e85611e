package pgtest

import "syscall"

// place is the directory a cluster goes to. What need not last is made in memory, where there is
// enough of it: that makes databases ten times faster.
func (o Options) place() string {
	const memory, enough = "/dev/shm", 2 << 30
	var free syscall.Statfs_t
	if o.Durable || syscall.Statfs(memory, &free) != nil || free.Bavail*uint64(free.Bsize) < enough {
		return ""
	}
	return memory
}
