//go:build unix

package cli_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/screentest"
)

// clientUser is a user with a fake client in PATH.
type clientUser struct {
	testHub
	dir string
}

func newClientUser(t *testing.T) clientUser {
	t.Helper()
	u := clientUser{newTestHub(t), t.TempDir()}
	const program = "#!/bin/sh\n[ \"$1\" = --version ] && echo 0.166.0 || echo started with \"$*\"\n"
	if err := os.WriteFile(filepath.Join(u.dir, "codex"), []byte(program), 0o700); err != nil {
		t.Fatal(err)
	}
	return u
}

func (u clientUser) start(args ...string) *exec.Cmd {
	cmd := u.command(args...)
	cmd.Env = append(cmd.Env, "HOME="+u.dir, "CODEX_HOME=", "PATH="+u.dir+":"+os.Getenv("PATH"))
	return cmd
}

func (u clientUser) isConnected() bool {
	_, err := os.Stat(filepath.Join(u.dir, ".codex/config.toml"))
	return !errors.Is(err, os.ErrNotExist)
}

// TestConnectAsksOnceOnATerminal: it shows the change first, and no leaves everything as it is.
func TestConnectAsksOnceOnATerminal(t *testing.T) {
	u := newClientUser(t)
	program := u.start("connect", "codex", "--name", "ana")
	screen := screentest.Start(t, program, 120, 110)
	screen.Await("Codex 0.166.0 is installed", "+[mcp_servers.parley]", "hook codex Stop --agent ana", "Connect Codex with the hub as ana? [y/N]")
	screen.Type("n\r")
	if err := program.Wait(); err == nil || u.isConnected() {
		t.Errorf("no: %v, connected: %v", err, u.isConnected())
	}
	if agents := u.run("agent", "list"); strings.Contains(agents, "ana") {
		t.Errorf("the hub has the agent: %s", agents)
	}

	program = u.start("run", "codex", "--name", "ana", "--", "-m", "gpt")
	screen = screentest.Start(t, program, 120, 110)
	screen.Await("Connect Codex with the hub as ana? [y/N]")
	screen.Type("y\r")
	screen.Await("started with -m gpt")
	if err := program.Wait(); err != nil || !u.isConnected() {
		t.Errorf("yes: %v, connected: %v", err, u.isConnected())
	}
}

// TestRunStartsAConnectedClientWithoutTheHub: it asks neither the user nor the hub.
func TestRunStartsAConnectedClientWithoutTheHub(t *testing.T) {
	u := newClientUser(t)
	if out, err := u.start("connect", "codex", "--yes").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	u.run("down")
	out, err := u.start("run", "codex", "--", "x").CombinedOutput()
	if err != nil || string(out) != "started with x\n" {
		t.Errorf("%v: %s", err, out)
	}
	out, err = u.start("run", "codex", "--name", "bea").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "E002") {
		t.Errorf("as another agent: %v: %s", err, out)
	}
	u.up()
	if out, err := u.start("disconnect", "codex", "-o", "json").CombinedOutput(); err != nil || !strings.Contains(string(out), `"revoked": true`) || u.isConnected() {
		t.Errorf("%v: %s", err, out)
	}
}
