package script

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// shellBlocks are the commands a document tells its reader to type.
var shellBlocks = regexp.MustCompile("(?s)```sh\n(.*?)```")

// TestReadme types what the README says, in the order in which it says it.
func TestReadme(t *testing.T) {
	shows(t, commandsOf(t, "README.md"),
		"Hello, user. You said “hello there”.", "created  #project-x", "accepted  arya", "accepted  gendry", "thoughts on streaming?",
		"green since Tuesday", "answered",
		"Response from DataBot: Q4 revenue was", "Notification sent to arya.", "This action requires approval. Waiting for approval...",
		"approved  gendry", "allowed with approval  gendry → data",
		`"text":"done"`, "added  agentos-collab", "accepted  codex", "removed  agentos-collab", "stopped")
}

// TestDocuments types what other documents say, at a hub with two agents.
func TestDocuments(t *testing.T) {
	for document, shown := range map[string][]string{
		"tasks.md": {
			`task-2: "Publish it" (gendry) — QUEUED  (waits for task-1)`, "active  task-1  arya", "completed  task-1  arya",
			"cancelled  task-2  gendry", "queued  task-2  gendry", "queued  task-2  arya", "attempt             3",
		},
		"permissions.md": {"allowed with approval by a person  arya → user", "allowed  arya → gendry", "denied  arya → *", "removed  arya → gendry"},
	} {
		t.Run(document, func(t *testing.T) {
			shows(t, "parley up --detach\nparley agent add arya\nparley agent add gendry\n"+
				commandsOf(t, "docs/"+document)+"parley down\n", shown...)
		})
	}
}

func commandsOf(t *testing.T, document string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", document))
	if err != nil {
		t.Fatal(err)
	}
	var script strings.Builder
	for _, block := range shellBlocks.FindAllStringSubmatch(string(text), -1) {
		script.WriteString(block[1])
	}
	return script.String()
}

// shows types commands in a home of their own, and requires that they succeed and show each of these texts.
func shows(t *testing.T, script string, texts ...string) {
	t.Helper()
	home := t.TempDir()
	env := append(os.Environ(), "HOME="+home, "PARLEY_ADDR=127.0.0.1:0", "PARLEY_HOME=", "PARLEY_STORE=")
	t.Cleanup(func() {
		stop := exec.Command("parley", "down") // where the commands did not come that far
		stop.Env = env
		_ = stop.Run()
	})
	reader := exec.Command("sh", "-eux")
	reader.Stdin, reader.Env, reader.Dir = strings.NewReader(script), env, home
	out, err := reader.CombinedOutput()
	if err != nil {
		t.Fatalf("%v:\n%s", err, out)
	}
	for _, text := range texts {
		if !strings.Contains(string(out), text) {
			t.Errorf("nothing shows %q in:\n%s", text, out)
		}
	}
}
