package bridge

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"

	"github.com/parley-hub/parley"
)

// treeLock is the lock of a tree that this process holds. The directory is locked besides the file, so that removing the
// file lets no second bridge in.
type treeLock struct {
	file *os.File
	root *os.File // the directory itself; nil where that cannot be locked
	// ahead is how far the clock that stamps files is ahead of this machine's: that of a file server may be another's.
	ahead    time.Duration
	lockless bool // others cannot be kept away
}

// errLockLost says that the lock of a tree was removed or replaced, so that another bridge may be at the tree.
var errLockLost = errors.New(ownFolder + "/lock was removed or replaced while the bridge ran: another hub may be at the tree")

// lock takes the lock of a tree. E002, with the name of the holder, if another bridge has it.
func lock(t *tree, b parley.Bridge) (*treeLock, error) {
	root, err := lockRoot(t)
	if err != nil {
		return nil, err
	}
	var h *treeLock
	err = t.inMadeFolder(ownFolder, func(f *folder) error {
		handle, _, err := f.openFile(lockFile, os.O_RDWR|os.O_CREATE)
		if err != nil {
			return err
		}
		h, err = signLock(handle, t, b)
		if err != nil {
			return errors.Join(err, handle.Close())
		}
		return nil
	})
	if err != nil {
		closeRoot(root)
		return nil, err
	}
	h.root = root
	t.checkLock = func() error { return h.checkFile(t) }
	return h, nil
}

const lockFile = "lock"

// lockRoot locks the directory of a tree. It returns nil where the file system cannot do that.
func lockRoot(t *tree) (*os.File, error) {
	root, err := t.root.Open(".")
	if err != nil {
		return nil, err
	}
	err = t.flock(int(root.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if err == nil {
		return root, nil
	}
	closeRoot(root)
	if !errors.Is(err, syscall.EWOULDBLOCK) {
		return nil, nil
	}
	who, _ := t.read(ownFolder+"/"+lockFile, 200) // without it the sentence says less
	return nil, errTaken(who.raw)
}

func closeRoot(root *os.File) {
	if root != nil {
		_ = root.Close() // with it goes the lock
	}
}

// errTaken returns the error that names the holder of the lock, as far as it is known.
func errTaken(who []byte) error {
	name := oneLine(string(who))
	if name == "" {
		name = "its lock does not say which"
	}
	return parley.Errorf(parley.Unavailable, "another bridge is at this tree: %s", name).
		Suggest("end it first: parley bridge pause with its id, at its hub, or Ctrl-C where it is run; one bridge at a time may be at a tree")
}

// checkFile returns errLockLost if the lock file is not the one that this process holds.
func (h *treeLock) checkFile(t *tree) error {
	mine, err := h.file.Stat()
	if err != nil {
		return err
	}
	there, err := t.root.Lstat(ownFolder + "/" + lockFile)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(mine, there) {
		return errLockLost
	}
	return nil // what cannot be seen at present may still be there
}

func signLock(handle *os.File, t *tree, b parley.Bridge) (*treeLock, error) {
	err := t.flock(int(handle.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		who, _ := io.ReadAll(io.LimitReader(handle, 200)) // without it the sentence says less
		return nil, errTaken(who)
	}
	lockless := errors.Is(err, syscall.ENOLCK) || errors.Is(err, syscall.ENOTSUP)
	if err != nil && !lockless {
		return nil, err
	}
	ahead, err := writeHolder(handle, t, b)
	return &treeLock{file: handle, ahead: ahead, lockless: lockless}, err
}

// writeHolder writes the name of the holder into the lock and returns how far the clock that stamps files is ahead. On a
// full disk it does neither, so that a full disk does not stop the import.
func writeHolder(handle *os.File, t *tree, b parley.Bridge) (ahead time.Duration, err error) {
	host, err := os.Hostname()
	if err != nil {
		return 0, err
	}
	now := time.Now()
	if err = handle.Truncate(0); err == nil {
		err = t.step(writing, ownFolder+"/lock")
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

// release gives up the lock.
func (h *treeLock) release() {
	_ = h.file.Close() // with it goes the lock
	closeRoot(h.root)
}
