package blobfs

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/iotest"

	"go.uber.org/goleak"
	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	_ "github.com/parley-hub/parley/internal/repeatable" // see there
)

// putDir makes the test binary put its standard input into this directory instead of running tests.
const putDir = "PARLEY_TEST_PUT_DIR"

func TestMain(m *testing.M) {
	if dir := os.Getenv(putDir); dir != "" {
		d, err := Open(dir)
		if err == nil {
			err = d.Put(context.Background(), os.Stdin, 1<<20, nothing)
		}
		fmt.Println("put:", err)
		return
	}
	goleak.VerifyTestMain(m)
}

func nothing(string, int64) error { return nil }

func opened(t *testing.T, dir string) *Dir {
	t.Helper()
	d, err := Open(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := d.Close(); err != nil {
			t.Error(err)
		}
	})
	return d
}

func put(t *testing.T, d *Dir, body string) string {
	t.Helper()
	if err := d.Put(t.Context(), strings.NewReader(body), 1<<20, nothing); err != nil {
		t.Fatal(err)
	}
	sum := sha256.Sum256([]byte(body))
	return hex.EncodeToString(sum[:])
}

func read(d *Dir, digest string) (string, error) {
	body, _, err := d.Open(context.Background(), digest)
	if err != nil {
		return "", err
	}
	b, err := io.ReadAll(iotest.OneByteReader(body))
	return string(b), errors.Join(err, body.Close())
}

// tree is what is in a directory, with its modes.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	found := map[string]string{}
	err := filepath.Walk(dir, func(path string, info os.FileInfo, err error) error {
		name, _ := filepath.Rel(dir, path)
		if err == nil {
			found[name] = info.Mode().String()
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func TestBodyIsAFileOnlyItsOwnerCanRead(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "bodies")
	digest := put(t, opened(t, dir), "hello")
	want := map[string]string{".": "drwx------", digest[:2]: "drwx------", digest[:2] + "/" + digest: "-rw-------"}
	if got := tree(t, dir); fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// A process killed in the middle of a Put leaves half a body under no digest, and the next to open the
// directory removes it.
func TestKilledPutLeavesNoBody(t *testing.T) {
	dir := t.TempDir()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	victim := exec.Command(self)
	victim.Env = append(os.Environ(), putDir+"="+dir)
	in, err := victim.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := victim.Start(); err != nil {
		t.Fatal(err)
	}
	// More than a pipe holds: when this is written, the other has read and stored some of it.
	if _, err := in.Write(make([]byte, 900<<10)); err != nil {
		t.Fatal(err)
	}
	if err := victim.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = victim.Wait()
	left := tree(t, dir)
	if len(left) != 2 {
		t.Fatalf("left: %v", left)
	}
	d := opened(t, dir)
	if left := tree(t, dir); len(left) != 1 {
		t.Errorf("left after opening: %v", left)
	}
	if list, err := d.List(t.Context(), "", 9); err != nil || len(list) > 0 {
		t.Errorf("bodies: %v, %v", list, err)
	}
}

func TestDamagedBodyIsNeverServedAsWhole(t *testing.T) {
	dir := t.TempDir()
	d := opened(t, dir)
	rapid.Check(t, func(rt *rapid.T) {
		body := string(rapid.SliceOfN(rapid.Byte(), 1, 2000).Draw(rt, "body"))
		digest := put(t, d, body)
		path := filepath.Join(dir, Name(digest))
		damaged := []byte(body)
		switch at := rapid.IntRange(0, len(body)-1).Draw(rt, "at"); rapid.SampledFrom([]string{"flip", "cut", "grow"}).Draw(rt, "how") {
		case "flip":
			damaged[at] ^= 1 << rapid.IntRange(0, 7).Draw(rt, "bit")
		case "cut":
			damaged = damaged[:at]
		default:
			damaged = append(damaged, 0)
		}
		if err := os.WriteFile(path, damaged, 0o600); err != nil {
			rt.Fatal(err)
		}
		if got, err := read(d, digest); !errors.Is(err, parley.ErrDamaged) {
			rt.Fatalf("%d bytes of %d and %v", len(got), len(body), err)
		}
		put(t, d, body)
		if got, err := read(d, digest); err != nil || got != body {
			rt.Fatalf("storing it again did not mend it: %v", err)
		}
	})
}

// What is not a plain file is not opened: a pipe would wait, a link would lead elsewhere.
func TestOnlyPlainFilesAreBodies(t *testing.T) {
	dir := t.TempDir()
	outside := filepath.Join(t.TempDir(), "outside")
	if err := os.WriteFile(outside, []byte("hello"), 0o600); err != nil {
		t.Fatal(err)
	}
	d := opened(t, dir)
	digest := put(t, d, "hello")
	path := filepath.Join(dir, Name(digest))
	for name, make := range map[string]func() error{
		"link":      func() error { return os.Symlink(outside, path) },
		"pipe":      func() error { return syscall.Mkfifo(path, 0o600) },
		"directory": func() error { return os.Mkdir(path, 0o700) },
	} {
		if err := errors.Join(os.Remove(path), make()); err != nil {
			t.Fatal(err)
		}
		if _, err := read(d, digest); !errors.Is(err, parley.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	linked := filepath.Dir(path)
	if err := errors.Join(os.Remove(linked), os.Symlink(filepath.Dir(outside), linked)); err != nil {
		t.Fatal(err)
	}
	if err := d.Put(t.Context(), strings.NewReader("hello"), 9, nothing); err == nil {
		t.Error("a body was written outside the directory")
	}
}

func TestNothingIsRemovedWhileAllIsCopied(t *testing.T) {
	d := opened(t, t.TempDir())
	digest := put(t, d, "hello")
	asked := 0
	remove := func() {
		t.Helper()
		err := d.Remove(t.Context(), digest, func() (bool, error) { asked++; return true, nil })
		if err != nil {
			t.Fatal(err)
		}
	}
	resume := d.Pause()
	remove()
	if _, err := read(d, digest); err != nil || asked != 0 {
		t.Errorf("asked %d times, %v", asked, err)
	}
	put(t, d, "others go on")
	resume()
	remove()
	if _, err := read(d, digest); !errors.Is(err, parley.ErrNotFound) || asked != 1 {
		t.Errorf("asked %d times, %v", asked, err)
	}
}

// Whatever is listed can be read whole, also while it is being stored.
func TestNobodySeesHalfABody(t *testing.T) {
	d := opened(t, t.TempDir())
	var (
		group sync.WaitGroup
		done  = make(chan struct{})
	)
	group.Go(func() {
		defer close(done)
		for n := range 50 {
			body := bytes.Repeat([]byte{byte(n)}, 100_000)
			if err := d.Put(context.Background(), iotest.HalfReader(bytes.NewReader(body)), 1<<20, nothing); err != nil {
				t.Error(err)
			}
		}
	})
	group.Go(func() {
		for last := false; !last; {
			select {
			case <-done:
				last = true
			default:
			}
			list, err := d.List(context.Background(), "", 100)
			for _, digest := range list {
				body, _, opened := d.Open(context.Background(), digest)
				if err = errors.Join(err, opened); opened == nil {
					_, read := io.Copy(io.Discard, body)
					err = errors.Join(err, read, body.Close())
				}
			}
			if err != nil {
				t.Error(err)
				return
			}
		}
	})
	group.Wait()
}
