package peer

import (
	"os"

	"golang.org/x/sys/unix"
)

// become marks this process and makes it another program, with the same number.
func become(mark uint64, path string, argv []string) error {
	if err := unix.Prlimit(0, unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: mark, Max: mark}, nil); err != nil {
		return err
	}
	return unix.Exec(path, argv, os.Environ())
}
