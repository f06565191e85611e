//go:build clients

package clients

import (
	"os"
	"path/filepath"
	"testing"
)

// connectProject connects the client in the directory where it works, as pa.
func (a *attached) connectProject(t *testing.T) {
	t.Helper()
	a.environ = append(a.environ, "PATH="+abs(t, "bin")+":"+filepath.Join(a.tools, "node_modules", ".bin")+":"+os.Getenv("PATH"))
	cmd := a.command(t, "connect", a.name, "--project", "--name", "pa", "--yes")
	cmd.Dir = a.work
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
}

// TestOneAgentInAProject: the client is connected as ana for its user, and as pa in the directory where it works. It runs the hooks of
// both, and hears only of the mail of pa.
func TestOneAgentInAProject(t *testing.T) {
	for name, open := range map[string]func(t *testing.T) *attached{
		"claude": func(t *testing.T) *attached {
			return openClaudeWith(t, func(a *attached) {
				a.connectProject(t)
				a.changeSettings(t, object{"enableAllProjectMcpServers": true})
			})
		},
		"codex": func(t *testing.T) *attached {
			a := connectedCodex(t)
			a.connectProject(t)
			a.start(t, "--dangerously-bypass-hook-trust")
			a.term.Await("Ask Codex to do anything")
			return a
		},
		"gemini": func(t *testing.T) *attached {
			a := connectedHub(t, "gemini", func(a *attached) {
				a.environ = append(a.environ, "GEMINI_CLI_TRUST_WORKSPACE=true")
				writeJSON(t, filepath.Join(a.home, ".gemini/trustedFolders.json"), object{a.work: "TRUST_FOLDER"})
			})
			a.connectProject(t)
			a.start(t, "--approval-mode", "yolo", "--model", "gemini-2.5-flash")
			a.term.Await("Type your message")
			return a
		},
		"opencode": func(t *testing.T) *attached {
			a := connectedHub(t, "opencode", func(*attached) {})
			a.connectProject(t)
			a.start(t)
			a.term.Await("Ask anything")
			return a
		},
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t)
			a.parley(t, "send", "ana", "--dm", "The oranges are ripe.")
			a.parley(t, "send", "pa", "--dm", "The lemons are ripe.")
			a.say(t, "hello")
			a.term.Await(answer)
			a.api.findRequest(t, "The lemons are ripe.")
			for _, r := range a.api.Requests() {
				if r.HasText("The oranges are ripe.") || r.HasText("connected to Parley as ana") {
					t.Errorf("it hears of ana: %s", r.Texts)
				}
			}
		})
	}
}
