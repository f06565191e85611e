package home

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parley-hub/parley"
)

// AuditHead is the file that keeps the head of the audit log outside the database. The restore of an older database removes the
// file, because the hub would compare the older log with the newer head and report missing entries.
type AuditHead struct{ path string }

// AuditHead returns the file for the head of the audit log of this home.
func (d Dir) AuditHead() AuditHead { return AuditHead{filepath.Join(string(d), "audit.head")} }

// Load returns the saved head. It returns a zero value if no head was saved, and E006 if the file cannot be read.
func (a AuditHead) Load() (head parley.AuditHead, err error) {
	text, err := os.ReadFile(a.path)
	if errors.Is(err, fs.ErrNotExist) {
		return head, nil
	}
	if err == nil {
		err = json.Unmarshal(text, &head)
	}
	if err == nil && (head.Num <= 0 || head.Hash == "") {
		err = errors.New("it does not name an entry")
	}
	if err != nil {
		return parley.AuditHead{}, parley.Errorf(parley.Internal, "cannot read the head of the audit log in %s: %w", a.path, err).
			Suggest("find out who changed the file; if you remove it, the hub writes a new one")
	}
	return head, nil
}

// Save saves a head durably. After a crash, the file contains this head or the previous one.
func (a AuditHead) Save(head parley.AuditHead) error {
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	return replaceDurably(a.path, append(text, '\n'))
}

// replaceDurably writes a file durably. After a crash, the file contains the new text or the old one.
func replaceDurably(path string, text []byte) error {
	temporary := path + ".tmp"
	if info, err := os.Lstat(temporary); err == nil && !info.IsDir() { // left by a process that was killed, or planted
		if err := os.Remove(temporary); err != nil {
			return err
		}
	}
	if err := writeDurably(temporary, text); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return renameDurably(temporary, path)
}

// renameDurably renames a file within its directory. It replaces a file that has the new name.
func renameDurably(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	dir, err := os.Open(filepath.Dir(to))
	if err != nil {
		return err
	}
	return errors.Join(dir.Sync(), dir.Close())
}

// Remove removes the saved head, if there is one.
func (a AuditHead) Remove() error {
	if err := os.Remove(a.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

// writeDurably writes a new file. It returns fs.ErrExist if there is anything with this name, also a link.
func writeDurably(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
