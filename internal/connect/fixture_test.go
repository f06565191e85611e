//go:build unix

package connect

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-hub/parley/internal/home"
)

// user is a user with a home directory, and with a home of a hub in it.
type user struct {
	t   *testing.T
	m   Machine
	hub home.Dir
	env map[string]string
}

func newUser(t *testing.T) *user {
	t.Helper()
	u := &user{t: t, hub: home.Dir(filepath.Join(t.TempDir(), "hub")), env: map[string]string{}}
	if err := u.hub.Make(); err != nil {
		t.Fatal(err)
	}
	u.m = Machine{
		UserHome: t.TempDir(), Getenv: func(name string) string { return u.env[name] },
		LookPath: func(string) (string, error) { return "", errors.New("none") },
	}
	return u
}

func (u *user) setup(id, agent string) Setup {
	u.t.Helper()
	c, err := Find(id)
	u.must(err)
	return Setup{Client: c, Machine: u.m, Agent: agent, Parley: "/opt/parley/parley", Dir: u.m.DirOf(c)}
}

func (u *user) must(err error) {
	u.t.Helper()
	if err != nil {
		u.t.Fatal(err)
	}
}

func (u *user) plan(s Setup) (*Plan, error) {
	u.t.Helper()
	known, err := Load(u.hub, s)
	u.must(err)
	return NewPlan(s, known)
}

// connect connects a client, and returns how many files changed.
func (u *user) connect(s Setup) int {
	u.t.Helper()
	p, err := u.plan(s)
	u.must(err)
	u.must(p.Apply(u.hub, "token-1"))
	return len(p.Changes)
}

func (u *user) disconnect(s Setup) error {
	u.t.Helper()
	known, err := Load(u.hub, s)
	u.must(err)
	if known == nil {
		u.t.Fatal("it is not connected")
	}
	_, err = Disconnect(*known, u.m, u.hub)
	return err
}

func (u *user) path(name string) string { return filepath.Join(u.m.UserHome, name) }

func (u *user) write(name, text string, mode os.FileMode) {
	u.t.Helper()
	u.must(os.MkdirAll(filepath.Dir(u.path(name)), 0o755))
	u.must(os.WriteFile(u.path(name), []byte(text), mode))
	u.must(os.Chmod(u.path(name), mode))
}

func (u *user) read(name string) string {
	u.t.Helper()
	text, err := os.ReadFile(u.path(name))
	u.must(err)
	return string(text)
}

// entry is a file or directory of a snapshot.
type entry struct {
	Mode fs.FileMode
	Text string
}

// snapshot returns all files and directories of the user.
func (u *user) snapshot() map[string]entry {
	u.t.Helper()
	all := map[string]entry{}
	err := filepath.WalkDir(u.m.UserHome, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		e := entry{Mode: info.Mode()}
		switch {
		case info.Mode().IsRegular():
			text, err := os.ReadFile(path)
			u.must(err)
			e.Text = string(text)
		case info.Mode()&fs.ModeSymlink != 0:
			e.Text, err = os.Readlink(path)
			u.must(err)
		}
		all[path] = e
		return nil
	})
	u.must(err)
	return all
}

// isAsBefore fails the test if anything of the user has changed since a snapshot.
func (u *user) isAsBefore(before map[string]entry) {
	u.t.Helper()
	if diff := cmp.Diff(before, u.snapshot()); diff != "" {
		u.t.Error(diff)
	}
}
