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

// children are those of this process.
func children() map[int]child {
	self, found := os.Getpid(), map[int]child{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if s, err := readStat(pid); err == nil && s.parent == self {
			found[pid] = child{s.process, s.group, s.state == 'Z'}
		}
	}
	return found
}

func waitFor(pid int) { _, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil) }

// kill ends a child. Its number is its own until it has been waited for.
func kill(pid int) { _ = unix.Kill(pid, unix.SIGKILL) }

func ownGroup() int { return unix.Getpgrp() }
