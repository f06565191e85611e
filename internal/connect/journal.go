package connect

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/home"
)

// Connection is a connected client: what Parley has registered, and what it must restore.
type Connection struct {
	Client  string   `json:"client"`
	Agent   string   `json:"agent"`
	Token   string   `json:"token,omitempty"` // the id of the agent's token
	Parley  string   `json:"parley"`
	Home    string   `json:"home,omitempty"`
	Project string   `json:"project,omitempty"`
	Dir     string   `json:"dir,omitempty"`  // the directory that the client's variable named
	User    string   `json:"user,omitempty"` // the home of the user
	Files   []Record `json:"files"`
}

// Record is a file of a client before and after Parley changed it.
type Record struct {
	Root    string   `json:"root"`
	Name    string   `json:"name"`
	Existed bool     `json:"existed"`
	Before  []byte   `json:"before,omitempty"`
	After   []byte   `json:"after"`
	Dirs    []string `json:"dirs,omitempty"` // the directories that Parley creates for the file, the outermost first
}

func (r Record) file() file { return file{root: r.Root, name: r.Name} }

// before returns the text before Parley changed it, or nil if there was no file.
func (r Record) before() []byte {
	if !r.Existed {
		return nil
	}
	return append([]byte{}, r.Before...)
}

// clientsDir is the directory of the journals in a home.
const clientsDir = "clients"

// Place returns the directory whose client is connected: a project, the directory that the client's variable named, or the home of the
// user. There is one connection for each client and place.
func (c Connection) Place() string { return cmp.Or(c.Project, c.Dir, c.User) }

// Same reports whether two connections are of the same client at the same place.
func (c Connection) Same(other Connection) bool { return c.journalName() == other.journalName() }

func (c Connection) journalName() string {
	kind := "user"
	switch {
	case c.Project != "":
		kind = "project"
	case c.Dir != "":
		kind = "directory"
	}
	sum := sha256.Sum256([]byte(kind + " " + c.Place()))
	return c.Client + "-" + hex.EncodeToString(sum[:8]) + ".json"
}

// journal returns the file with the journal of a connection in a home.
func (c Connection) journal(h home.Dir) file {
	return file{root: string(h), name: path.Join(clientsDir, c.journalName())}
}

// Connection returns the connection that the setup makes, without its token and files.
func (s Setup) Connection() Connection {
	return Connection{Client: s.Client.ID, Agent: s.Agent, Parley: s.Parley, Home: s.Home, Project: s.Project, Dir: s.Dir, User: s.Machine.UserHome}
}

// Load returns the connection of the client of a setup, at the place of the setup. It returns nil if there is none.
func Load(h home.Dir, s Setup) (*Connection, error) { return loadUpTo(h, s, maxFile) }

// loadUpTo is Load for journals of at most so many bytes.
func loadUpTo(h home.Dir, s Setup, most int) (*Connection, error) {
	c := s.Connection()
	known, err := loadFrom(c.journal(h), most)
	if known == nil && err == nil {
		known, _ = c.loadOld(h, most)
	}
	return known, err
}

func loadFrom(f file, most int) (*Connection, error) {
	if _, err := os.Stat(f.root); errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // see Load
	}
	found, err := f.readUpTo(most)
	if err != nil || found.info == nil {
		return nil, err
	}
	var c Connection
	if json.Unmarshal(found.text, &c) != nil || c.Client == "" || c.Agent == "" {
		return nil, parley.Errorf(parley.BadInput, "the journal %s is damaged", f.path()).
			Suggest("remove it, and take Parley out of the files of the client by hand")
	}
	c.locate()
	return &c, nil
}

// List returns all connections of a home, those with the files of the user first. A journal that cannot be read is an error, and the others are returned with it.
func List(h home.Dir) (list []Connection, err error) {
	entries, err := os.ReadDir(h.Clients())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !isJournal(entry.Name()) {
			continue
		}
		c, bad := loadFrom(file{root: string(h), name: path.Join(clientsDir, entry.Name())}, maxFile)
		if bad == nil && c != nil {
			list = append(list, *c)
		}
		err = errors.Join(err, bad)
	}
	slices.SortFunc(list, func(a, b Connection) int {
		return cmp.Or(cmp.Compare(a.Client, b.Client), cmp.Compare(a.Project, b.Project), cmp.Compare(a.Dir, b.Dir), cmp.Compare(a.User, b.User))
	})
	return slices.CompactFunc(list, Connection.Same), err
}

// isJournal reports whether a file of the directory is a journal. The hub keeps another file there.
func isJournal(name string) bool {
	name, isJSON := strings.CutSuffix(name, ".json")
	client, _, _ := strings.Cut(name, "-")
	_, err := Find(client)
	return isJSON && err == nil
}

// save writes the journal of a connection durably.
func (c Connection) save(h home.Dir) error {
	if err := writeJSON(c.journal(h), c); err != nil {
		return err
	}
	return c.removeOld(h)
}

func writeJSON(f file, c Connection) error {
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	now, err := f.read()
	if err != nil {
		return err
	}
	return f.write(now, append(text, '\n'))
}

// forget removes the journal of a connection, and keeps the name of its agent.
func (c Connection) forget(h home.Dir) error {
	if err := writeJSON(c.earlier(h), Connection{Client: c.Client, Agent: c.Agent}); err != nil {
		return err
	}
	f := c.journal(h)
	now, err := f.read()
	if err == nil && now.info != nil {
		err = f.remove(now)
	}
	return errors.Join(err, c.removeOld(h))
}

// CheckShared returns E003 if a file of the setup belongs to a connection at another place: one file registers one agent.
func (s Setup) CheckShared(list []Connection) error {
	for _, c := range list {
		for _, f := range s.files() {
			if !c.Same(s.Connection()) && c.record(f) != nil {
				return parley.Errorf(parley.BadInput, "%s is a file of %s in %s too, which is connected as %s", f.path(), s.Client.Title, c.Place(), c.Agent).
					Suggest("choose another directory, or disconnect that one first")
			}
		}
	}
	return nil
}

// earlier returns the file with the agent of a connection that has ended.
func (c Connection) earlier(h home.Dir) file {
	return file{root: string(h), name: path.Join(clientsDir, "earlier", c.journalName())}
}

// EarlierAgent returns the agent as which the client of a setup was connected at its place before it was disconnected, or "".
func EarlierAgent(h home.Dir, s Setup) (string, error) {
	c, err := loadFrom(s.Connection().earlier(h), maxFile)
	if c == nil || err != nil {
		return "", err
	}
	return c.Agent, nil
}

// record returns the record of a file, or nil.
func (c *Connection) record(f file) *Record {
	if c == nil {
		return nil
	}
	i := slices.IndexFunc(c.Files, func(r Record) bool { return r.file().path() == f.path() })
	if i < 0 {
		return nil
	}
	return &c.Files[i]
}

// Setup returns what was registered.
func (c Connection) Setup(m Machine) (Setup, error) {
	client, err := Find(c.Client)
	m.UserHome = cmp.Or(c.User, m.UserHome)
	return Setup{Client: client, Machine: m, Agent: c.Agent, Parley: c.Parley, Home: c.Home, Project: c.Project, Dir: c.Dir}, err
}
