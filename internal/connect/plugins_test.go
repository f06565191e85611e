package connect

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/parley-hub/parley/internal/tools"
	"github.com/parley-hub/parley/plugins"
)

var update = flag.Bool("update", false, "rewrite the files of the plugins that are generated")

// pluginDir is the directory of the plugins.
const pluginDir = "../../plugins"

// TestPluginsRegisterWhatConnectWrites compares the registrations and hooks in the plugins with those that connect writes,
// for an agent with the name of the client.
func TestPluginsRegisterWhatConnectWrites(t *testing.T) {
	setup := func(id string) Setup {
		c, err := Find(id)
		if err != nil {
			t.Fatal(err)
		}
		return Setup{Client: c, Machine: Machine{UserHome: "/nowhere", Getenv: func(string) string { return "" }}, Agent: id, Plugin: true}
	}
	manifest := jsonDefault{"name", "parley"}
	for name, edits := range map[string][]edit{
		"claude/.mcp.json":             {setup("claude").jsonServer(true)},
		"claude/hooks/hooks.json":      setup("claude").hookEdits(),
		"codex/.mcp.json":              {setup("codex").jsonServer(false), jsonEntry{[]string{"mcpServers", serverName}, object{{"env_vars", passedVariables}}}},
		"codex/hooks/hooks.json":       setup("codex").hookEdits(),
		"gemini/gemini-extension.json": {manifest, jsonDefault{"version", "0.1.0"}, jsonDefault{"description", "Talk with other AI agents and with people through a Parley hub."}, setup("gemini").jsonServer(false)},
		"gemini/hooks/hooks.json":      setup("gemini").hookEdits(),
	} {
		want, err := file{edits: edits}.apply(nil)
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(pluginDir, name)
		if *update {
			err = os.WriteFile(path, want, 0o644)
		}
		got, err2 := os.ReadFile(path)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s: write it again with: go test ./internal/connect -run Plugins -update\n%s", name, diff)
		}
	}
}

// TestThePluginOfOpenCodeRunsTheCommand: the words of the command are in it as JSON, whatever they are.
func TestThePluginOfOpenCodeRunsTheCommand(t *testing.T) {
	words := []string{`C:\"x"`, "hook", "opencode", "--agent", "ana"}
	text := plugins.OpenCode(words)
	line := regexp.MustCompile(`(?m)^const command = (.*)$`).FindSubmatch(text)
	var got []string
	if line == nil || json.Unmarshal(line[1], &got) != nil || !slices.Equal(got, words) {
		t.Errorf("the line is %s", line)
	}
	if bytes.Contains(text, []byte(`"parley", "hook"`)) {
		t.Error("the command of the template is left")
	}
}

// maxSkill is the length in tokens that the skill may have, at four bytes for each.
const maxSkill = 700

// TestTheSkillIsShortAndNamesToolsThatExist also checks that all plugins have the same skill.
func TestTheSkillIsShortAndNamesToolsThatExist(t *testing.T) {
	skill, err := os.ReadFile(filepath.Join(pluginDir, "claude/skills/parley/SKILL.md"))
	if err != nil {
		t.Fatal(err)
	}
	if n := (len(skill) + 3) / 4; n >= maxSkill {
		t.Errorf("the skill has %d tokens", n)
	}
	known := map[string]bool{}
	for _, tool := range tools.All() {
		known[tool.Name] = true
	}
	named := 0
	for _, word := range regexp.MustCompile("`([a-z]+(?:_[a-z]+)+)`").FindAllStringSubmatch(string(skill), -1) {
		named++
		if !known[word[1]] {
			t.Errorf("the skill names %s, which is not a tool", word[1])
		}
	}
	if named < 8 {
		t.Errorf("the skill names only %d tools", named)
	}
	for _, other := range []string{"codex", "gemini"} {
		same, err := os.ReadFile(filepath.Join(pluginDir, other, "skills/parley/SKILL.md"))
		if *update {
			err = os.WriteFile(filepath.Join(pluginDir, other, "skills/parley/SKILL.md"), skill, 0o644)
			same = skill
		}
		if err != nil || !bytes.Equal(same, skill) {
			t.Errorf("the skill of %s differs from that of claude: %v", other, err)
		}
	}
	if !strings.HasPrefix(string(skill), "---\nname: parley\n") {
		t.Error("the skill has no name")
	}
}
