package peer

import (
	"os"
	"os/signal"
	"strconv"

	"golang.org/x/sys/unix"
)

// Adopt makes this process the parent of every descendant that loses its own, so that one that detached
// itself is still known to come from here.
func Adopt() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

func notifyOfChildren() (ended <-chan os.Signal, ignore func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, unix.SIGCHLD)
	return c, func() { signal.Stop(c) }
}

// endedChildren are the children of this process that nobody has waited for.
func endedChildren() map[int]process {
	self, found := os.Getpid(), map[int]process{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if s, err := readStat(pid); err == nil && s.parent == self && s.state == 'Z' {
			found[pid] = s.process
		}
	}
	return found
}

func waitFor(pid int) { _, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil) }
