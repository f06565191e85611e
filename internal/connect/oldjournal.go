package connect

import (
	"os"
	"path"
	"regexp"

	"github.com/parley-hub/parley/internal/home"
)

// oldJournalName is how a journal was named while a home had one connection of the user for each client: with the client, and for a
// project with the beginning of a digest.
var oldJournalName = regexp.MustCompile(`^([a-z]+)(-[0-9a-f]{8})?\.json$`)

// locate fills in what a journal did not say at that time: the home of the user, or the directory that the client's variable named.
func (c *Connection) locate() {
	user, err := os.UserHomeDir()
	if c.User != "" || err != nil {
		return
	}
	c.User = WithoutLinks(user)
	switch {
	case c.Project != "":
		c.Project = WithoutLinks(c.Project)
	case len(c.Files) > 0 && WithoutLinks(c.Files[0].Root) != c.User:
		c.Dir = WithoutLinks(c.Files[0].Root)
	}
}

// loadOld returns the journal of a connection under its old name, or nil.
func (c Connection) loadOld(h home.Dir, most int) (*Connection, file) {
	entries, err := os.ReadDir(h.Clients())
	if err != nil {
		return nil, file{}
	}
	for _, entry := range entries {
		name := oldJournalName.FindStringSubmatch(entry.Name())
		if name == nil || name[1] != c.Client || (name[2] != "") != (c.Project != "") {
			continue
		}
		f := file{root: string(h), name: path.Join(clientsDir, entry.Name())}
		if old, err := loadFrom(f, most); err == nil && old != nil && old.Same(c) {
			return old, f
		}
	}
	return nil, file{}
}

// removeOld removes the journal under its old name.
func (c Connection) removeOld(h home.Dir) error {
	old, f := c.loadOld(h, maxFile)
	if old == nil {
		return nil
	}
	now, err := f.read()
	if err != nil {
		return err
	}
	return f.remove(now)
}
