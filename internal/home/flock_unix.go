//go:build unix

package home

import (
	"errors"
	"os"
	"syscall"
)

// hasEnded reports whether a process has ended.
func hasEnded(pid int) bool { return pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// lockFile takes an exclusive or a shared lock on a file. It does not wait: it returns errLocked if another process has a lock
// that excludes this one.
func lockFile(file *os.File, exclusive bool) error {
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
