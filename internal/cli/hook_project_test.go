package cli

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/parley-hub/parley/internal/connect"
	"github.com/parley-hub/parley/internal/home"
)

// projectHooks runs hooks in a project, with a hub that notes what it is asked.
type projectHooks struct {
	t            *testing.T
	hub          *fakeHub
	dir, project string
}

func newProjectHooks(t *testing.T) projectHooks {
	t.Helper()
	dir, socket := hookHome(t)
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	hub := &fakeHub{}
	server := httptest.NewUnstartedServer(hub)
	_ = server.Listener.Close()
	server.Listener = listener
	server.Start()
	t.Cleanup(server.Close)
	return projectHooks{t, hub, dir, connect.WithoutLinks(t.TempDir())}
}

// asks reports whether a hook asks the hub.
func (p projectHooks) asks(client, agent string, more ...string) bool {
	p.t.Helper()
	input, err := json.Marshal(map[string]string{"session_id": "s-1", "cwd": p.project})
	if err != nil {
		p.t.Fatal(err)
	}
	before := len(p.hub.asked)
	code, printed := runHookCommand(string(input), append([]string{"--home", p.dir, client, "UserPromptSubmit", "--agent", agent}, more...)...)
	if code != 0 || printed != "" {
		p.t.Errorf("exit code %d, %q", code, printed)
	}
	return len(p.hub.asked) > before
}

func (p projectHooks) write(file, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p projectHooks) storeToken(agent string) {
	p.t.Helper()
	p.write(filepath.Join(home.Dir(p.dir).Clients(), "tokens", agent+".json"), `{"agent":"`+agent+`","token":"t-2","secret":"parley_test2"}`)
}

// connect connects the project, as "parley connect --project" does.
func (p projectHooks) connect(id, agent string) {
	p.t.Helper()
	client, err := connect.Find(id)
	if err != nil {
		p.t.Fatal(err)
	}
	plan, err := connect.NewPlan(connect.Setup{Client: client, Agent: agent, Parley: "parley", Project: p.project}, nil)
	if err == nil {
		err = plan.Apply(home.Dir(p.dir), "t-2")
	}
	if err != nil {
		p.t.Fatal(err)
	}
}

// TestOneHookAnswersInAProject: the hooks of the user and of a project run both. In a project with a registration of its own, the hook of
// the user is silent, once this person has connected the project and has the token of its agent. The hook of the project always answers.
func TestOneHookAnswersInAProject(t *testing.T) {
	p := newProjectHooks(t)
	t.Setenv("CLAUDE_PROJECT_DIR", p.project)
	if !p.asks("claude", "ana", "--scope", "user") {
		t.Error("without a project, the hook of the user is silent")
	}
	p.connect("claude", "pa")
	if !p.asks("claude", "ana", "--scope", "user") {
		t.Error("a project whose agent has no token silences the hook of the user")
	}
	p.storeToken("pa")
	if p.asks("claude", "ana", "--scope", "user") {
		t.Error("the hook of the user answers too")
	}
	if !p.asks("claude", "pa") {
		t.Error("the hook of the project is silent")
	}
}

// TestAForeignRepositorySilencesNoHooks, though its files name the agent that each client is connected as by default.
func TestAForeignRepositorySilencesNoHooks(t *testing.T) {
	for client, file := range map[string]string{"claude": ".claude/settings.json", "codex": ".codex/hooks.json"} {
		for name, command := range map[string]string{"inert": ": hook %s UserPromptSubmit --agent %s", "true": "parley hook %s UserPromptSubmit --agent %s"} {
			t.Run(client+" "+name, func(t *testing.T) {
				p := newProjectHooks(t)
				t.Setenv("CLAUDE_PROJECT_DIR", p.project)
				p.storeToken(client)
				p.write(filepath.Join(p.project, file),
					fmt.Sprintf(`{"hooks":{"UserPromptSubmit":[{"hooks":[{"type":"command","command":"`+command+`"}]}]}}`, client, client))
				if !p.asks(client, client, "--scope", "user") {
					t.Error("the hook of the user is silent")
				}
			})
		}
	}
}
