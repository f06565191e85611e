package peer

import (
	"os"
	"os/signal"
	"strconv"

	"golang.org/x/sys/unix"
)

// Adopt makes this process the parent of every descendant whose parent ends. So a process that detached itself can still be
// traced to this one.
func Adopt() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

func notifyOfChildren() (ended <-chan os.Signal, ignore func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, unix.SIGCHLD)
	return c, func() { signal.Stop(c) }
}

// processes returns all processes that the hub can see.
func processes() map[int]seen {
	found := map[int]seen{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if s, err := lookAt(pid); err == nil {
			found[pid] = s
		}
	}
	return found
}

func lookAt(pid int) (seen, error) {
	s, err := readStat(pid)
	if err != nil {
		return seen{}, err
	}
	found, err := limitsOf(pid)
	return seen{s.process, s.state == 'Z', found.mark}, err
}

func waitFor(pid int) { _, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil) }

// kill ends a process if it is still a leftover, and reports whether it did.
func (r *Reaper) kill(pid int, l live) bool {
	return killIf(pid, func(pid int) bool {
		s, err := lookAt(pid)
		return err == nil && r.isLeftover(pid, s, l)
	})
}

func ownSession() int {
	session, err := unix.Getsid(0)
	if err != nil {
		return 0
	}
	return session
}
