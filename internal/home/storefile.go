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

// Store returns the name of the store that has the messages of this home. It returns an empty name if the home has no store yet.
// If the file is missing or empty and there is a database in the home, the store is sqlite.
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

// SaveStoreName saves the name of the store durably in the home. The next start of the hub compares the name with the
// configuration.
func (l *Lock) SaveStoreName(name string) error {
	if saved, err := os.ReadFile(l.dir.StoreFile()); err == nil && string(saved) == name+"\n" {
		return nil // the file is up to date, and a full disk could not store it again
	}
	return replaceDurably(l.dir.StoreFile(), []byte(name+"\n"))
}
