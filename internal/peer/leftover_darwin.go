package peer

import (
	"errors"

	"golang.org/x/sys/unix"
)

// kill kills the process groups of the session leaders, and reports whether there were none. On this system it cannot find the
// other process groups of these sessions.
func (l leftovers) kill() (none bool, err error) {
	none = true
	for group := range l.sessions {
		err := unix.Kill(-group, unix.SIGKILL)
		if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EPERM) { // EPERM: only ended processes are left
			delete(l.sessions, group)
			continue
		}
		none = false
	}
	return none, nil
}
