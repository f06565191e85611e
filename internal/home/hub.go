package home

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/parley-hub/parley"
)

// Hub is what a running hub announces in run/hub.json.
type Hub struct {
	PID       int       `json:"pid"`
	Address   string    `json:"address"`
	Socket    string    `json:"socket"`
	StartedAt time.Time `json:"started_at"`
	Version   string    `json:"version"`
}

// Announce writes the files by which clients find the hub: run/hub.json, and run/address with the address alone.
func (l *Lock) Announce(h Hub) error {
	text, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return err
	}
	if err := replaceFile(l.dir.runFile("address"), []byte(h.Address+"\n")); err != nil {
		return err
	}
	return replaceFile(l.dir.runFile("hub.json"), append(text, '\n'))
}

// retract removes the files that Announce wrote.
func (l *Lock) retract() error {
	var errs []error
	for _, name := range []string{"hub.json", "address"} {
		if err := os.Remove(l.dir.runFile(name)); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// replaceFile replaces a file atomically: a reader finds the old text or the new one.
func replaceFile(path string, text []byte) error {
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*")
	if err != nil {
		return err
	}
	_, err = temporary.Write(text)
	if err = errors.Join(err, temporary.Close()); err == nil {
		err = os.Rename(temporary.Name(), path)
	}
	if err != nil {
		err = errors.Join(err, os.Remove(temporary.Name()))
	}
	return err
}

// readAnnouncement reads run/hub.json. It returns a zero value if the file is missing or cannot be read.
func (d Dir) readAnnouncement() (h Hub) {
	text, err := os.ReadFile(d.runFile("hub.json"))
	if err != nil || json.Unmarshal(text, &h) != nil {
		return Hub{}
	}
	return h
}

// Running returns the hub that runs in this home. running is false if there is none, even if a killed hub has left its
// announcement.
func (d Dir) Running() (h Hub, running bool, err error) {
	locked, err := isLocked(d.runFile("hub.lock"))
	if err != nil || !locked {
		return Hub{}, false, err
	}
	return d.readAnnouncement(), true, nil
}

// inUseError returns the error for a home that another process has locked. The error names that process.
func (d Dir) inUseError() error {
	holder, h := "a hub that is starting, or another command", d.readAnnouncement()
	if h.PID != 0 {
		holder = fmt.Sprintf("a hub (process %d, since %s, at %s)", h.PID, h.StartedAt.Local().Format("2006-01-02 15:04:05"), h.Address)
	}
	return parley.Errorf(parley.Unavailable, "the home %s is in use by %s", d, holder).
		Because(parley.Conflict).Suggest("use that hub, stop it with: parley down, or choose another home with --home")
}
