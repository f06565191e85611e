//go:build unix

package connect

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/home"
)

// projectEvents has an event of each client.
var projectEvents = map[string]string{"claude": "Stop", "codex": "UserPromptSubmit", "gemini": "AfterTool", "opencode": "session.idle", "cursor": "stop"}

// TestTheRegistrationOfAProjectIsFound: for each client and event, with the agent, also through a link. The files of the user are no
// project's, also if the client works in the home of the user.
func TestTheRegistrationOfAProjectIsFound(t *testing.T) {
	for _, c := range Clients() {
		u := newUser(t)
		event := projectEvents[c.ID]
		s := u.setup(c.ID, "ana")
		u.connect(s)
		if agent := ProjectAgent(u.hub, c.ID, event, u.m.UserHome); agent != "" {
			t.Errorf("%s: in the home of the user: %q", c.ID, agent)
		}
		s.Project, s.Agent = u.path("project"), "pa"
		u.must(os.Mkdir(s.Project, 0o755))
		u.must(os.Symlink(s.Project, u.path("link")))
		if agent := ProjectAgent(u.hub, c.ID, event, s.Project); agent != "" {
			t.Errorf("%s: before: %q", c.ID, agent)
		}
		u.connect(s)
		for _, dir := range []string{s.Project, u.path("link")} {
			if agent := ProjectAgent(u.hub, c.ID, event, dir); agent != "pa" {
				t.Errorf("%s: in %s: %q", c.ID, dir, agent)
			}
		}
		u.must(u.disconnect(s))
		if agent := ProjectAgent(u.hub, c.ID, event, s.Project); agent != "" {
			t.Errorf("%s: afterwards: %q", c.ID, agent)
		}
	}
}

// TestARepositoryRegistersNothingByItself: its files are those of a project of this user, but this user has connected another directory.
func TestARepositoryRegistersNothingByItself(t *testing.T) {
	for _, c := range Clients() {
		u := newUser(t)
		s := u.setup(c.ID, c.ID)
		u.connect(s)
		own, foreign := u.path("own"), u.path("foreign")
		u.must(os.Mkdir(own, 0o755))
		s.Project = own
		u.connect(s)
		u.must(os.CopyFS(foreign, os.DirFS(own)))
		if agent := ProjectAgent(u.hub, c.ID, projectEvents[c.ID], foreign); agent != "" {
			t.Errorf("%s: it is %q", c.ID, agent)
		}
		other := home.Dir(filepath.Join(t.TempDir(), "hub"))
		u.must(other.Make())
		if agent := ProjectAgent(other, c.ID, projectEvents[c.ID], own); agent != "" {
			t.Errorf("%s: in another home: %q", c.ID, agent)
		}
	}
}

// TestAConnectedProjectMustRunTheHook: a command that only looks like it registers nothing, and neither does a removed one.
func TestAConnectedProjectMustRunTheHook(t *testing.T) {
	u := newUser(t)
	s := u.setup("codex", "codex")
	s.Project = u.path("project")
	u.must(os.Mkdir(s.Project, 0o755))
	u.connect(s)
	found := func() string { return ProjectAgent(u.hub, "codex", "UserPromptSubmit", s.Project) }
	const file = "project/.codex/hooks.json"
	connected := u.read(file)
	for name, text := range map[string]string{
		"inert":         strings.ReplaceAll(connected, "parley hook", ": hook"),
		"another agent": strings.ReplaceAll(connected, "--agent codex", "--agent mallory"),
		"large":         connected + strings.Repeat(" ", maxHookFile),
	} {
		u.write(file, text, 0o600)
		if agent := found(); agent != "" {
			t.Errorf("%s: %q", name, agent)
		}
	}
	u.write(file, connected, 0o600)
	if agent := found(); agent != "codex" {
		t.Errorf("as it was: %q", agent)
	}
	u.must(os.Remove(u.path(file)))
	if agent := found(); agent != "" {
		t.Errorf("removed: %q", agent)
	}
}
