//go:build conformance

package conformance

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/mcpapi"
	"github.com/parley-hub/parley/internal/tools"
)

// drivenHub is a hub with two agents that poll, a channel of both, and a call that waits for the decision of the first.
type drivenHub struct {
	*hub
	tokens   map[string]string
	approval string
}

func newDrivenHub(t *testing.T) drivenHub {
	t.Helper()
	h := drivenHub{hub: startHub(t, mcpapi.Options{}), tokens: map[string]string{}}
	ctx := t.Context()
	for _, id := range []string{"ana", "ben"} {
		h.tokens[id] = h.addAgent(t, id)
	}
	if _, err := h.owner.CreateConversation(ctx, parley.NewConversation{Name: "fruit", With: []string{"ana", "ben"}}); err != nil {
		t.Fatal(err)
	}
	h.approval = h.heldCall(t)
	return h
}

// heldCall makes a call that waits for the approval of ana, and returns the approval.
func (h drivenHub) heldCall(t *testing.T) string {
	t.Helper()
	ctx := t.Context()
	_, err := h.owner.AddAgent(ctx, parley.NewAgent{ID: "cat", Profile: parley.Profile{Runtime: "attached", Manager: "ana", Mode: parley.ModeSupervised}})
	if err != nil {
		t.Fatal(err)
	}
	issued, err := h.owner.NewToken(ctx, parley.NewToken{Agent: "cat"})
	if err != nil {
		t.Fatal(err)
	}
	cat, err := client.New(client.Options{Socket: h.dir.Socket(), Token: issued.Secret})
	if err != nil {
		t.Fatal(err)
	}
	defer cat.Close()
	_, _ = cat.Contact(ctx, parley.Contact{Pattern: parley.PatternDelegate, Agent: "ben", Message: "Cut the trees."}) // it is held
	list, err := h.owner.Approvals(ctx, client.ApprovalsOptions{}, client.PageRequest{})
	if err != nil || len(list.Items) != 1 {
		t.Fatal(list, err)
	}
	return list.Items[0].ShortName()
}

func parleyProgram(t *testing.T) string {
	t.Helper()
	program, err := filepath.Abs("../../../bin/parley")
	if err == nil {
		_, err = os.Stat(program)
	}
	if err != nil {
		t.Fatal("the program is missing: run make build: ", err)
	}
	return program
}

// environment is that of "parley mcp" as a client starts it.
func (h drivenHub) environment() map[string]string {
	return map[string]string{"PARLEY_HOME": string(h.dir), "HOME": filepath.Dir(string(h.dir)), "PATH": os.Getenv("PATH")}
}

// TestOfficialClients drives all tools with the official libraries, over both transports and in both generations of the protocol.
func TestOfficialClients(t *testing.T) {
	script, err := os.ReadFile("drive.mjs")
	if err != nil {
		t.Fatal(err)
	}
	for _, one := range []struct {
		name, library string
		mode          any
		revision      string
	}{
		{"client 2.4.0, current", "client", map[string]string{"pin": "2026-07-28"}, "2026-07-28"},
		{"client 2.4.0, earlier", "client", nil, "2025-11-25"},
		{"sdk 1.32.2", "sdk", nil, ""},
	} {
		for _, transport := range []string{"http", "stdio"} {
			t.Run(one.name+", "+transport, func(t *testing.T) {
				t.Parallel()
				h := newDrivenHub(t)
				setup, err := json.Marshal(map[string]any{
					"library": one.library, "mode": one.mode, "transport": transport, "url": "http://" + h.addr + "/mcp", "tokens": h.tokens,
					"parley": parleyProgram(t), "env": h.environment(), "approval": h.approval,
				})
				if err != nil {
					t.Fatal(err)
				}
				cmd := node(t, "--input-type=module", "-")
				cmd.Dir, cmd.Stdin, cmd.Env = filepath.Dir(programs(t)), strings.NewReader(string(script)), append(os.Environ(), "SETUP="+string(setup))
				printed, err := cmd.CombinedOutput()
				var result struct {
					Tools    int
					Revision string
				}
				if err != nil || json.Unmarshal(printed, &result) != nil || result.Tools != len(tools.All()) || result.Revision != one.revision {
					t.Errorf("%v\n%s", err, printed)
				}
			})
		}
	}
}

// TestInspector drives all tools with the Inspector, which makes one call for each process.
func TestInspector(t *testing.T) {
	for _, transport := range []string{"http", "stdio"} {
		t.Run(transport, func(t *testing.T) {
			t.Parallel()
			h := newDrivenHub(t)
			posted := ""
			for _, one := range []struct{ tool, want string }{
				{"send_channel_message channelId=#fruit content=Pears", "Posted"},
				{"read_conversation conversation=#fruit", "Pears"},
				{"contact_agent action=notify agentId=ben message=Pears", "Notification sent to ben"},
				{"check_inbox", "messages"},
				{"reply message=MESSAGE content=Thanks", "Posted"},
				{"query_workspace action=whoami", "id ana"},
				{"update_task task=task-1 status=completed", "task-1"},
				{"decide_approval approve=true id=" + h.approval, h.approval},
				{"memory action=recall query=pears", ""},
				{"sessions_send sessionKey=none message=hello", "Error"},
			} {
				words := strings.Fields(strings.Replace(one.tool, "MESSAGE", posted, 1))
				if !has(words[0]) {
					continue
				}
				args := []string{"--method", "tools/call", "--tool-name", words[0]}
				for _, arg := range words[1:] {
					args = append(args, "--tool-arg", arg)
				}
				printed, err := h.inspect(t, transport, args...).CombinedOutput()
				if name := messageName.FindSubmatch(printed); posted == "" && name != nil {
					posted = string(name[1])
				}
				if !strings.Contains(string(printed), `"content"`) || !strings.Contains(string(printed), one.want) {
					t.Errorf("%s: %v\n%s", one.tool, err, printed)
				}
			}
			printed, err := h.inspect(t, transport, "--method", "tools/list", "--strict").CombinedOutput()
			if err != nil || !strings.Contains(string(printed), "check_inbox") {
				t.Errorf("tools/list: %v\n%s", err, printed)
			}
		})
	}
}

var messageName = regexp.MustCompile(`"message": "(m\d+)"`)

func has(tool string) bool {
	for _, t := range tools.All() {
		if t.Name == tool {
			return true
		}
	}
	return false
}

// inspect returns a call of the Inspector as ana.
func (h drivenHub) inspect(t *testing.T, transport string, args ...string) *exec.Cmd {
	t.Helper()
	cli := []string{programs(t, ".bin", "mcp-inspector"), "--cli"}
	if transport == "http" {
		cli = append(cli, "http://"+h.addr+"/mcp", "--transport", "http", "--header", "Authorization: Bearer "+h.tokens["ana"])
	} else {
		cli = append(cli, parleyProgram(t), "mcp", "-e", "PARLEY_HOME="+string(h.dir), "-e", "PARLEY_TOKEN="+h.tokens["ana"])
	}
	cmd := node(t, append(cli, args...)...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir())
	return cmd
}
