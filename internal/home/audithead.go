package home

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/parley-hub/parley"
)

// AuditHead is the file that keeps the head of the audit log outside the database. Who restores an older
// database removes it: it would say that the log was cut.
type AuditHead struct{ path string }

// AuditHead is the file of this home.
func (d Dir) AuditHead() AuditHead { return AuditHead{filepath.Join(string(d), "audit.head")} }

// Load returns what was saved last, or zeros if nothing was.
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

// Save keeps a head, durably: a crash leaves it or the one before.
func (a AuditHead) Save(head parley.AuditHead) error {
	text, err := json.Marshal(head)
	if err != nil {
		return err
	}
	return replaceDurably(a.path, append(text, '\n'))
}

// replaceDurably puts a file in its place: a crash leaves it or the one before.
func replaceDurably(path string, text []byte) error {
	temporary := path + ".tmp"
	if err := writeDurably(temporary, text); err != nil {
		return errors.Join(err, os.Remove(temporary))
	}
	return renameDurably(temporary, path)
}

// renameDurably gives something another name in its directory, in the place of what has that name.
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

// Remove forgets the head that was kept, if one was.
func (a AuditHead) Remove() error {
	if err := os.Remove(a.path); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}

func writeDurably(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	_, err = file.Write(text)
	if err == nil {
		err = file.Sync()
	}
	return errors.Join(err, file.Close())
}
