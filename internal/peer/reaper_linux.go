package peer

import (
	"os"
	"os/signal"
	"strconv"

	"golang.org/x/sys/unix"
)

// Adopt makes this process the parent of every descendant whose parent ends. So the hub can still find the origin of a process
// that has detached itself.
func Adopt() error { return unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) }

// notifyOfChildren returns a channel that receives a signal when a child has ended. The caller must call ignore at the end.
func notifyOfChildren() (ended <-chan os.Signal, ignore func()) {
	c := make(chan os.Signal, 1)
	signal.Notify(c, unix.SIGCHLD)
	return c, func() { signal.Stop(c) }
}

// processes returns all processes that the hub can see.
func processes() map[int]processState {
	found := map[int]processState{}
	entries, err := os.ReadDir("/proc")
	if err != nil {
		return nil
	}
	for _, entry := range entries {
		pid, err := strconv.Atoi(entry.Name())
		if err != nil {
			continue
		}
		if s, err := stateOf(pid); err == nil {
			found[pid] = s
		}
	}
	return found
}

func stateOf(pid int) (processState, error) {
	s, err := readStat(pid)
	if err != nil {
		return processState{}, err
	}
	found, err := limitsOf(pid)
	return processState{s.process, s.state == 'Z', found.mark}, err
}

func waitFor(pid int) { _, _ = unix.Wait4(pid, nil, unix.WNOHANG, nil) }

// kill kills a process if it is still a leftover, and reports whether it did.
func (r *Reaper) kill(pid int, l liveRuns) bool {
	return killIf(pid, func(pid int) bool {
		s, err := stateOf(pid)
		return err == nil && r.isLeftover(pid, s, l)
	})
}

// ownSession returns the session of this process, or 0 if it is unknown.
func ownSession() int {
	session, err := unix.Getsid(0)
	if err != nil {
		return 0
	}
	return session
}
