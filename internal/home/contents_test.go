package home

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestAHomeIsRemovedWhole(t *testing.T) {
	d := newHome(t)
	l := acquire(t, d)
	for _, name := range []string{"parley.db", "parley.db-wal", "config.yaml", "audit.head"} {
		if err := os.WriteFile(filepath.Join(string(d), name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Remove(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(string(d)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is there: %v", err)
	}
}

func TestForeignFilesInAHomeStay(t *testing.T) {
	if _, err := Dir(t.TempDir()).Contents(); err == nil || !strings.Contains(err.Error(), "is not the home of a hub") {
		t.Errorf("a directory: %v", err)
	}
	d := newHome(t)
	l := acquire(t, d)
	defer func() { _ = l.Release() }()
	other := filepath.Join(string(d), "parley.db.mine")
	if err := os.WriteFile(other, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := l.Remove(); err == nil || !strings.Contains(err.Error(), "parley.db.mine") {
		t.Errorf("with something else in it: %v", err)
	}
	if _, err := os.Stat(other); err != nil {
		t.Error(err)
	}
}
