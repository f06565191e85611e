// Package home is the directory a hub lives in: where it is, who may read it, which hub runs in it, and the
// files by which others find that hub.
package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parley-hub/parley"
)

// Dir is a home directory, by its absolute path.
type Dir string

// Locate is the home that is meant: the one given, else that of PARLEY_HOME, else ~/.parley. It need not exist.
func Locate(given string) (Dir, error) {
	if given == "" {
		given = os.Getenv("PARLEY_HOME")
	}
	if given == "" {
		user, err := os.UserHomeDir()
		if err != nil {
			return "", parley.Errorf(parley.BadInput, "this user has no home directory: %w", err).
				Suggest("name a directory for the hub with --home or PARLEY_HOME")
		}
		given = filepath.Join(user, ".parley")
	}
	path, err := filepath.Abs(given)
	if err != nil {
		return "", err
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		path = real
	}
	return Dir(path), nil
}

// Config is the path of the configuration file.
func (d Dir) Config() string { return filepath.Join(string(d), "config.yaml") }

// Log is where a hub without a terminal logs to.
func (d Dir) Log() string { return d.runFile("hub.log") }

// maxLogSize is how large a log may be at the start of a hub.
const maxLogSize = 16 << 20

// Messages is where the message log is.
func (d Dir) Messages() string { return filepath.Join(string(d), "log") }

// OpenLog opens the log to add to it. One that has grown large is kept as hub.log.old, in place of the one
// that was kept before.
func (d Dir) OpenLog() (*os.File, error) {
	if info, err := os.Stat(d.Log()); err == nil && info.Size() > maxLogSize {
		if err := os.Rename(d.Log(), d.Log()+".old"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(d.Log(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}

func (d Dir) runFile(name string) string { return filepath.Join(string(d), "run", name) }

// Make makes the directory where there is none, for its owner alone, and refuses one that others may enter.
func (d Dir) Make() error {
	err := mkdirDurably(string(d))
	if err == nil {
		err = d.Check()
	}
	if err == nil {
		err = mkdirDurably(d.runFile(""))
	}
	if _, explained := errors.AsType[*parley.Error](err); err == nil || explained {
		return err
	}
	return parley.Errorf(parley.Unavailable, "cannot create the home %s: %w", d, err).Suggest("choose another home with --home")
}

// mkdirDurably makes a directory and those above it where they are missing, and syncs what they are named in:
// a new directory could be lost with all that is in it.
func mkdirDurably(dir string) error {
	err := os.Mkdir(dir, 0o700)
	if errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
		if err := mkdirDurably(filepath.Dir(dir)); err != nil {
			return err
		}
		err = os.Mkdir(dir, 0o700)
	}
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err != nil {
		return err
	}
	parent, err := os.Open(filepath.Dir(dir))
	if err != nil {
		return err
	}
	return errors.Join(parent.Sync(), parent.Close())
}

// Check refuses a home that others may enter or that belongs to somebody else. One that does not exist is
// an error that wraps fs.ErrNotExist.
func (d Dir) Check() error {
	info, err := os.Stat(string(d))
	if errors.Is(err, fs.ErrNotExist) {
		return parley.Errorf(parley.BadInput, "the home %s does not exist yet: %w", d, err).Suggest("start a hub in it with: parley up")
	}
	if err != nil {
		return parley.Errorf(parley.Unavailable, "cannot open the home %s: %w", d, err).Suggest("check its permissions")
	}
	if !info.IsDir() {
		return parley.Errorf(parley.BadInput, "the home %s is not a directory", d).Suggest("choose another home with --home")
	}
	return checkPrivate(string(d), info)
}

// CheckMade refuses a home in a place where others can put things too, unless this user has made it: it is there
// itself, not a link to another one, and root's only if it is root's.
func (d Dir) CheckMade() error {
	for _, path := range []string{string(d), d.runFile("")} {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) && path != string(d) {
			continue // no hub has been started in it yet
		}
		if err != nil {
			return err
		}
		if !info.IsDir() || !isMadeByUser(info) {
			return parley.Errorf(parley.BadInput, "this user did not create the directory %s", path).Suggest("choose another home with --home")
		}
	}
	return d.Check()
}

// checkPrivate refuses what group or world may use, or another user owns.
func checkPrivate(path string, info fs.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return parley.Errorf(parley.BadInput, "other users can enter %s (mode %04o); it has all messages", path, mode).
			Suggest("chmod 700 %s", path)
	}
	if !isOwnedByUser(info) {
		return parley.Errorf(parley.BadInput, "%s belongs to another user", path).Suggest("choose another home with --home, or run the hub as its owner")
	}
	return nil
}
