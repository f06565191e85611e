package home

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAHomeKnowsItsStore(t *testing.T) {
	d := newHome(t)
	l := acquire(t, d)
	defer func() { _ = l.Release() }()
	is := func(when, want string) {
		t.Helper()
		if got, err := d.Store(); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", when, got, err, want)
		}
	}
	is("a new home", "")
	if err := os.WriteFile(filepath.Join(string(d), "parley.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	is("with a database", "sqlite")
	if err := l.SaveStoreName("postgres parley on db:5432"); err != nil {
		t.Fatal(err)
	}
	is("once it was named", "postgres parley on db:5432")
	if info, err := os.Stat(d.StoreFile()); err != nil || info.Mode() != 0o600 {
		t.Errorf("its mode is %v, %v", info.Mode(), err)
	}
	if _, err := d.Contents(); err != nil {
		t.Errorf("it is not known as the home's: %v", err)
	}
}
