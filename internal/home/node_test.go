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
