package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// StoreFile returns the path of the file that names the store of the home.
func (d Dir) StoreFile() string { return filepath.Join(string(d), "store") }

// Store returns the name of the store that has the messages of this home, or an empty name if the home has none yet. If
// the file is missing or empty, a database in the home is the store.
func (d Dir) Store() (string, error) {
	text, err := os.ReadFile(d.StoreFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	if name := strings.TrimSpace(string(text)); name != "" {
		return name, nil
	}
	_, err = os.Stat(filepath.Join(string(d), "parley.db"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return "sqlite", err
}

// SaveStoreName writes the name of the store durably into the home. The next start compares it with the configuration.
func (l *Lock) SaveStoreName(name string) error {
	if kept, err := os.ReadFile(l.dir.StoreFile()); err == nil && string(kept) == name+"\n" {
		return nil // the file is up to date, and a full disk could not store it again
	}
	return replaceDurably(l.dir.StoreFile(), []byte(name+"\n"))
}
