package connect

import (
	"os"
	"path/filepath"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/connect/jsonc"
)

// Client is a kind of agent client.
type Client struct {
	ID       string   // the word on the command line
	Title    string   // its name
	Variable string   // the variable that names the directory of its configuration, or "" if there is none
	Programs []string // the names of its program, best first
	Install  string   // how to install it
	Traces   []string // files and directories in the home of a user that has the client
	User     []string // what the user must still do
	Project  []string // the same, for the files of a project

	files  func(s Setup) []file
	syntax jsonc.Syntax // of its JSON files
}

// Clients returns all clients.
func Clients() []Client { return slices.Clone(allClients) }

var allClients = []Client{claude, codex, gemini, opencode, cursor}

// Names returns the ids of all clients.
func Names() []string {
	var names []string
	for _, c := range allClients {
		names = append(names, c.ID)
	}
	return names
}

// Find returns the client with an id. It returns E003 (NotFound) if there is none.
func Find(id string) (Client, error) {
	i := slices.IndexFunc(allClients, func(c Client) bool { return c.ID == id })
	if i < 0 {
		return Client{}, parley.Errorf(parley.BadInput, "Parley does not know a client %q", id).Because(parley.NotFound).
			Suggest("%s", parley.DidYouMean(parley.Nearest(id, Names()), "use claude, codex, gemini, opencode or cursor"))
	}
	return allClients[i], nil
}

// Machine is what connect needs to know of a machine and of its user.
type Machine struct {
	UserHome string // the user's home directory
	Getenv   func(string) string
	LookPath func(program string) (string, error)
}

// ProgramOf returns the path of a client's program, or "" if there is none.
func (m Machine) ProgramOf(c Client) string {
	for _, name := range c.Programs {
		if path, err := m.LookPath(name); err == nil {
			return path
		}
	}
	return ""
}

// DirOf returns the directory that the environment names for the configuration of a client, without links, or "" if it names none.
func (m Machine) DirOf(c Client) string {
	if c.Variable == "" || !filepath.IsAbs(m.Getenv(c.Variable)) {
		return ""
	}
	return WithoutLinks(m.Getenv(c.Variable))
}

// WithoutLinks returns the path of a directory with its links followed, so that each directory has one path. A directory that does not
// exist keeps its path.
func WithoutLinks(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

// CheckInstalled returns E002 if there is no sign of a client: neither its program nor its files.
func (m Machine) CheckInstalled(c Client) error {
	if m.ProgramOf(c) != "" || slices.ContainsFunc(c.Traces, func(name string) bool {
		_, err := os.Lstat(filepath.Join(m.UserHome, name))
		return err == nil
	}) {
		return nil
	}
	return parley.Errorf(parley.Unavailable, "%s is not installed: there is no program %s in your PATH", c.Title, c.Programs[0]).
		Suggest("%s; or write the files of a project, which need no program here: --project", c.Install)
}

// Setup says what to register with a client.
type Setup struct {
	Client  Client
	Machine Machine
	Agent   string // the id of the agent
	Parley  string // the path of the program parley
	Home    string // the home of the hub, if it is not the default one
	Dir     string // the directory that the client's variable names, or "" for the files in the home of the user
	Project string // the directory of a project, or "" for the files of the user
	Plugin  bool   // a plugin of the client registers Parley: no files change
}

// command returns a command line of parley.
func (s Setup) command(words ...string) []string {
	words = append(words, "--agent", s.Agent)
	if s.Home != "" && s.Project == "" {
		words = append(words, "--home", s.Home)
	}
	program := s.Parley
	if s.Project != "" || s.Plugin {
		program = "parley" // each person has it elsewhere
	}
	return append([]string{program}, words...)
}

// dir returns the directory that the client's variable names, or else the directory with a name in the user's home. The second result
// is the name of the directory within the first one.
func (s Setup) dir(name string) (root, within string) {
	if s.Dir != "" {
		return s.Dir, "."
	}
	return s.Machine.UserHome, name
}
