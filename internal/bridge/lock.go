package bridge

import (
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
	"time"

	"github.com/parley-hub/parley"
)

// holder is a tree's lock as one process has it.
type holder struct {
	file *os.File
	// ahead is how far the clock that stamps files is ahead of this machine's: that of a file server may be another's.
	ahead    time.Duration
	lockless bool // others cannot be kept away
}

// lock takes the lock of a tree. E002, naming who has it, if another bridge is at it.
func lock(t *tree, b parley.Bridge) (*holder, error) {
	var h *holder
	err := t.inMade(own, func(f *folder) error {
		handle, _, err := f.openFile("lock", os.O_RDWR|os.O_CREATE)
		if err != nil {
			return err
		}
		h, err = hold(handle, t, b)
		if err != nil {
			return errors.Join(err, handle.Close())
		}
		return nil
	})
	return h, err
}

func hold(handle *os.File, t *tree, b parley.Bridge) (*holder, error) {
	err := t.flock(int(handle.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		who, _ := io.ReadAll(io.LimitReader(handle, 200)) // without it the sentence says less
		return nil, parley.Errorf(parley.Unavailable, "another bridge is at this tree: %s", oneLine(string(who))).
			Suggest("end it first: parley bridge pause with its id, at its hub, or Ctrl-C where it is run; one bridge at a time may be at a tree")
	}
	lockless := errors.Is(err, syscall.ENOLCK) || errors.Is(err, syscall.ENOTSUP)
	if err != nil && !lockless {
		return nil, err
	}
	ahead, err := sign(handle, t, b)
	return &holder{handle, ahead, lockless}, err
}

// sign writes into the lock who has it, which also shows what time it is where the files are. On a full disk neither is known: that
// keeps nobody from taking what it is full of.
func sign(handle *os.File, t *tree, b parley.Bridge) (ahead time.Duration, err error) {
	host, err := os.Hostname()
	if err != nil {
		return 0, err
	}
	now := time.Now()
	if err = handle.Truncate(0); err == nil {
		err = t.before(writing, own+"/lock")
	}
	if err == nil {
		_, err = handle.WriteAt(fmt.Appendf(nil, "the bridge %s, %s, process %d on %s\n", b.ID, b.Layout, os.Getpid(), host), 0)
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	info, err := handle.Stat()
	if err != nil {
		return 0, err
	}
	return info.ModTime().Sub(now), nil
}

func (h *holder) release() { _ = h.file.Close() } // with it goes the lock
