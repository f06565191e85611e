//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"github.com/parley-hub/parley"
)

// lock makes sure that only one process uses a home. Other processes can read in the file which process that is.
type lock struct{ file *os.File }

// If a hub was killed while it started a program, the new process keeps the lock until it executes that program. acquireLock
// waits for that. Two seconds are much longer than it takes.
const (
	lockAttempts = 400
	lockPause    = 5 * time.Millisecond
)

func acquireLock(home, path string) (*lock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	holder := ""
	for range lockAttempts {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		if holder = readHolder(file); !holderEnded(holder) {
			break
		}
		time.Sleep(lockPause)
	}
	if errors.Is(err, syscall.EWOULDBLOCK) {
		_ = file.Close()
		return nil, parley.Errorf(parley.Unavailable, "the home %s is in use by %s", home, holder).
			Because(parley.Conflict).Suggest("stop that hub, or use another home")
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	host, _ := os.Hostname()
	err = file.Truncate(0)
	if err == nil {
		_, err = file.WriteAt(fmt.Appendf(nil, holderFormat+" since %s\n", os.Getpid(), host, time.Now().UTC().Format(time.RFC3339)), 0)
	}
	if err != nil && !errors.Is(err, syscall.ENOSPC) { // on a full disk the lock works too, but the file names no process
		_ = file.Close()
		return nil, fmt.Errorf("writing %s: %w", path, err)
	}
	return &lock{file}, nil
}

// holderFormat is the form in which the file names the process that has the lock.
const holderFormat = "process %d on %s"

func readHolder(file *os.File) string {
	text, _ := io.ReadAll(io.NewSectionReader(file, 0, 1<<10))
	return strings.TrimSpace(string(text))
}

// holderEnded reports whether the holder was a process of this machine that has ended.
func holderEnded(holder string) bool {
	var (
		pid  int
		host string
	)
	if _, err := fmt.Sscanf(holder, holderFormat, &pid, &host); err != nil || pid <= 0 {
		return false
	}
	here, _ := os.Hostname()
	return host == here && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// release gives the lock up and empties the file. It does not remove the file: another process may just have opened it.
func (l *lock) release() error {
	return errors.Join(l.file.Truncate(0), l.file.Close())
}
