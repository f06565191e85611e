package home

import (
	"errors"
	"os"
	"time"

	"github.com/parley-hub/parley"
)

// Lock is the right to run a hub in a home. Only one process at a time has it, with any store.
type Lock struct {
	dir  Dir
	file *os.File
}

// errLocked is the error of lockFile if another process has the lock.
var errLocked = errors.New("locked by another process")

// Acquire makes several attempts, because a process can have the lock for a moment only: a process that checks whether a hub
// runs, or a child of a killed hub until it executes another program.
const (
	lockAttempts          = 20
	abandonedLockAttempts = 400 // attempts if the hub that had the lock has ended
	lockPause             = 5 * time.Millisecond
)

// Acquire takes the lock of an existing home. The process keeps it until Release or until the process ends. If another process
// has the lock, Acquire returns E002 (Conflict), which names that process.
func (d Dir) Acquire() (*Lock, error) {
	file, err := os.OpenFile(d.runFile("hub.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, d.lockError(err)
	}
	for n := range abandonedLockAttempts {
		if err = lockFile(file, true); !errors.Is(err, errLocked) || n >= lockAttempts && !hasEnded(d.readAnnouncement().PID) {
			break
		}
		time.Sleep(lockPause)
	}
	if err == nil {
		l := &Lock{d, file}
		if err = l.retract(); err == nil { // the announcement of a killed hub may name a process id that another process has now
			return l, nil
		}
	}
	_ = file.Close()
	if errors.Is(err, errLocked) {
		return nil, d.inUseError()
	}
	return nil, d.lockError(err)
}

func (d Dir) lockError(err error) error {
	return parley.Errorf(parley.Unavailable, "cannot lock the home %s: %w", d, err).
		Suggest("check its permissions and the free space on its disk, or choose another home with --home")
}

// Release removes the announcement and releases the lock. It leaves the lock file in place, because a process that has just
// opened the file would otherwise lock a removed file.
func (l *Lock) Release() error { return errors.Join(l.retract(), l.file.Close()) }

// isLocked reports whether a process has locked a file exclusively. It returns false if the file does not exist.
func isLocked(path string) (bool, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	err = lockFile(file, false)
	locked := errors.Is(err, errLocked)
	if locked {
		err = nil
	}
	return locked, errors.Join(err, file.Close())
}
