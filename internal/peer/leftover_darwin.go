package peer

import (
	"errors"

	"golang.org/x/sys/unix"
)

// kill kills the groups of the processes that began sessions, and says whether there was nothing. What has a group of
// its own in such a session is not found on this system.
func (l leftovers) kill() (none bool, err error) {
	none = true
	for group := range l.sessions {
		err := unix.Kill(-group, unix.SIGKILL)
		if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EPERM) { // EPERM: only ended ones are left
			delete(l.sessions, group)
			continue
		}
		none = false
	}
	return none, nil
}
