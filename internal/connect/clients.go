package connect

import (
	"path"

	"github.com/parley-hub/parley/internal/connect/jsonc"
	"github.com/parley-hub/parley/internal/connect/toml"
	"github.com/parley-hub/parley/plugins"
)

// serverName is the name under which clients know the MCP server.
const serverName = "parley"

var claude = Client{
	ID: "claude", Title: "Claude Code", syntax: claudeSyntax, Variable: "CLAUDE_CONFIG_DIR", Programs: []string{"claude"}, Traces: []string{".claude", ".claude.json"},
	Install: "install it with: npm install -g @anthropic-ai/claude-code",
	User:    []string{"Restart Claude Code in the terminals where it runs."},
	Project: []string{
		"Each person who opens the project: start Claude Code in it, trust the project, and allow the MCP server parley of .mcp.json.",
		"Each person who opens the project: create the agent and its token in this folder with: parley connect claude --project --name %s",
	},
	files: func(s Setup) []file {
		if s.Project != "" {
			return []file{{s.Project, ".mcp.json", []edit{s.jsonServer(true)}}, {s.Project, ".claude/settings.json", s.hookEdits()}}
		}
		root, dir := s.dir(".claude")
		registration := ".claude.json" // it is beside the directory .claude, but within the directory of the variable
		return []file{{root, registration, []edit{s.jsonServer(true)}}, {root, path.Join(dir, "settings.json"), s.hookEdits()}}
	},
}

var codex = Client{
	ID: "codex", Title: "Codex", syntax: codexSyntax, Variable: "CODEX_HOME", Programs: []string{"codex"}, Traces: []string{".codex"},
	Install: "install it with: npm install -g @openai/codex",
	User:    []string{"Start Codex, and trust the hooks of Parley: it asks at its start, or type /hooks. Codex runs no hook that you have not trusted."},
	Project: []string{
		"Each person who opens the project: start Codex in it, and trust the project and the hooks of Parley: it asks at its start, or type /hooks.",
		"Each person who opens the project: create the agent and its token in this folder with: parley connect codex --project --name %s",
	},
	files: func(s Setup) []file {
		root, dir := s.dir(".codex")
		if s.Project != "" {
			root, dir = s.Project, ".codex"
		}
		return []file{{root, path.Join(dir, "config.toml"), []edit{s.tomlServer()}}, {root, path.Join(dir, "hooks.json"), s.hookEdits()}}
	},
}

var gemini = Client{
	ID: "gemini", Title: "Gemini CLI", syntax: geminiSyntax, Variable: "GEMINI_CLI_HOME", Programs: []string{"gemini"}, Traces: []string{".gemini"},
	Install: "install it with: npm install -g @google/gemini-cli",
	User:    []string{"Restart Gemini CLI. It uses the tools and hooks only in folders that you trust: type /permissions in each."},
	Project: []string{
		"Each person who opens the project: start Gemini CLI in it, and trust the folder.",
		"Each person who opens the project: create the agent and its token in this folder with: parley connect gemini --project --name %s",
	},
	files: func(s Setup) []file {
		root, dir := s.dir(".gemini")
		if s.Project != "" {
			root, dir = s.Project, ".gemini"
		} else if dir == "." {
			dir = ".gemini" // the variable names another user home
		}
		return []file{{root, path.Join(dir, "settings.json"), append([]edit{s.jsonServer(false)}, s.hookEdits()...)}}
	},
}

var opencode = Client{
	ID: "opencode", Title: "OpenCode", syntax: jsonc.Any, Variable: "XDG_CONFIG_HOME", Programs: []string{"opencode"}, Traces: []string{".config/opencode", ".local/share/opencode"},
	Install: "install it with: npm install -g opencode-ai",
	User:    []string{"Restart OpenCode in the terminals where it runs."},
	Project: []string{
		"Each person who opens the project: restart OpenCode in it.",
		"Each person who opens the project: create the agent and its token in this folder with: parley connect opencode --project --name %s",
	},
	files: func(s Setup) []file {
		root, dir := s.dir(".config")
		config, plugin := path.Join(dir, "opencode"), path.Join(dir, "opencode/plugin/parley.js")
		if s.Project != "" {
			root, config, plugin = s.Project, "", ".opencode/plugin/parley.js"
		}
		return []file{
			{root, firstExisting(root, path.Join(config, "opencode.json"), path.Join(config, "opencode.jsonc")), []edit{s.openCodeServer()}},
			{root, plugin, []edit{wholeFile{plugins.OpenCode(s.hookCommand("opencode"))}}},
		}
	},
}

var cursor = Client{
	ID: "cursor", Title: "Cursor", syntax: jsonc.Any, Programs: []string{"cursor-agent", "cursor"}, Traces: []string{".cursor"},
	Install: "install it from https://cursor.com",
	User:    []string{"Restart Cursor, and switch on the MCP server parley in its settings."},
	Project: []string{
		"Each person who opens the project: restart Cursor, and switch on the MCP server parley in its settings.",
		"Each person who opens the project: create the agent and its token in this folder with: parley connect cursor --project --name %s",
	},
	files: func(s Setup) []file {
		root := s.Machine.UserHome
		if s.Project != "" {
			root = s.Project
		}
		return []file{
			{root, ".cursor/mcp.json", []edit{s.jsonServer(false)}},
			{root, ".cursor/hooks.json", append([]edit{jsonDefault{"version", 1}}, s.hookEdits()...)},
		}
	},
}

// jsonServer registers the MCP server in JSON.
func (s Setup) jsonServer(typed bool) edit {
	command := s.command("mcp")
	entry := object{{"command", command[0]}, {"args", command[1:]}}
	if typed {
		entry = append(object{{"type", "stdio"}}, entry...)
	}
	return jsonEntry{[]string{"mcpServers", serverName}, entry}
}

// openCodeTimeout is how long, in milliseconds, OpenCode waits for the list of tools.
const openCodeTimeout = 15_000

func (s Setup) openCodeServer() edit {
	return jsonEntry{[]string{"mcp", serverName}, object{{"type", "local"}, {"command", s.command("mcp")}, {"enabled", true}, {"timeout", openCodeTimeout}}}
}

// passedVariables are what Codex passes to the server from its own environment. A Codex that the hub runs must act as the agent of
// the run, and a person may name the hub by a variable.
var passedVariables = []string{"PARLEY_HOME", "PARLEY_RUN", "PARLEY_TOKEN", "PARLEY_URL"}

func (s Setup) tomlServer() edit {
	command := s.command("mcp")
	return tomlTable{[]string{"mcp_servers", serverName}, []toml.Pair{
		{Key: "command", Value: command[0]}, {Key: "args", Value: command[1:]}, {Key: "env_vars", Value: passedVariables},
	}}
}
