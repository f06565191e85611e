//go:build unix

package home

import (
	"errors"
	"os"
	"syscall"
)

// lockFile takes a lock for itself alone, or one that only shuts out such. It does not wait.
func lockFile(file *os.File, alone bool) error {
	how := syscall.LOCK_SH
	if alone {
		how = syscall.LOCK_EX
	}
	err := syscall.Flock(int(file.Fd()), how|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		return errHeld
	}
	return err
}
