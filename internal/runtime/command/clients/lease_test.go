//go:build clients

package clients

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/modeltest"
)

// TestMailOfAKilledClientIsBack: a client has read a message in its turn, and is killed before the turn ends. The message is in the inbox
// again, because the client session of its hooks and of its MCP server held it.
func TestMailOfAKilledClientIsBack(t *testing.T) {
	for name, open := range map[string]func(*testing.T) *attached{"claude": openClaude, "codex": openFreeCodex, "gemini": openGemini} {
		t.Run(name, func(t *testing.T) {
			a := open(t)
			write(t, filepath.Join(a.work, "wait.sh"), "touch begun; until [ -e go ]; do sleep 0.1; done")
			a.api.answerBy(func(r modeltest.Request) modeltest.Answer {
				if slices.Contains(r.Tools, a.shell.tool) && r.HasText("| How are the tangerines?") {
					return a.shell.calls("sh wait.sh")
				}
				return theAnswer
			})
			a.say(t, "hello")
			a.term.Await(answer)
			var sent parley.Receipt
			read(t, a.parley(t, "send", "ana", "--dm", "How are the tangerines?", "-o", "json"), &sent)
			a.awaitFile(t, "begun")
			a.awaitState(t, sent.Message.ID, parley.DeliverySeen)
			sessions := lines[parley.Session](t, a.parley(t, "session", "list", "-o", "jsonl"))
			if len(sessions) != 1 || sessions[0].Kind != parley.SessionStdio || sessions[0].Held != 1 {
				t.Errorf("sessions %+v", sessions)
			}
			a.killClient()
			a.awaitState(t, sent.Message.ID, parley.DeliveryAccepted)
		})
	}
}

// TestDoctorSeesEachClient: what parley doctor says of a client that is open and idle.
func TestDoctorSeesEachClient(t *testing.T) {
	for name, test := range map[string]struct {
		open func(*testing.T) *attached
		says []string
	}{
		"codex":    {openFreeCodex, []string{"Codex is connected as ana with its MCP server and hooks, but does not trust the hooks", "(stdio), woken by its queue"}},
		"gemini":   {openGemini, []string{"Gemini CLI is connected as ana: MCP server and hooks are registered and trusted", "(stdio), woken by its hook"}},
		"opencode": {openOpenCode, []string{"OpenCode is connected as ana: MCP server and hooks are registered", "opencode (hook), woken by its plugin"}},
	} {
		t.Run(name, func(t *testing.T) {
			a := test.open(t)
			a.say(t, "hello")
			a.term.Await(answer)
			lacks := func(found string) bool {
				return slices.ContainsFunc(test.says, func(words string) bool { return !strings.Contains(found, words) })
			}
			found := a.parley(t, "doctor")
			for late := time.Now().Add(time.Minute); lacks(found) && time.Now().Before(late); { // the hook that waits begins after the answer
				found = a.parley(t, "doctor")
			}
			if lacks(found) {
				t.Errorf("doctor does not say all of %q:\n%s", test.says, found)
			}
		})
	}
}
