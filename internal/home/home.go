// Package home handles the home directory of a hub: its path, its permissions, its lock, and the files by which clients find the
// hub that runs in it.
package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parley-hub/parley"
)

// Dir is the absolute path of a home.
type Dir string

// Locate returns the given home, or else the home in PARLEY_HOME, or else ~/.parley. The directory may not exist yet.
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

// Config returns the path of the configuration file.
func (d Dir) Config() string { return filepath.Join(string(d), "config.yaml") }

// Log returns the path of the log file of a hub that runs without a terminal.
func (d Dir) Log() string { return d.runFile("hub.log") }

// maxLogSize is the size above which a starting hub begins a new log file.
const maxLogSize = 16 << 20

// Messages returns the directory of the message log.
func (d Dir) Messages() string { return filepath.Join(string(d), "log") }

// OpenLog opens the log file to append to it. If the file is larger than maxLogSize, OpenLog first renames it to hub.log.old,
// which replaces the previous hub.log.old.
func (d Dir) OpenLog() (*os.File, error) {
	if info, err := os.Stat(d.Log()); err == nil && info.Size() > maxLogSize {
		if err := os.Rename(d.Log(), d.Log()+".old"); err != nil {
			return nil, err
		}
	}
	return os.OpenFile(d.Log(), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
}

func (d Dir) runFile(name string) string { return filepath.Join(string(d), "run", name) }

// Make creates the home with access for its owner only, if it does not exist. It returns an error if other users can enter an
// existing home; see Check.
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

// mkdirDurably creates a directory and its missing parents. It syncs the parents, because otherwise a crash of the machine could
// lose the new directory and everything in it.
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

// Check returns E003 if other users can enter the home, or if it belongs to another user. If the home does not exist, the error
// wraps fs.ErrNotExist.
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

// CheckMade checks a home in a directory where other users can create files too. It returns E003 unless this user has created the
// home: the home must be a directory, not a link, and belong to this user, even if this user is root. CheckMade also does what
// Check does.
func (d Dir) CheckMade() error {
	for _, path := range []string{string(d), d.runFile("")} {
		info, err := os.Lstat(path)
		if errors.Is(err, fs.ErrNotExist) && path != string(d) {
			continue // no hub has run in the home yet
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

// checkPrivate returns E003 for a directory that its group or other users may use, or that another user owns.
func checkPrivate(path string, info fs.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return parley.Errorf(parley.BadInput, "other users can enter %s (mode %04o), but only the user of the hub may", path, mode).
			Suggest("chmod 700 %s", path)
	}
	if !isOwnedByUser(info) {
		return parley.Errorf(parley.BadInput, "%s belongs to another user", path).Suggest("choose another home with --home, or run the hub as its owner")
	}
	return nil
}
