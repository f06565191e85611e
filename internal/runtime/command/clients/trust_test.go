//go:build clients

package clients

import (
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/modeltest"
)

// TestCodexRunsHooksThatThePersonHasTrusted: Codex asks at its start whether to trust the hooks, and parley doctor knows the answer. Then a
// message wakes it.
func TestCodexRunsHooksThatThePersonHasTrusted(t *testing.T) {
	a := connectedCodex(t)
	if found := a.parley(t, "doctor"); !strings.Contains(found, "does not trust the hooks") {
		t.Errorf("before, doctor says:\n%s", found)
	}
	a.trustHooks(t)
	a.api.answerBy(func(r modeltest.Request) modeltest.Answer {
		if id := messageIn(r, "the tangerines"); id != "" && len(r.Tools) > 0 && !strings.Contains(string(r.Body), "They are ripe.") {
			return call("mcp__parley/reply", object{"message": id, "content": "They are ripe."})
		}
		return theAnswer
	})
	a.say(t, "hello")
	a.term.Await(answer)
	if found := a.parley(t, "doctor"); !strings.Contains(found, "registered and trusted") {
		t.Errorf("doctor says:\n%s\nthe settings are:\n%s", found, a.file(".codex/config.toml"))
	}
	if text := a.ask(t, "ana", "--dm", "How are the tangerines?"); text != "They are ripe." {
		t.Errorf("it answered %q", text)
	}
}

// trustHooks opens Codex without questions about tools, and trusts the hooks.
func (a *attached) trustHooks(t *testing.T) {
	t.Helper()
	a.start(t, "--ask-for-approval", "never", "--sandbox", "danger-full-access")
	a.term.Await("6 hooks are new or changed", "2. Trust all and continue")
	a.choose(t, "› 2. Trust all and continue")
	a.pressEnter(t, "› 2. Trust all and continue")
	a.term.Await("Ask Codex to do anything")
}
