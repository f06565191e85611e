package home

import (
	"os"
	"path/filepath"
	"testing"
)

func nodeOf(t *testing.T, d Dir) string {
	t.Helper()
	if err := d.Make(); err != nil {
		t.Fatal(err)
	}
	lock, err := d.Acquire()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = lock.Release() }()
	name, err := lock.Node()
	if err != nil || name == "" {
		t.Fatalf("it is called %q, %v", name, err)
	}
	return name
}

func TestAHomeKeepsItsNode(t *testing.T) {
	one, other := Dir(filepath.Join(t.TempDir(), "one")), Dir(filepath.Join(t.TempDir(), "other"))
	name := nodeOf(t, one)
	if again := nodeOf(t, one); again != name {
		t.Errorf("it was called %s, and is called %s", name, again)
	}
	if nodeOf(t, other) == name {
		t.Errorf("two homes are called %s", name)
	}
	if err := os.WriteFile(filepath.Join(string(one), "node"), nil, 0o600); err != nil { // as a crash may leave it
		t.Fatal(err)
	}
	nodeOf(t, one)
	if _, err := one.Contents(); err != nil {
		t.Errorf("its file is a stranger's: %v", err)
	}
}

func TestTheDirectoryOfARemovedAgentIsSetAside(t *testing.T) {
	d := Dir(t.TempDir())
	if err := d.SetAgentAside("arya"); err != nil {
		t.Errorf("an agent without files: %v", err)
	}
	for n, want := range []string{"arya~removed", "arya~removed-2", "arya~removed-3"} {
		if err := os.MkdirAll(filepath.Join(d.Agent("arya"), "work"), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := d.SetAgentAside("arya"); err != nil {
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
