package webhook

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

func TestASecretIsMadeOnceForItsOwnerAlone(t *testing.T) {
	dir := t.TempDir()
	r := newRuntime(t, dir)
	if err := r.Check(t.Context(), agentAt("https://hooks.example.org")); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "hook", secretName)
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o600 {
		t.Fatalf("the secret is %v, %v", info, err)
	}
	first, err := r.secret("hook")
	if err != nil || len(first) != 2*secretBytes {
		t.Fatalf("the secret is %q, %v", first, err)
	}
	if again, err := newRuntime(t, dir).secret("hook"); err != nil || string(again) != string(first) {
		t.Errorf("the secret changed to %q, %v", again, err)
	}
	if left, _ := os.ReadDir(filepath.Join(dir, "hook")); len(left) != 1 {
		t.Errorf("beside the secret there is %v", left)
	}
}

func TestASecretThatIsNoneIsRefused(t *testing.T) {
	for name, tt := range map[string]struct {
		put  func(path string) error
		says string
	}{
		"readable by others": {func(path string) error { return write(path, strings.Repeat("s", 64), 0o644) }, "(mode 0644)"},
		"too short":          {func(path string) error { return write(path, "short\n", 0o600) }, "at least 16"},
		"too long":           {func(path string) error { return write(path, strings.Repeat("s", 4096), 0o600) }, "is not a file with a secret"},
		"a link":             {func(path string) error { return os.Symlink("/etc/passwd", path) }, "is not a file with a secret"},
		"a directory":        {func(path string) error { return os.Mkdir(path, 0o700) }, "is not a file with a secret"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			if err := os.Mkdir(filepath.Join(dir, "hook"), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := tt.put(filepath.Join(dir, "hook", secretName)); err != nil {
				t.Fatal(err)
			}
			err := newRuntime(t, dir).Check(t.Context(), agentAt("https://hooks.example.org"))
			if e := parley.AsError(err); e == nil || e.Code != parley.BadInput || !strings.Contains(e.Message, tt.says) {
				t.Errorf("%v, want E003 with %q", err, tt.says)
			}
		})
	}
}

func write(path, text string, mode os.FileMode) error {
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		return err
	}
	return os.Chmod(path, mode)
}
