package connect

import (
	"cmp"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
)

// Trust says whether a client trusts the hooks of Parley.
type Trust string

// The kinds of trust.
const (
	Trusted   Trust = "trusted"   // the client runs the hooks
	Untrusted Trust = "untrusted" // it does not, until the person says so
	Unasked   Trust = ""          // it asks for no trust, or does not tell
)

// Trust returns whether the client trusts the hooks, as far as its files tell, and what the person must do if it does not.
func (c Connection) Trust(m Machine) (Trust, string) {
	switch {
	case len(c.Files) == 0: // a plugin
		return Unasked, ""
	case c.Client == codex.ID:
		return c.codexTrust(m), "start Codex, and trust the hooks of Parley: it asks at its start, or type /hooks"
	case c.Client == gemini.ID:
		folder := "each folder in which you work"
		if c.Project != "" {
			folder = c.Project
		}
		return c.geminiTrust(m), "start Gemini CLI in " + folder + ", type /permissions, and trust it"
	default:
		return Unasked, ""
	}
}

// userSetup returns the setup for the files of the user: the trust in a project is kept there too.
func (c Connection) userSetup(client Client, m Machine) Setup {
	if c.Project != "" {
		return Setup{Client: client, Machine: m, Dir: m.DirOf(client)}
	}
	m.UserHome = cmp.Or(c.User, m.UserHome)
	return Setup{Client: client, Machine: m, Dir: c.Dir}
}

// codexTrust looks for a trusted hash of the file with the hooks. Codex keeps one for each hook, under the path of the file.
func (c Connection) codexTrust(m Machine) Trust {
	root, dir := c.userSetup(codex, m).dir(".codex")
	text, err := os.ReadFile(filepath.Join(root, dir, "config.toml"))
	if err != nil {
		return Untrusted
	}
	for _, r := range c.Files {
		if strings.HasSuffix(r.Name, "hooks.json") && strings.Contains(string(text), "[hooks.state.") && strings.Contains(string(text), r.file().path()) {
			return Trusted
		}
	}
	return Untrusted
}

// geminiTrust looks for trusted folders: for the project of the connection, or for any.
func (c Connection) geminiTrust(m Machine) Trust {
	root, dir := c.userSetup(gemini, m).dir(".gemini")
	if dir == "." {
		dir = ".gemini"
	}
	text, err := os.ReadFile(filepath.Join(root, dir, "trustedFolders.json"))
	var folders map[string]string
	if err != nil || json.Unmarshal(text, &folders) != nil {
		return Untrusted
	}
	for folder, level := range folders {
		if level == "TRUST_PARENT" {
			folder = filepath.Dir(folder)
		}
		within := c.Project == "" || c.Project == folder || strings.HasPrefix(c.Project, folder+string(filepath.Separator))
		if strings.HasPrefix(level, "TRUST_") && within {
			return Trusted
		}
	}
	return Untrusted
}
