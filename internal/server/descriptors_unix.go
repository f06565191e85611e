//go:build unix

package server

import "golang.org/x/sys/unix"

// descriptors returns how many files and connections this process may open; 0 means unknown or unlimited. Go raised the soft limit
// to the hard limit before main began.
func descriptors() int {
	var limit unix.Rlimit
	const many = 1 << 30
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > many {
		return 0
	}
	return int(limit.Cur) //nolint:gosec // it is at most many
}
