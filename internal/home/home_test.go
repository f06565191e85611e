package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

// newHome is a home that exists.
func newHome(t *testing.T) Dir {
	t.Helper()
	d := Dir(filepath.Join(t.TempDir(), "home"))
	if err := d.Make(); err != nil {
		t.Fatal(err)
	}
	return d
}

func TestLocationOfTheHome(t *testing.T) {
	t.Setenv("HOME", "/home/arya")
	t.Setenv("PARLEY_HOME", "")
	if d, err := Locate(""); err != nil || d != "/home/arya/.parley" {
		t.Errorf("by default: %s, %v", d, err)
	}
	t.Setenv("PARLEY_HOME", "/somewhere")
	if d, err := Locate(""); err != nil || d != "/somewhere" {
		t.Errorf("by the environment: %s, %v", d, err)
	}
	if d, err := Locate("/else"); err != nil || d != "/else" {
		t.Errorf("as given: %s, %v", d, err)
	}
	t.Setenv("HOME", "")
	t.Setenv("PARLEY_HOME", "")
	if _, err := Locate(""); parley.CodeOf(err) != parley.BadInput {
		t.Errorf("without any: %v", err)
	}
}

func TestALinkedHomeIsWhereItLeads(t *testing.T) {
	d := newHome(t)
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(string(d), link); err != nil {
		t.Fatal(err)
	}
	if found, err := Locate(link); err != nil || found != d {
		t.Errorf("got %s, %v", found, err)
	}
}

func TestANewHomeIsItsOwnersAlone(t *testing.T) {
	d := Dir(filepath.Join(t.TempDir(), "deep", "down"))
	if err := d.Make(); err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{string(d), d.runFile("")} {
		info, err := os.Stat(dir)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("%s: %v, %v", dir, info.Mode(), err)
		}
	}
	if err := d.Make(); err != nil {
		t.Errorf("again: %v", err)
	}
}

func TestHomesThatAreRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	open := newHome(t)
	if err := os.Chmod(string(open), 0o750); err != nil {
		t.Fatal(err)
	}
	for d, want := range map[Dir]string{
		Dir(file):              "is not a directory",
		Dir(file + "/below"):   "cannot create",
		open:                   "chmod 700 " + string(open),
		Dir("/proc/no/such/x"): "cannot create",
	} {
		if err := d.Make(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q in it", d, err, want)
		}
	}
	if err := Dir(filepath.Join(t.TempDir(), "absent")).Check(); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("one that is not there: %v", err)
	}
}

func TestALargeLogIsMovedAside(t *testing.T) {
	d := newHome(t)
	for range 2 {
		log, err := d.OpenLog()
		if err != nil {
			t.Fatal(err)
		}
		if info, err := log.Stat(); err != nil || info.Size() != 0 || info.Mode().Perm() != 0o600 {
			t.Errorf("%v, %v", info, err)
		}
		if err := errors.Join(log.Truncate(maxLogSize+1), log.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if info, err := os.Stat(d.Log() + ".old"); err != nil || info.Size() <= maxLogSize {
		t.Errorf("the old one is not kept: %v", err)
	}
}
