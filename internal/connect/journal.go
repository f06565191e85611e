package connect

import (
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

// journal returns the file with the journal of a client in a home.
func journal(h home.Dir, client, project string) file {
	name := client
	if project != "" {
		sum := sha256.Sum256([]byte(project))
		name += "-" + hex.EncodeToString(sum[:4])
	}
	return file{root: string(h), name: path.Join(clientsDir, name+".json")}
}

// Load returns the connection of a client, for the files of the user or of a project. It returns nil if there is none.
func Load(h home.Dir, client, project string) (*Connection, error) {
	return loadFrom(journal(h, client, project))
}

func loadFrom(f file) (*Connection, error) {
	if _, err := os.Stat(f.root); errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // see Load
	}
	found, err := f.read()
	if err != nil || found.info == nil {
		return nil, err
	}
	var c Connection
	if json.Unmarshal(found.text, &c) != nil || c.Client == "" || c.Agent == "" {
		return nil, parley.Errorf(parley.BadInput, "the journal %s is damaged", f.path()).
			Suggest("remove it, and take Parley out of the files of the client by hand")
	}
	return &c, nil
}

// List returns all connections of a home. A journal that cannot be read is an error, and the others are returned with it.
func List(h home.Dir) (list []Connection, err error) {
	entries, err := os.ReadDir(h.Clients())
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, entry := range entries {
		if !entry.Type().IsRegular() || !isJournal(entry.Name()) {
			continue
		}
		c, bad := loadFrom(file{root: string(h), name: path.Join(clientsDir, entry.Name())})
		if bad == nil && c != nil {
			list = append(list, *c)
		}
		err = errors.Join(err, bad)
	}
	return list, err
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
	text, err := json.MarshalIndent(c, "", "  ")
	if err != nil {
		return err
	}
	f := journal(h, c.Client, c.Project)
	now, err := f.read()
	if err != nil {
		return err
	}
	return f.write(now, append(text, '\n'))
}

func (c Connection) forget(h home.Dir) error {
	f := journal(h, c.Client, c.Project)
	now, err := f.read()
	if err != nil || now.info == nil {
		return err
	}
	return f.remove(now)
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
	return Setup{Client: client, Machine: m, Agent: c.Agent, Parley: c.Parley, Home: c.Home, Project: c.Project}, err
}
