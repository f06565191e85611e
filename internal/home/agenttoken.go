package home

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"

	"github.com/parley-hub/parley"
)

// AgentToken is the token that "parley connect" stores for an agent. All clients that are connected as the agent use it.
type AgentToken struct {
	Agent  string `json:"agent"` // the id of the agent
	Token  string `json:"token"` // the id of the token
	Secret string `json:"secret"`
	// Hub is the URL of the hub that made the token. "" is the hub of the home.
	Hub string `json:"hub,omitempty"`
}

// clientsDir is the directory of everything that "parley connect" stores in a home.
const clientsDir = "clients"

// Clients returns the directory of what "parley connect" stores: the tokens of connected agents, and what it changed in the
// files of each client. It may not exist yet.
func (d Dir) Clients() string { return filepath.Join(string(d), clientsDir) }

func tokenFile(agent string) string { return path.Join(clientsDir, "tokens", agent+".json") }

// maxTokenFile is the size in bytes above which a file is certainly no token file.
const maxTokenFile = 64 << 10

// AgentToken returns the stored token of an agent. It returns E003 (NotFound) if no client is connected as this agent. It returns
// E003 if other users can read the file, if the file is a link or belongs to another user, and if it is damaged.
func (d Dir) AgentToken(agent string) (token AgentToken, err error) {
	if err := parley.CheckKnownID(agent); err != nil {
		return token, err
	}
	root, err := os.OpenRoot(string(d))
	if err == nil {
		defer func() { err = errors.Join(err, root.Close()) }()
		var text []byte
		if text, err = readPrivate(root, tokenFile(agent)); err == nil {
			token, err = parseToken(text, agent, filepath.Join(string(d), tokenFile(agent)))
		}
	}
	if errors.Is(err, fs.ErrNotExist) {
		return token, parley.Errorf(parley.BadInput, "no client is connected as %s in the home %s", agent, d).
			Because(parley.NotFound).Suggest("connect one: parley connect claude --name %s", agent)
	}
	return token, err
}

func parseToken(text []byte, agent, file string) (token AgentToken, err error) {
	if json.Unmarshal(text, &token) != nil || token.Agent != agent || token.Token == "" || token.Secret == "" {
		return AgentToken{}, parley.Errorf(parley.BadInput, "%s has no token of %s", file, agent).
			Suggest("remove the file and connect the client again")
	}
	return token, nil
}

// readPrivate reads a regular file that only this user can read.
func readPrivate(root *os.Root, name string) ([]byte, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	file, err := openRegular(root, name, before)
	if err != nil {
		return nil, err
	}
	text, err := io.ReadAll(io.LimitReader(file, maxTokenFile))
	return text, errors.Join(err, file.Close())
}

// openRegular opens a file that Lstat has described. It refuses a file that is not regular or not private, and one that was
// replaced since then.
func openRegular(root *os.Root, name string, before fs.FileInfo) (*os.File, error) {
	at := filepath.Join(root.Name(), name)
	if !before.Mode().IsRegular() {
		return nil, parley.Errorf(parley.BadInput, "%s is not a regular file", at).Suggest("remove it and connect the client again")
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := file.Stat()
	if err == nil && !os.SameFile(before, info) {
		err = parley.Errorf(parley.Unavailable, "another program replaced %s at this moment", at).Suggest("try again")
	}
	if err == nil {
		err = checkPrivateFile(at, info)
	}
	if err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return file, nil
}

// checkPrivateFile returns E003 for a file that other users may use, or that another user owns.
func checkPrivateFile(at string, info fs.FileInfo) error {
	if mode := info.Mode().Perm(); mode&0o077 != 0 {
		return parley.Errorf(parley.BadInput, "other users can read the token in %s (mode %04o)", at, mode).
			Suggest("connect the client again, which makes a new token, after: rm %s", at)
	}
	if !isOwnedByUser(info) {
		return parley.Errorf(parley.BadInput, "%s belongs to another user", at).Suggest("remove it and connect the client again")
	}
	if hasOtherNames(info) {
		return parley.Errorf(parley.BadInput, "%s is a hard link: the file has another name too", at).Suggest("remove it and connect the client again")
	}
	return nil
}

// SaveAgentToken stores the token of an agent durably, in a file that only this user can read.
func (d Dir) SaveAgentToken(token AgentToken) error {
	if err := parley.CheckKnownID(token.Agent); err != nil {
		return err
	}
	if err := d.Check(); err != nil {
		return err
	}
	text, err := json.MarshalIndent(token, "", "  ")
	if err != nil {
		return err
	}
	file := filepath.Join(string(d), tokenFile(token.Agent))
	if err := makeOwnDirs(d.Clients(), filepath.Dir(file)); err != nil {
		return err
	}
	return explainFullDisk(d, replaceDurably(file, append(text, '\n')))
}

// RemoveAgentToken removes the stored token of an agent, if there is one. It does not revoke the token.
func (d Dir) RemoveAgentToken(agent string) error {
	if err := parley.CheckKnownID(agent); err != nil {
		return err
	}
	err := os.Remove(filepath.Join(string(d), tokenFile(agent)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// makeOwnDirs makes directories, the outermost first. It returns E003 for a link, and for what another user has made: what is written there
// would leave the home.
func makeOwnDirs(dirs ...string) error {
	for _, dir := range dirs {
		if err := mkdirDurably(dir); err != nil {
			return err
		}
		info, err := os.Lstat(dir)
		if err != nil {
			return err
		}
		if !info.IsDir() || !isOwnedByUser(info) {
			return parley.Errorf(parley.BadInput, "%s is not a directory of this user", dir).Suggest("move it away, and try again")
		}
	}
	return nil
}
