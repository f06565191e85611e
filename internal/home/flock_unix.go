//go:build unix

package home

import (
	"errors"
	"os"
	"syscall"
)

// hasEnded reports whether a process has ended.
func hasEnded(pid int) bool { return pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }

// lockFile takes an exclusive lock, or a shared one that only excludes exclusive locks. It does not wait.
func lockFile(file *os.File, alone bool) error {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errLocked
	}
	return err
}
