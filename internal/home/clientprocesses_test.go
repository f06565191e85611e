//go:build unix

package home

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/parley-hub/parley"
)

func TestClientProcessesComeBack(t *testing.T) {
	d := newHome(t)
	if text, err := d.ClientProcesses(); err != nil || len(text) != 0 {
		t.Errorf("before: %q, %v", text, err)
	}
	for _, want := range []string{"[1]", "[2]"} {
		if err := d.SaveClientProcesses([]byte(want)); err != nil {
			t.Fatal(err)
		}
		if text, err := d.ClientProcesses(); err != nil || string(text) != want+"\n" {
			t.Errorf("got %q, %v", text, err)
		}
	}
	path := filepath.Join(d.Clients(), "processes.json")
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if err := os.Chmod(path, 0o644); err != nil {
		t.Fatal(err)
	}
	if text, err := d.ClientProcesses(); parley.CodeOf(err) != parley.BadInput {
		t.Errorf("a file that others can read: %q, %v", text, err)
	}
}
