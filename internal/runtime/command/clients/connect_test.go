//go:build clients

package clients

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// connectTests say for each client how it lists its MCP servers, and what it says of Parley's server once it has started it. Codex only
// lists servers. The files are those that connect changes; the client may change the last ones itself.
var connectTests = map[string]struct {
	list  []string
	says  string
	files []string
	hooks string // the file with the hooks
}{
	"claude":   {[]string{"claude", "mcp", "list"}, `parley: \S+ mcp --agent cleo --home \S+ - ✔ Connected`, []string{".claude/settings.json", ".claude.json"}, ".claude/settings.json"},
	"codex":    {[]string{"codex", "mcp", "list"}, `parley +\S+ +mcp --agent cleo --home \S+ .*PARLEY_HOME.* enabled`, []string{".codex/config.toml", ".codex/hooks.json"}, ".codex/hooks.json"},
	"gemini":   {[]string{"gemini", "mcp", "list"}, `✓ parley: \S+ mcp --agent cleo --home \S+ \(stdio\) - Connected`, []string{".gemini/settings.json"}, ".gemini/settings.json"},
	"opencode": {[]string{"opencode", "mcp", "list"}, `✓ parley .*connected`, []string{".config/opencode/opencode.json", ".config/opencode/plugin/parley.js"}, ".config/opencode/plugin/parley.js"},
}

// TestConnectedClientsSeeTheServer connects each real client, and asks it for its servers. After disconnect, it has none.
func TestConnectedClientsSeeTheServer(t *testing.T) {
	for _, c := range clients {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			test := connectTests[c.name]
			h := newHub(t, c)
			h.trustFolder(t)
			if c.name == "opencode" { // it adds this line itself
				write(t, filepath.Join(h.home, test.files[0]), "{\n  \"$schema\": \"https://opencode.ai/config.json\"\n}\n")
			}
			before := map[string]string{}
			for _, file := range test.files {
				before[file] = h.file(file)
			}
			h.parley(t, "connect", c.name, "--name", "cleo", "--yes")
			if said := h.program(t, test.list...); !regexp.MustCompile(test.says).MatchString(said) {
				t.Errorf("%s: %s", c.name, said)
			}
			if hooks := h.file(test.hooks); !strings.Contains(hooks, "cleo") {
				t.Errorf("%s has no hooks: %s", test.hooks, hooks)
			}
			h.parley(t, "disconnect", c.name)
			for i, file := range test.files {
				now := h.file(file)
				if now != before[file] && (c.name != "claude" || i == 0) || strings.Contains(now, "parley mcp") {
					t.Errorf("%s is now %q, was %q", file, now, before[file])
				}
			}
			if said := h.program(t, test.list...); strings.Contains(said, "cleo") {
				t.Errorf("after disconnect: %s", said)
			}
		})
	}
}

// TestPluginsLoad installs the plugins of the repository with the real clients.
func TestPluginsLoad(t *testing.T) {
	for name, test := range map[string]struct {
		install [][]string
		list    []string
		says    string
	}{
		"claude": {[][]string{{"claude", "plugin", "marketplace", "add", abs(t, ".")}, {"claude", "plugin", "install", "parley@parley"}}, []string{"claude", "mcp", "list"}, `plugin:parley:parley: parley mcp --agent claude - ✔ Connected`},
		"codex":  {[][]string{{"codex", "plugin", "marketplace", "add", abs(t, ".")}, {"codex", "plugin", "add", "parley@parley"}}, []string{"codex", "mcp", "list"}, `parley +parley +mcp --agent codex +PARLEY_HOME.* enabled`},
		"gemini": {[][]string{{"gemini", "extensions", "link", abs(t, "plugins/gemini"), "--consent"}}, []string{"gemini", "mcp", "list"}, `✓ parley \(from parley\): parley mcp --agent gemini \(stdio\) - Connected`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var c client
			for _, c = range clients {
				if c.name == name {
					break
				}
			}
			h := newHub(t, client{name: c.name, config: c.config, set: func(t *testing.T, home, api string) []string {
				environ := c.set(t, home, api)
				if file := filepath.Join(home, ".codex/config.toml"); name == "codex" {
					text, _ := os.ReadFile(file)
					write(t, file, strings.Replace(string(text), "features.plugins = false", "", 1))
				}
				return environ
			}})
			h.environ = append(h.environ, "PATH="+abs(t, "bin")+":"+filepath.Join(h.tools, "node_modules", ".bin")+":"+os.Getenv("PATH"))
			h.trustFolder(t)
			h.parley(t, "connect", name, "--plugin", "--yes")
			said := ""
			for _, command := range test.install {
				said += h.program(t, command...)
			}
			if listed := h.program(t, test.list...); !regexp.MustCompile(test.says).MatchString(listed) {
				t.Errorf("%s\n%s", said, listed)
			}
		})
	}
}

// trustFolder has Gemini CLI trust the home.
func (h *hub) trustFolder(t *testing.T) {
	write(t, filepath.Join(h.home, ".gemini/trustedFolders.json"), `{"`+h.home+`": "TRUST_FOLDER"}`)
}

// program runs a program in the home of the user, and returns what it prints.
func (h *hub) program(t *testing.T, words ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), commandTimeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, "env", words...) // which finds the program in the PATH of the environment
	cmd.Dir, cmd.Env = h.home, slices.Concat(h.environ, []string{"NO_COLOR=1"})
	said, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", strings.Join(words, " "), err, said)
	}
	return string(said)
}

// file returns the text of a file in the home of the user, or "" if there is none.
func (h *hub) file(name string) string {
	text, _ := os.ReadFile(filepath.Join(h.home, name))
	return string(text)
}
