package hook

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestWhereClientsLookForAProject: in the directory that a variable or the input names. Codex and OpenCode also look in the directories
// above, up to the root of the repository.
func TestWhereClientsLookForAProject(t *testing.T) {
	dir := t.TempDir()
	repository := filepath.Join(dir, "repository")
	deep := filepath.Join(repository, "a", "b")
	for _, made := range []string{deep, filepath.Join(repository, ".git")} {
		if err := os.MkdirAll(made, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	upward := []string{deep, filepath.Dir(deep), repository}
	for name, test := range map[string]struct {
		client string
		env    map[string]string
		in     input
		want   []string
	}{
		"claude":                   {"claude", map[string]string{"CLAUDE_PROJECT_DIR": repository}, input{Dir: deep}, []string{repository}},
		"claude without variables": {"claude", nil, input{Dir: deep}, []string{deep}},
		"gemini in claude":         {"gemini", map[string]string{"CLAUDE_PROJECT_DIR": dir}, input{Dir: deep}, []string{deep}},
		"codex":                    {"codex", nil, input{Dir: deep}, upward},
		"codex, no repository":     {"codex", nil, input{Dir: "/nowhere/at/all"}, []string{"/nowhere/at/all"}},
		"opencode":                 {"opencode", nil, input{Dir: deep}, upward},
		"cursor":                   {"cursor", nil, input{Workspaces: []string{dir, repository}}, []string{dir, repository}},
		"nothing":                  {"codex", nil, input{}, nil},
	} {
		c := Call{Client: test.client, Env: func(name string) string { return test.env[name] }}
		if got := c.projectDirs(test.in); !slices.Equal(got, test.want) {
			t.Errorf("%s: %q, want %q", name, got, test.want)
		}
	}
}
