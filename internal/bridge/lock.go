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
	root *os.File // the directory itself; nil if the file system cannot lock directories
	// ahead is how far the clock that stamps files is ahead of this machine's clock. A file server has a clock of its own.
	ahead    time.Duration
	lockless bool // the file system has no locks, so a second bridge can use the tree
}

// errLockLost is the error for a lock that was removed or replaced, so that another bridge may use the tree.
var errLockLost = errors.New(ownFolder + "/lock was removed or replaced while the bridge ran: another hub may use the tree")

// lock takes the lock of a tree. E002, with the name of the holder, if another bridge has the lock.
func lock(t *tree, b parley.Bridge) (*treeLock, error) {
	root, err := lockRoot(t)
	if err != nil {
		return nil, err
	}
	var l *treeLock
	err = t.inMadeFolder(ownFolder, func(f *folder) error {
		handle, _, err := f.openFile(lockFile, os.O_RDWR|os.O_CREATE)
		if err != nil {
			return err
		}
		l, err = signLock(handle, t, b)
		if err != nil {
			return errors.Join(err, handle.Close())
		}
		return nil
	})
	if err != nil {
		closeRoot(root)
		return nil, err
	}
	l.root = root
	t.checkLock = func() error { return l.checkFile(t) }
	return l, nil
}

const lockFile = "lock"

// lockRoot locks the directory of a tree. It returns nil if the file system cannot lock directories. E002 if another bridge has
// it.
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
	holder, _ := t.read(ownFolder+"/"+lockFile, 200) // without it the sentence says less
	return nil, errTaken(holder.raw)
}

func closeRoot(root *os.File) {
	if root != nil {
		_ = root.Close() // with it goes the lock
	}
}

// errTaken returns the error for a lock that another bridge has. It names the holder, if the lock file does.
func errTaken(holder []byte) error {
	name := oneLine(string(holder))
	if name == "" {
		name = "its lock does not say which"
	}
	return parley.Errorf(parley.Unavailable, "another bridge uses this tree: %s", name).
		Suggest("stop the other bridge first: run parley bridge pause with its id at its hub, or press Ctrl-C where it runs")
}

// checkFile returns errLockLost if the lock file is not the file that this process has locked.
func (l *treeLock) checkFile(t *tree) error {
	own, err := l.file.Stat()
	if err != nil {
		return err
	}
	current, err := t.root.Lstat(ownFolder + "/" + lockFile)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !os.SameFile(own, current) {
		return errLockLost
	}
	return nil // the file may still exist although it cannot be read now
}

func signLock(handle *os.File, t *tree, b parley.Bridge) (*treeLock, error) {
	err := t.flock(int(handle.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		holder, _ := io.ReadAll(io.LimitReader(handle, 200)) // without it the sentence says less
		return nil, errTaken(holder)
	}
	lockless := errors.Is(err, syscall.ENOLCK) || errors.Is(err, syscall.ENOTSUP)
	if err != nil && !lockless {
		return nil, err
	}
	ahead, err := writeHolder(handle, t, b)
	return &treeLock{file: handle, ahead: ahead, lockless: lockless}, err
}

// writeHolder writes the name of the holder into the lock and returns how far the clock that stamps files is ahead. On a full
// disk it does neither and returns no error, because the import still works.
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
func (l *treeLock) release() {
	_ = l.file.Close() // with it goes the lock
	closeRoot(l.root)
}
