package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// StoreFile is the file that names the store of a home.
func (d Dir) StoreFile() string { return filepath.Join(string(d), "store") }

// Store names what this home keeps its messages in, or is empty if it has none yet. A home that has a
// database but no file that says so has that database.
func (d Dir) Store() (string, error) {
	text, err := os.ReadFile(d.StoreFile())
	if err == nil || !errors.Is(err, fs.ErrNotExist) {
		return strings.TrimSpace(string(text)), err
	}
	_, err = os.Stat(filepath.Join(string(d), "parley.db"))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	return "sqlite", err
}

// KeepStore names the store of the home, durably, for whoever opens it next.
func (l *Lock) KeepStore(name string) error {
	if kept, err := os.ReadFile(l.dir.StoreFile()); err == nil && string(kept) == name+"\n" {
		return nil // a full disk has no room for the same again
	}
	return replaceDurably(l.dir.StoreFile(), []byte(name+"\n"))
}
