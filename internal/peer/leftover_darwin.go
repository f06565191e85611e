package peer

import (
	"errors"

	"golang.org/x/sys/unix"
)

// kill kills the groups, and says whether there was nothing.
func (l leftovers) kill() (none bool, err error) {
	none = true
	for group := range l.groups {
		err := unix.Kill(-group, unix.SIGKILL)
		if errors.Is(err, unix.ESRCH) || errors.Is(err, unix.EPERM) { // EPERM: only ended ones are left
			delete(l.groups, group)
			continue
		}
		none = false
	}
	return none, nil
}
