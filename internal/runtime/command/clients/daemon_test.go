//go:build clients

package clients

import (
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/modeltest"
)

// TestTheDaemonOfCodexIsTheAgent: Codex runs its hooks, MCP servers and commands in a daemon once the person has trusted the hooks. The
// window ends. A message wakes the daemon, and a command of that turn is still the agent, and cannot approve what the agent asks for.
func TestTheDaemonOfCodexIsTheAgent(t *testing.T) {
	a := connectedCodex(t)
	a.trustHooks(t)
	a.api.answerBy(func(r modeltest.Request) modeltest.Answer {
		if r.HasText("check it") && len(r.Tools) > 0 && !strings.Contains(string(r.Body), "function_call_output") {
			return a.shell.calls("sh check.sh")
		}
		return theAnswer
	})
	a.say(t, "hello")
	a.term.Await(answer)
	a.killClient()
	_ = a.shellOf.Wait()
	asked := a.writeCheck(t)
	a.parley(t, "send", "ana", "--dm", "Please check it.")
	a.assertChecked(t, asked)
}
