package prompt_test

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/prompt"
)

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestIdentityFilesAreReadInTheirOrder(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "TOOLS.md", "tools")
	write(t, dir, "SOUL.md", "soul \xff")
	write(t, dir, "IDENTITY.md", "")
	write(t, dir, "README.md", "not one of them")
	got, err := prompt.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	want := []parley.IdentityFile{{Name: "IDENTITY.md"}, {Name: "SOUL.md", Text: "soul \uFFFD"}, {Name: "TOOLS.md", Text: "tools"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestNoDirectoryIsNoIdentity(t *testing.T) {
	got, err := prompt.Files(filepath.Join(t.TempDir(), "nobody"))
	if err != nil || got != nil {
		t.Errorf("%q, %v", got, err)
	}
}

func TestALongFileIsCut(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "MEMORY.md", "x"+strings.Repeat("é", 64<<10))
	got, err := prompt.Files(dir)
	if err != nil {
		t.Fatal(err)
	}
	text := got[0].Text
	if len(text) > 65<<10 || !utf8.ValidString(text) || strings.Contains(text, "\uFFFD") || !strings.Contains(text, "only its first 64 KiB are shown") {
		t.Errorf("%d bytes, ending with %q", len(text), text[len(text)-80:])
	}
}

// TestOnlyRegularFilesAreRead guards against links out of the directory, and pipes that hold the reader up.
func TestOnlyRegularFilesAreRead(t *testing.T) {
	secret := filepath.Join(t.TempDir(), "secret")
	write(t, filepath.Dir(secret), "secret", "canary")
	for name, plant := range map[string]func(path string) error{
		"link out":   func(path string) error { return os.Symlink(secret, path) },
		"link in":    func(path string) error { return os.Symlink("other.md", path) },
		"link up":    func(path string) error { return os.Symlink("../secret", path) },
		"pipe":       func(path string) error { return syscall.Mkfifo(path, 0o600) },
		"directory":  func(path string) error { return os.Mkdir(path, 0o700) },
		"link to it": func(path string) error { return os.Symlink("SOUL.md", path) },
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, "other.md", "canary")
			if err := plant(filepath.Join(dir, "SOUL.md")); err != nil {
				t.Fatal(err)
			}
			got, err := prompt.Files(dir)
			if parley.CodeOf(err) != parley.BadInput || !strings.Contains(err.Error(), "SOUL.md") || got != nil {
				t.Errorf("%q, %v", got, err)
			}
		})
	}
}
