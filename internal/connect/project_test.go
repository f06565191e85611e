//go:build unix

package connect

import (
	"os"
	"testing"
)

// TestTheRegistrationOfAProjectIsFound: for each client and event, with the agent. The files of the user are no project's, also if the
// client works in the home of the user.
func TestTheRegistrationOfAProjectIsFound(t *testing.T) {
	events := map[string]string{"claude": "Stop", "codex": "UserPromptSubmit", "gemini": "AfterTool", "opencode": "session.idle", "cursor": "stop"}
	for _, c := range Clients() {
		u := newUser(t)
		event := events[c.ID]
		s := u.setup(c.ID, "ana")
		u.connect(s)
		if agent := ProjectAgent(c.ID, event, u.m.UserHome); agent != "" {
			t.Errorf("%s: in the home of the user: %q", c.ID, agent)
		}
		s.Project, s.Agent = u.path("project"), "pa"
		u.must(os.Mkdir(s.Project, 0o755))
		if agent := ProjectAgent(c.ID, event, s.Project); agent != "" {
			t.Errorf("%s: before: %q", c.ID, agent)
		}
		u.connect(s)
		if agent := ProjectAgent(c.ID, event, s.Project); agent != "pa" {
			t.Errorf("%s: %q", c.ID, agent)
		}
		u.must(u.disconnect(s))
		if agent := ProjectAgent(c.ID, event, s.Project); agent != "" {
			t.Errorf("%s: afterwards: %q", c.ID, agent)
		}
	}
}
