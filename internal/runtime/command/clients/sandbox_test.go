//go:build clients

package clients

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/parley-hub/parley/internal/modeltest"
)

// needSandboxPrograms skips a test on a machine without the programs that Claude Code's sandbox needs on Linux.
// In CI the test fails instead: scripts/clients installs them there.
func needSandboxPrograms(t *testing.T) {
	t.Helper()
	for _, program := range []string{"bwrap", "socat"} {
		if _, err := exec.LookPath(program); err == nil {
			continue
		}
		if os.Getenv("CI") == "true" {
			t.Fatalf("%s is missing: Claude Code has no sandbox without it", program)
		}
		t.Skipf("%s is missing: Claude Code has no sandbox without it; install bubblewrap and socat", program)
	}
}

// TestSandboxes runs parley in the shell of each client, inside the client's own sandbox, and checks whether the
// shell reaches the hub: by the socket, which is the default, and by TCP if config.yaml says run_token: bearer.
// docs/runtimes/command.md has the same table. The names are short because they become part of paths of sockets.
func TestSandboxes(t *testing.T) {
	const (
		claudeBox  = `"sandbox": {"enabled": true, "failIfUnavailable": true, "autoAllowBashIfSandboxed": true`
		codexClose = "sandbox_workspace_write.network_access = false"
	)
	for _, test := range []struct {
		name, client string
		old, new     string // a replacement in the settings of the client
		bearer       bool
		reaches      bool
	}{
		{"codex1", "codex", "sandbox_workspace_write.network_access = true", codexClose, false, false},
		{"codex1b", "codex", "sandbox_workspace_write.network_access = true", codexClose, true, false},
		{"codex2", "codex", "", "", false, true},
		{"codex2b", "codex", "", "", true, true},
		{"claude1", "claude", "", "", false, true},
		{"claude2", "claude", `{"permissions"`, `{` + claudeBox + `}, "permissions"`, false, false},
		{"claude2b", "claude", `{"permissions"`, `{` + claudeBox + `}, "permissions"`, true, false},
		{"claude3", "claude", `{"permissions"`, `{` + claudeBox + `, "network": {"allowAllUnixSockets": true}}, "permissions"`, false, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			if strings.Contains(test.new, claudeBox) {
				needSandboxPrograms(t)
			}
			c := clients[slices.IndexFunc(clients, func(c client) bool { return c.name == test.client })]
			set := c.set
			c.set = func(t *testing.T, home, api string) []string {
				environ := set(t, home, api)
				for _, file := range []string{".codex/config.toml", ".claude/settings.json"} {
					path := filepath.Join(home, file)
					if text, err := os.ReadFile(path); err == nil {
						write(t, path, strings.Replace(string(text), test.old, test.new, 1))
					}
				}
				if test.bearer {
					write(t, filepath.Join(home, "hub", "config.yaml"), "runtimes:\n  "+test.client+":\n    run_token: bearer\n")
				}
				return environ
			}
			h := newHub(t, c)
			var called atomic.Bool
			h.api.answerBy(func(r modeltest.Request) modeltest.Answer {
				if slices.Contains(r.Tools, h.shell.tool) && !called.Swap(true) {
					return h.shell.calls("parley chat --conv lab 'The tangerines are here.'")
				}
				return theAnswer
			})
			h.parley(t, "conv", "new", "lab", "--with", "ana")
			h.ask(t, "ana", "--dm", "Tell the others.")
			read := h.parley(t, "conv", "read", "lab")
			requests := h.api.Requests()
			lastRequest := string(requests[len(requests)-1].Body) // Codex does not always print the command it ran
			if reaches := strings.Contains(read, "ana: The tangerines are here."); reaches != test.reaches {
				t.Errorf("it reaches the hub: %v, the last request is %s", reaches, lastRequest)
			}
			if !test.reaches && !strings.Contains(lastRequest, "E002") {
				t.Errorf("it was not the hub that its shell could not reach: %s", lastRequest)
			}
		})
	}
}
