package home

import (
	"crypto/rand"
	"encoding/hex"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/parley-hub/parley"
)

// Agents returns the directory of the agents' directories. It need not exist.
func (d Dir) Agents() string { return filepath.Join(string(d), "agents") }

// Agent returns the directory of one agent. It need not exist.
func (d Dir) Agent(id string) string { return filepath.Join(d.Agents(), id) }

// SetAgentAside renames the directory of a removed agent, so that a new agent with its id does not get it: agents/arya
// becomes agents/arya~removed, or the next free name of that form.
func (d Dir) SetAgentAside(id string) error {
	if _, err := os.Lstat(d.Agent(id)); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	for n := 1; ; n++ {
		aside := d.Agent(parley.RetiredName(id, n))
		if _, err := os.Lstat(aside); errors.Is(err, fs.ErrNotExist) {
			return renameDurably(d.Agent(id), aside)
		} else if err != nil {
			return err
		}
	}
}

// Node returns the name of this home among all hubs that share its store. It is created once and kept in the file node.
// By this name, the next hub in the home finds what the previous one left.
func (l *Lock) Node() (string, error) {
	path := filepath.Join(string(l.dir), "node")
	text, err := os.ReadFile(path)
	if name := strings.TrimSpace(string(text)); err == nil && name != "" {
		return name, nil
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}
	var random [8]byte
	_, _ = rand.Read(random[:]) // never fails
	name := hex.EncodeToString(random[:])
	return name, explainFullDisk(l.dir, replaceDurably(path, []byte(name+"\n")))
}

// explainFullDisk turns an error that a full disk caused into one that says so.
func explainFullDisk(dir Dir, err error) error {
	if !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	return parley.Errorf(parley.Unavailable, "the disk is full, nothing was stored").
		Because(parley.StorageFull).Retryable(0).Suggest("free space on the disk of %s, and try again", dir).From(err)
}
