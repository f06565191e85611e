package peer

import (
	"os"

	"golang.org/x/sys/unix"
)

// become marks this process and replaces its program. The process keeps its PID.
func become(marks limits, path string, argv []string) error {
	for which, limit := range map[int]uint64{unix.RLIMIT_LOCKS: marks.mark, unix.RLIMIT_RTTIME: marks.proof} {
		if limit == 0 {
			continue
		}
		if err := unix.Prlimit(0, which, &unix.Rlimit{Cur: limit, Max: limit}, nil); err != nil {
			return err
		}
	}
	return unix.Exec(path, argv, os.Environ())
}
