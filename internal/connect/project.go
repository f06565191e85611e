package connect

import (
	"bytes"
	"regexp"

	"github.com/parley-hub/parley/internal/home"
)

// ScopeUser as the scope of a hook says that it is registered for all projects of a user. Such a hook keeps silent in a project with a
// registration of its own, because clients run the hooks of both.
const ScopeUser = "user"

// userScope is how the command of such a hook ends.
const userScope = " --scope " + ScopeUser

// What a hook reads at most, in bytes: it has 200 ms, and whoever writes a repository chooses the size of its files.
const (
	maxHookFile    = 256 << 10
	maxHookJournal = 8 * maxHookFile // with two files, each before and after
)

// ProjectAgent returns the agent as which the files in a directory register the hook of a client for an event, or "". Only the journal
// of the home says which agent that is, and that there is one: anybody can write such files into a repository.
func ProjectAgent(h home.Dir, client, event, dir string) string {
	of, err := Find(client)
	if err != nil {
		return ""
	}
	s := Setup{Client: of, Project: WithoutLinks(dir)}
	known, err := loadUpTo(h, s, maxHookJournal)
	if known == nil || err != nil {
		return ""
	}
	s.Agent = known.Agent
	for _, f := range s.files() {
		for _, e := range f.edits {
			if f.registers(e, event) {
				return s.Agent
			}
		}
	}
	return ""
}

// registers reports whether an edit of the file registers the hook for an event, and is in the file.
func (f file) registers(e edit, event string) bool {
	isIn := e.isIn
	switch e := e.(type) {
	case jsonHook:
		if e.event != event {
			return false
		}
	case wholeFile:
		isIn = e.hasHooks
	default:
		return false
	}
	now, err := f.readUpTo(maxHookFile)
	if err != nil || now.info == nil {
		return false
	}
	is, err := isIn(now.text)
	return is && err == nil
}

var pluginCommand = regexp.MustCompile(`(?m)^const command = \[.*\]$`)

// hasHooks reports whether a text is the plugin of OpenCode with the same command. It has all hooks. The rest of the plugin differs
// between versions of Parley.
func (w wholeFile) hasHooks(text []byte) (bool, error) {
	return w.isOurs(text) && bytes.Equal(pluginCommand.Find(text), pluginCommand.Find(w.text)), nil
}
