//go:build unix

package hook

import (
	"context"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// lockPause is the pause between two attempts to lock a file, while its holder ends.
const lockPause = 20 * time.Millisecond

// lockWait locks a file and writes the number of this process into it. It waits until the present holder has ended. unlock removes the
// file.
func lockWait(ctx context.Context, path string) (unlock func(), err error) {
	for {
		file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|syscall.O_NOFOLLOW, 0o600)
		if err != nil {
			return nil, err
		}
		if err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err == nil && isSameFile(path, file) {
			_ = file.Truncate(0)
			_, err = file.WriteAt([]byte(strconv.Itoa(os.Getpid())), 0)
			return func() { _ = os.Remove(path); _ = file.Close() }, err
		}
		_ = file.Close()
		if err != nil && !errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, err
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(lockPause):
		}
	}
}

// isSameFile reports whether a path still leads to an open file: its former holder may have removed it.
func isSameFile(path string, file *os.File) bool {
	there, err := os.Stat(path)
	own, err2 := file.Stat()
	return err == nil && err2 == nil && os.SameFile(there, own)
}

// endWait asks the process that has locked a file to end. Only the holder of the lock is asked: another process may have its number
// once it has ended.
func endWait(path string) {
	file, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return
	}
	defer func() { _ = file.Close() }()
	if !errors.Is(syscall.Flock(int(file.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK) {
		return
	}
	text, _ := io.ReadAll(io.LimitReader(file, 20))
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && pid > 1 && pid != os.Getpid() {
		_ = syscall.Kill(pid, syscall.SIGTERM)
	}
}

// HasEnded reports whether a process has ended.
func HasEnded(pid int) bool { return pid > 0 && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH) }
