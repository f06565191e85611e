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

func acquire(home, path string) (*lock, error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	err = syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		holder, _ := io.ReadAll(io.LimitReader(file, 1<<10))
		_ = file.Close()
		return nil, parley.Errorf(parley.Unavailable, "the home %s is in use by %s", home, strings.TrimSpace(string(holder))).
			Because(parley.Conflict).Suggest("stop that hub, or use another home")
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	host, _ := os.Hostname()
	holder := fmt.Sprintf("process %d on %s since %s\n", os.Getpid(), host, time.Now().UTC().Format(time.RFC3339))
	err = file.Truncate(0)
	if err == nil {
		_, err = file.WriteString(holder)
	}
	if err != nil {
		_ = file.Close()
		return nil, fmt.Errorf("writing %s: %w", path, err)
	}
	return &lock{file}, nil
}

// release empties the file and leaves it: removing it would race with one who has just opened it.
func (l *lock) release() error {
	return errors.Join(l.file.Truncate(0), l.file.Close())
}
