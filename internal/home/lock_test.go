package home

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

func acquire(t *testing.T, d Dir) *Lock {
	t.Helper()
	l, err := d.Acquire()
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestOnlyOneHubUsesAHome(t *testing.T) {
	d := newHome(t)
	if _, running, err := d.Running(); err != nil || running {
		t.Fatalf("nobody is there yet: %v, %v", running, err)
	}
	l := acquire(t, d)
	if _, err := d.Acquire(); err == nil || !strings.Contains(err.Error(), "is in use by a hub that is starting, or another command") {
		t.Errorf("a second one: %v", err)
	}
	hub := Hub{PID: 17, Address: "127.0.0.1:7717", Socket: d.Socket(), StartedAt: time.Now().UTC().Truncate(time.Second), Version: "1"}
	if err := l.Announce(hub); err != nil {
		t.Fatal(err)
	}
	_, err := d.Acquire()
	if parley.AsError(err).Reason != parley.Conflict || !strings.Contains(err.Error(), "process 17, since ") ||
		!strings.Contains(err.Error(), "at 127.0.0.1:7717") {
		t.Errorf("a third one: %v", err)
	}
	if found, running, err := d.Running(); err != nil || !running || found != hub {
		t.Errorf("found %+v, %v, %v", found, running, err)
	}
	if text, err := os.ReadFile(d.runFile("address")); err != nil || string(text) != "127.0.0.1:7717\n" {
		t.Errorf("the address is %q, %v", text, err)
	}
	if err := l.Release(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(d.runFile("*")); len(left) != 1 || filepath.Base(left[0]) != "hub.lock" {
		t.Errorf("left behind: %q", left)
	}
	if err := acquire(t, d).Release(); err != nil {
		t.Error(err)
	}
}

func TestAKilledHubDoesNotCountAsRunning(t *testing.T) {
	d := newHome(t)
	l := acquire(t, d)
	if err := l.Announce(Hub{PID: 17, Address: "127.0.0.1:7717"}); err != nil {
		t.Fatal(err)
	}
	if err := l.file.Close(); err != nil { // as a kill does
		t.Fatal(err)
	}
	if _, running, err := d.Running(); err != nil || running {
		t.Errorf("it is taken for running: %v, %v", running, err)
	}
	if err := acquire(t, d).Release(); err != nil {
		t.Error(err)
	}
}

func TestCheckingTheLockDoesNotKeepAHubOut(t *testing.T) {
	d := newHome(t)
	asking, err := os.Create(d.runFile("hub.lock"))
	if err != nil {
		t.Fatal(err)
	}
	if err := lockFile(asking, false); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(lockPause, func() { _ = asking.Close() })
	if err := acquire(t, d).Release(); err != nil {
		t.Error(err)
	}
}

func TestTheSocketIsPrivateAndReplacesAStaleOne(t *testing.T) {
	d := newHome(t)
	l := acquire(t, d)
	defer func() { _ = l.Release() }()
	stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: d.Socket()})
	if err != nil {
		t.Fatal(err)
	}
	stale.SetUnlinkOnClose(false) // as a kill leaves it
	_ = stale.Close()
	listener, err := l.Listen()
	if err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(d.Socket())
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
	if err := listener.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(d.Socket()); err == nil {
		t.Error("the socket is left behind")
	}
}

func TestOnlyASocketIsReplaced(t *testing.T) {
	d := newHome(t)
	l := acquire(t, d)
	defer func() { _ = l.Release() }()
	if err := os.WriteFile(d.Socket(), []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Listen(); err == nil || !strings.Contains(err.Error(), "not a socket") {
		t.Errorf("got %v", err)
	}
	if text, _ := os.ReadFile(d.Socket()); string(text) != "mine" {
		t.Error("the file is gone")
	}
}

func TestLongPathsMoveToTheRuntimeDirectory(t *testing.T) {
	runtime, err := os.MkdirTemp("/tmp", "parley-test-") // a short path
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(runtime) })
	d := Dir(filepath.Join(t.TempDir(), strings.Repeat("long", 25)))
	if err := d.Make(); err != nil {
		t.Fatal(err)
	}
	t.Setenv("XDG_RUNTIME_DIR", runtime)
	path := d.Socket()
	if !strings.HasPrefix(path, runtime+"/parley/") {
		t.Fatalf("the socket is %s", path)
	}
	if other := (d + "er").Socket(); other == path {
		t.Error("two homes have one socket")
	}
	l := acquire(t, d)
	defer func() { _ = l.Release() }()
	listener, err := l.Listen()
	if err != nil {
		t.Fatal(err)
	}
	_ = listener.Close()
	if err := os.Chmod(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := l.Listen(); err == nil || !strings.Contains(err.Error(), "chmod 700") {
		t.Errorf("a directory others may enter: %v", err)
	}
	t.Setenv("XDG_RUNTIME_DIR", "")
	if path := d.Socket(); !strings.HasPrefix(path, "/tmp/parley-") || len(path) > maxSocketPath {
		t.Errorf("without a runtime directory the socket is %s", path)
	}
}

func TestALinkIsNotFollowedToTheSocketsDirectory(t *testing.T) {
	target := newHome(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(string(target), link); err != nil {
		t.Fatal(err)
	}
	if err := privateDir(link); err == nil {
		t.Error("it was")
	}
}

// TestADirectoryOfAnotherUserHasNoSocket: whoever owns it could put another socket in its place. Only root can
// make one, and root is who would otherwise believe it.
func TestADirectoryOfAnotherUserHasNoSocket(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(dir, 12345, -1); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	if err := privateDir(dir); err == nil || !strings.Contains(err.Error(), "another user") {
		t.Errorf("got %v", err)
	}
}
