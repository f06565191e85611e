//go:build unix

package server

import "golang.org/x/sys/unix"

// descriptors is how many files and connections this process may have open; 0: nobody knows, or as many as it likes. Go
// has raised the soft limit to the hard one before main began.
func descriptors() int {
	var limit unix.Rlimit
	const many = 1 << 30
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || limit.Cur > many {
		return 0
	}
	return int(limit.Cur) //nolint:gosec // it is at most many
}
