package connect

import (
	"encoding/json"
	"regexp"
	"strings"

	"github.com/parley-hub/parley/internal/connect/jsonc"
)

// ScopeUser as the scope of a hook says that it is registered for all projects of a user. Such a hook keeps silent in a project with a
// registration of its own, because clients run the hooks of both.
const ScopeUser = "user"

// userScope is how the command of such a hook ends.
const userScope = " --scope " + ScopeUser

var hookAgent = regexp.MustCompile(` --agent ([a-z0-9_-]+)`)

// ProjectAgent returns the agent as which the files in a directory register the hook of a client for an event, or "".
func ProjectAgent(client, event, dir string) string {
	of, err := Find(client)
	if err != nil {
		return ""
	}
	s := Setup{Client: of, Project: dir, Agent: "nobody"}
	for _, f := range s.files() {
		for _, e := range f.edits {
			if agent := agentIn(f, e, event); agent != "" {
				return agent
			}
		}
	}
	return ""
}

func agentIn(f file, e edit, event string) string {
	switch e := e.(type) {
	case jsonHook:
		if e.event != event {
			return ""
		}
		now, err := f.read()
		if err != nil || now.info == nil {
			return ""
		}
		return e.agentIn(now.text)
	case wholeFile: // the plugin of OpenCode has all hooks
		now, err := f.read()
		if err != nil || !e.isOurs(now.text) {
			return ""
		}
		return pluginAgent(now.text)
	default:
		return ""
	}
}

// agentIn returns the agent of a hook for the event that a project has registered.
func (h jsonHook) agentIn(text []byte) string {
	raw, found, err := jsonc.Get(text, h.path...)
	var list []json.RawMessage
	if err != nil || !found || json.Unmarshal(raw, &list) != nil {
		return ""
	}
	for _, item := range list {
		for _, hook := range append(hooksIn(item), item) {
			var of struct{ Command string }
			if isHook(hook, h.client, h.event) && json.Unmarshal(hook, &of) == nil && !strings.Contains(of.Command, userScope) {
				return agentOf(of.Command)
			}
		}
	}
	return ""
}

var pluginCommand = regexp.MustCompile(`(?m)^const command = (\[.*\])$`)

// pluginAgent returns the agent of a plugin of OpenCode that a project has.
func pluginAgent(text []byte) string {
	line := pluginCommand.FindSubmatch(text)
	var words []string
	if line == nil || json.Unmarshal(line[1], &words) != nil {
		return ""
	}
	command := strings.Join(words, " ")
	if strings.Contains(command, userScope) {
		return ""
	}
	return agentOf(command)
}

func agentOf(command string) string {
	if found := hookAgent.FindStringSubmatch(command); found != nil {
		return found[1]
	}
	return ""
}
