package home

import (
	"os"
	"path/filepath"
	"testing"
)

func TestTheDirectoryOfARemovedAgentIsSetAside(t *testing.T) {
	d := Dir(t.TempDir())
	if err := d.MoveAgentDirAside("arya"); err != nil {
		t.Errorf("an agent without files: %v", err)
	}
	for n, want := range []string{"arya~removed", "arya~removed-2", "arya~removed-3"} {
		if err := os.MkdirAll(filepath.Join(d.Agent("arya"), "work"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := d.MoveAgentDirAside("arya"); err != nil {
			t.Fatal(n, err)
		}
		if _, err := os.Stat(filepath.Join(string(d), "agents", want, "work")); err != nil {
			t.Error(err)
		}
		if _, err := os.Stat(d.Agent("arya")); !os.IsNotExist(err) {
			t.Errorf("the directory is still there: %v", err)
		}
	}
}
