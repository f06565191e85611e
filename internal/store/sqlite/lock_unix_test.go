//go:build unix

package sqlite

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// TestALockOfAKilledHub opens a home whose hub was killed while it was starting a program: that has the lock
// for a moment longer.
func TestALockOfAKilledHub(t *testing.T) {
	dead := exec.Command("true")
	if err := dead.Run(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "lock")
	held, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	host, _ := os.Hostname()
	if _, err := fmt.Fprintf(held, holderFormat+" since noon\n", dead.Process.Pid, host); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Flock(int(held.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(20*time.Millisecond, func() { _ = held.Close() })
	l, err := acquireLock("home", path)
	if err != nil {
		t.Fatal(err)
	}
	if holder := readHolder(l.file); holderEnded(holder) {
		t.Errorf("the lock is %q's", holder)
	}
	if _, err := acquireLock("home", path); err == nil {
		t.Error("a second process has it too")
	}
	if err := l.release(); err != nil {
		t.Fatal(err)
	}
}
