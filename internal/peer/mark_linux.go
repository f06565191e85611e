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

// ownLimit and ownProof return the hard limits of this process. They return 0 if the process cannot set limits, as in some
// sandboxes.
var (
	ownLimit = sync.OnceValue(func() uint64 { return hardLimit(unix.RLIMIT_LOCKS) })
	ownProof = sync.OnceValue(func() uint64 { return hardLimit(unix.RLIMIT_RTTIME) })
)

func hardLimit(which int) uint64 {
	var own unix.Rlimit
	if err := unix.Prlimit(0, which, nil, &own); err != nil {
		return 0
	}
	lowered := unix.Rlimit{Cur: min(own.Cur, highest), Max: own.Max} // only the soft limit, which the process can raise again
	if unix.Prlimit(0, which, &lowered, nil) != nil || unix.Prlimit(0, which, &own, nil) != nil {
		return 0
	}
	return own.Max
}

// limitsOf returns the limits of a process. A limit that the system does not list is infinite. It returns errEnded if there is no
// such process.
func limitsOf(pid int) (l limits, err error) {
	text, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/limits")
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, unix.ESRCH) {
		return l, errEnded
	}
	l = limits{unix.RLIM_INFINITY, unix.RLIM_INFINITY}
	for line := range bytes.Lines(text) {
		if values, found := bytes.CutPrefix(line, []byte("Max file locks")); found && err == nil {
			l.mark, err = parseLimit(values)
		}
		if values, found := bytes.CutPrefix(line, []byte("Max realtime timeout")); found && err == nil {
			l.proof, err = parseLimit(values)
		}
	}
	return l, err
}

// parseLimit reads the hard limit in a line of the form "soft hard unit".
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
