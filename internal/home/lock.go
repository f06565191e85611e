package home

import (
	"errors"
	"os"
	"time"

	"github.com/parley-hub/parley"
)

// Lock is the right to run in a home. One process at a time has it, whatever it stores its messages in.
type Lock struct {
	dir  Dir
	file *os.File
}

// errHeld says that another process has the lock.
var errHeld = errors.New("locked by another process")

// One who asks whether a hub runs holds the lock for a moment, and so may what a hub was starting when it was
// killed, until it is another program. Who wants to keep it tries again.
const (
	lockAttempts          = 20
	abandonedLockAttempts = 400 // tries, where the hub that had it is gone
	lockPause             = 5 * time.Millisecond
)

// Acquire takes the lock of a home that exists. It ends with the process, or by Release. E002 with who has it
// (Conflict) if another process does.
func (d Dir) Acquire() (*Lock, error) {
	file, err := os.OpenFile(d.runFile("hub.lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, d.lockError(err)
	}
	for n := range abandonedLockAttempts {
		if err = lockFile(file, true); !errors.Is(err, errHeld) || n >= lockAttempts && !hasEnded(d.readAnnouncement().PID) {
			break
		}
		time.Sleep(lockPause)
	}
	if err == nil {
		l := &Lock{d, file}
		if err = l.retract(); err == nil { // a killed hub may have left what names another process by now
			return l, nil
		}
	}
	_ = file.Close()
	if errors.Is(err, errHeld) {
		return nil, d.inUseError()
	}
	return nil, d.lockError(err)
}

func (d Dir) lockError(err error) error {
	return parley.Errorf(parley.Unavailable, "cannot lock the home %s: %w", d, err).
		Suggest("check its permissions and the free space on its disk, or choose another home with --home")
}

// Release removes what was announced and gives the home back. The file stays: removing it would race with
// one who has just opened it.
func (l *Lock) Release() error { return errors.Join(l.retract(), l.file.Close()) }

// isLocked says whether a process has a lock, without keeping it.
func isLocked(path string) (bool, error) {
	file, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	err = lockFile(file, false)
	held := errors.Is(err, errHeld)
	if held {
		err = nil
	}
	return held, errors.Join(err, file.Close())
}
