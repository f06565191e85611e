package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestAgentsOfTheHubAreNotSuggested: a bridge writes presence files of the hub's own agents, who do not speak through it.
func TestAgentsOfTheHubAreNotSuggested(t *testing.T) {
	dir := t.TempDir()
	presence := filepath.Join(dir, "signals", "presence")
	if err := os.MkdirAll(presence, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"arya", "claude", "codex", "user"} {
		if err := os.WriteFile(filepath.Join(presence, name+".json"), []byte("{}"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	newFakeHub(t, map[string]string{"GET /v1/agents": `{"items":[{"id":"user","kind":"human"},
		{"id":"arya","kind":"agent","runtime":"claude"},{"id":"codex","kind":"agent","runtime":"bridge"}]}`})
	var out, errs strings.Builder
	code := Run([]string{"bridge", "add", "agentos", dir}, strings.NewReader(""), &out, &errs)
	if code != 1 || !strings.Contains(errs.String(), "--agents claude,codex)\n") {
		t.Errorf("exit code %d, it says %q", code, errs.String())
	}
}
