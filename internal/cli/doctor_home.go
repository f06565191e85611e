package cli

import (
	"errors"
	"io/fs"
	"path/filepath"
	"runtime"
	"time"

	"github.com/parley-hub/parley/internal/server"
)

// checkHome checks the home, and reports whether there is one to examine.
func (d *doctor) checkHome() bool {
	err := d.dir.Check()
	switch {
	case errors.Is(err, fs.ErrNotExist):
		d.addFinding("home", verdictWarn, "the home %s does not exist yet", d.dir).Fix = "start a hub in it with: " + d.app.commandLine("up")
		return false
	case err != nil:
		d.noteError("home", err)
		return false
	default:
		d.addFinding("home", verdictOK, "%s is private", d.dir)
		return d.checkFiles()
	}
}

// checkFiles searches for files of the hub that other users can access. It skips the bodies of artifacts: they are
// many, and in a directory that nobody else can enter. It also skips config.yaml and the files in agents: people write
// them with an editor, which makes them readable by all. That is no danger in a home that only its owner can enter,
// which checkHome has checked.
func (d *doctor) checkFiles() bool {
	open := ""
	err := filepath.WalkDir(string(d.dir), func(path string, entry fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) {
			return nil // the file was removed meanwhile
		}
		if err != nil {
			return err
		}
		switch path {
		case string(d.dir), d.dir.Config():
			return nil
		case d.dir.Agents():
			return fs.SkipDir
		}
		if info, err := entry.Info(); err == nil && info.Mode().Perm()&0o077 != 0 && open == "" {
			open = path
		}
		if entry.IsDir() && filepath.Dir(path) == string(d.dir) && entry.Name() != "run" {
			return fs.SkipDir
		}
		return nil
	})
	switch {
	case err != nil:
		d.addFinding("files", verdictFail, "cannot read the files of the home: %v", err).Fix = "run parley doctor as the owner of the home"
	case open != "":
		d.addFinding("files", verdictFail, "other users can access %s", open).Fix = "chmod -R go= " + string(d.dir)
	default:
		d.addFinding("files", verdictOK, "only their owner can access the files")
	}
	return err == nil
}

func (d *doctor) checkConfig() {
	for _, warning := range d.config.Warnings() {
		d.addFinding("config", verdictWarn, "%s", warning).Fix = "correct or unset the variable"
	}
	set := 0
	for _, value := range d.config.Values() {
		if value.Source != "default" {
			set++
		}
	}
	if set == 0 {
		d.addFinding("config", verdictOK, "all settings have their defaults")
		return
	}
	d.addFinding("config", verdictOK, "%s from the default (%s)", formatQuantity(int64(set), "setting differs", "settings differ"), d.dir.Config())
}

// checkNotify checks the secrets of notifiers.
func (d *doctor) checkNotify() {
	people, err := server.CheckNotify(d.config)
	switch {
	case err != nil:
		d.noteError("notify", err)
	case people > 0:
		d.addFinding("notify", verdictOK, "%s notifiers, and their secrets are private", formatQuantity(int64(people), "person has", "people have"))
	}
}

// oldestClock is older than the program. A clock before it is wrong.
var oldestClock = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// clockSlack is how far the clock may be behind the stored data.
const clockSlack = 5 * time.Second

// checkClock compares the clock with the newest stored data.
func (d *doctor) checkClock(newest *time.Time) {
	now := time.Now()
	fix := "set the clock, and synchronize it with NTP"
	switch {
	case now.Before(oldestClock):
		d.addFinding("clock", verdictFail, "the clock says %s, which is long ago", now.UTC().Format(time.RFC3339)).Fix = fix
	case newest != nil && newest.After(now.Add(clockSlack)):
		d.addFinding("clock", verdictWarn, "the clock says %s, but the newest stored data is from %s", now.UTC().Format(time.RFC3339), newest.UTC().Format(time.RFC3339)).Fix = fix
	default:
		d.addFinding("clock", verdictOK, "the clock says %s", now.UTC().Format(time.RFC3339))
	}
}

const (
	minFreeDisk      = 1 << 30
	minFreeDiskShare = 20 // one in so many bytes
)

func (d *doctor) checkDisk(free, total int64) {
	switch {
	case total == 0:
		return // the size is unknown
	case free < max(minFreeDisk, total/minFreeDiskShare):
		d.addFinding("disk", verdictWarn, "%s of %s are free", formatSize(free), formatSize(total)).Fix = "free space, or set a retention; the hub cannot store anything on a full disk"
	default:
		d.addFinding("disk", verdictOK, "%s of %s are free", formatSize(free), formatSize(total))
	}
}

func platform() string { return runtime.GOOS + "/" + runtime.GOARCH }
