package peer

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strconv"
	"sync"

	"golang.org/x/sys/unix"
)

// ownLimit is the limit of this process, or 0 where none can be set: some sandboxes do not know it.
var ownLimit = sync.OnceValue(func() uint64 {
	var own unix.Rlimit
	if err := unix.Prlimit(0, unix.RLIMIT_LOCKS, nil, &own); err != nil {
		return 0
	}
	tried := unix.Rlimit{Cur: min(own.Cur, highest), Max: own.Max} // the soft one, which can be raised again
	if unix.Prlimit(0, unix.RLIMIT_LOCKS, &tried, nil) != nil || unix.Prlimit(0, unix.RLIMIT_LOCKS, &own, nil) != nil {
		return 0
	}
	return own.Max
})

// isMarked says whether a process descends from a run of any hub.
func isMarked(pid int) (bool, error) {
	mark, err := markIn(pid)
	return err == nil && mark < ownLimit(), err
}

// markIn is the limit of a process.
func markIn(pid int) (uint64, error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/limits")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return 0, errGone
	}
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(text) {
		if limits, found := bytes.CutPrefix(line, []byte("Max file locks")); found {
			return parseLimit(limits)
		}
	}
	return unix.RLIM_INFINITY, nil // such a limit is not known here
}

// parseLimit reads the hard limit of "soft hard unit".
func parseLimit(text []byte) (uint64, error) {
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0, fmt.Errorf("/proc has a limit that cannot be read: %q", text)
	}
	if string(fields[1]) == "unlimited" {
		return unix.RLIM_INFINITY, nil
	}
	return strconv.ParseUint(string(fields[1]), 10, 64)
}
