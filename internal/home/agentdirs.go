package home

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"github.com/parley-hub/parley"
)

// Agents returns the directory that contains the directories of agents. It may not exist yet.
func (d Dir) Agents() string { return filepath.Join(string(d), "agents") }

// Agent returns the directory of one agent. It may not exist yet.
func (d Dir) Agent(id string) string { return filepath.Join(d.Agents(), id) }

// MoveAgentDirAside renames the directory of a removed agent, so that a new agent with its id does not get it: agents/arya
// becomes agents/arya~removed, or the next free name of that form. It does nothing if the agent has no directory.
func (d Dir) MoveAgentDirAside(id string) error {
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

// explainFullDisk returns an error that says that the disk is full, if a full disk caused err. It returns any other error
// unchanged.
func explainFullDisk(dir Dir, err error) error {
	if !errors.Is(err, syscall.ENOSPC) {
		return err
	}
	return parley.Errorf(parley.Unavailable, "the disk is full, and nothing was stored").
		Because(parley.StorageFull).Retryable(0).Suggest("free space on the disk of %s, and try again", dir).From(err)
}
