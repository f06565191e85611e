//go:build clients

package clients

import (
	"io"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parley-hub/parley/internal/modeltest"
)

// checkIdentity asks the hub who calls, and tries to approve a request of the agent itself, with the environment of the shell and with an
// empty one.
const checkIdentity = `{
PARLEY whoami -o json
PARLEY approval approve APPROVAL
env -i PARLEY --home HOME whoami -o json
env -i PARLEY --home HOME approval approve APPROVAL
} >said 2>&1
touch checked
`

// TestTheShellOfAConnectedClientIsTheAgent: a command in the client's own shell acts as the agent, and cannot approve what the agent
// asks for.
func TestTheShellOfAConnectedClientIsTheAgent(t *testing.T) {
	for name, open := range map[string]func(*testing.T) *attached{
		"claude": openClaude, "codex": openFreeCodex, "gemini": openGemini, "opencode": openOpenCode,
	} {
		t.Run(name, func(t *testing.T) {
			a := open(t)
			asked := a.writeCheck(t)
			var called atomic.Bool
			a.api.answerBy(func(r modeltest.Request) modeltest.Answer {
				if slices.Contains(r.Tools, a.shell.tool) && r.HasText("check it") && !called.Swap(true) {
					return a.shell.calls("sh check.sh")
				}
				return theAnswer
			})
			a.say(t, "check it")
			a.assertChecked(t, asked)
			a.term.Await(answer)
		})
	}
}

// writeCheck asks for a permission, and writes checkIdentity as a script for it. It returns the short name of the approval.
func (a *attached) writeCheck(t *testing.T) (asked string) {
	t.Helper()
	asked = a.askToUseATool(t)
	write(t, filepath.Join(a.work, "check.sh"), strings.NewReplacer(
		"PARLEY", abs(t, "bin/parley"), "HOME", filepath.Join(a.home, "hub"), "APPROVAL", asked).Replace(checkIdentity))
	return asked
}

// assertChecked waits until the script has run, and checks that it was the agent and that the approval is still pending.
func (a *attached) assertChecked(t *testing.T, asked string) {
	t.Helper()
	a.awaitFile(t, "checked")
	said := a.file("work/said")
	if strings.Count(said, `"id": "ana"`) != 2 || strings.Count(said, "E001") != 2 {
		t.Errorf("%s", said)
	}
	if pending := a.awaitApproval(t); pending.ShortName() != asked {
		t.Errorf("%s is pending", pending.ShortName())
	}
}

// askToUseATool asks for a permission as a hook of the client would, and returns the short name of the approval. It stays pending until
// the test ends.
func (a *attached) askToUseATool(t *testing.T) string {
	t.Helper()
	cmd := a.command(t, "hook", "claude", "PermissionRequest", "--agent", "ana")
	in, err := cmd.StdinPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err == nil {
		_, err = io.WriteString(in, `{"session_id":"s-1","tool_name":"Bash","tool_input":{"command":"make deploy"}}`)
	}
	if err != nil || in.Close() != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return a.awaitApproval(t).ShortName()
}
