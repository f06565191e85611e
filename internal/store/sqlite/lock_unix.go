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

// lock makes sure that one process uses a home, and tells others which.
type lock struct{ file *os.File }

// A hub that was killed may have been starting a program, which has the lock until it is that program. Two
// seconds are long for that.
const (
	lockTries = 400
	lockPause = 5 * time.Millisecond
)

func acquire(home, path string) (*lock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	holder := ""
	for range lockTries {
		err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) {
			break
		}
		if holder = readHolder(file); !gone(holder) {
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
		_, err = file.WriteAt(fmt.Appendf(nil, holderForm+" since %s\n", os.Getpid(), host, time.Now().UTC().Format(time.RFC3339)), 0)
	}
	if err != nil && !errors.Is(err, syscall.ENOSPC) { // a full disk locks the home no less
		_ = file.Close()
		return nil, fmt.Errorf("writing %s: %w", path, err)
	}
	return &lock{file}, nil
}

// holderForm is how the file says who has it.
const holderForm = "process %d on %s"

func readHolder(file *os.File) string {
	text, _ := io.ReadAll(io.NewSectionReader(file, 0, 1<<10))
	return strings.TrimSpace(string(text))
}

// gone says that the holder was a process of this machine that has ended.
func gone(holder string) bool {
	var (
		pid  int
		host string
	)
	if _, err := fmt.Sscanf(holder, holderForm, &pid, &host); err != nil || pid <= 0 {
		return false
	}
	here, _ := os.Hostname()
	return host == here && errors.Is(syscall.Kill(pid, 0), syscall.ESRCH)
}

// release empties the file and leaves it: removing it would race with one who has just opened it.
func (l *lock) release() error {
	return errors.Join(l.file.Truncate(0), l.file.Close())
}
