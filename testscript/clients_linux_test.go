package script

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/parley-hub/parley/internal/home"
)

// startedClient is a connected client that a test drives.
type startedClient struct {
	t      *testing.T
	input  io.WriteCloser
	output *bufio.Reader
	cmd    *exec.Cmd
}

// startClient starts a connected client as a person's shell does: as a child of a shell that stays.
func (c *testHub) startClient() *startedClient {
	c.t.Helper()
	return c.startClientBy("codex; :")
}

// startClientBy starts a connected client by a command of a shell, in a directory with daemonScript.
func (c *testHub) startClientBy(command string) *startedClient {
	c.t.Helper()
	s := &startedClient{t: c.t, cmd: exec.Command("/bin/sh", "-c", command)}
	s.cmd.Env, s.cmd.Dir = c.env, c.t.TempDir()
	if err := os.WriteFile(filepath.Join(s.cmd.Dir, "daemon.sh"), []byte(daemonScript), 0o600); err != nil {
		c.t.Fatal(err)
	}
	var err error
	if s.input, err = s.cmd.StdinPipe(); err != nil {
		c.t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err == nil {
		err = s.cmd.Start()
	}
	if err != nil {
		c.t.Fatal(err)
	}
	s.output = bufio.NewReader(out)
	c.t.Cleanup(s.end)
	return s
}

func (s *startedClient) end() {
	_ = s.input.Close()
	_, _ = io.Copy(io.Discard, s.output)
	_ = s.cmd.Wait() // it may have ended
}

// do sends a command and returns what the client prints.
func (s *startedClient) do(command string) string {
	s.t.Helper()
	if _, err := io.WriteString(s.input, command+"\n"); err != nil {
		s.t.Fatal(err)
	}
	var out strings.Builder
	for {
		line, err := s.output.ReadString('\n')
		if err != nil {
			s.t.Fatalf("%s: %v after %q", command, err, out.String())
		}
		if line == ".\n" {
			return out.String()
		}
		out.WriteString(line)
	}
}

// connectAgent adds an agent and stores its token, as "parley connect" does.
func (c *testHub) connectAgent(agent string, flags ...string) {
	c.t.Helper()
	c.run(append([]string{"agent", "add", agent}, flags...)...)
	secret := c.run("token", "new", agent)
	if err := home.Dir(c.home).SaveAgentToken(home.AgentToken{Agent: agent, Token: "1", Secret: secret}); err != nil {
		c.t.Fatal(err)
	}
}

// heldApproval makes a supervised agent's call wait for an approval, and returns the approval's name.
func (c *testHub) heldApproval(agent string) string {
	c.t.Helper()
	cmd := c.command("notify", "bot", "please")
	cmd.Env = append(slices.Clone(c.env), "PARLEY_TOKEN="+c.run("token", "new", agent))
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("%v\n%s", err, out)
	}
	return "approval-1"
}

// shellWays are ways in which a client's shell can run a command.
var shellWays = map[string]string{
	"plainly":                      `%s`,
	"with its environment cleared": `env -i PATH="$PATH" PARLEY_HOME="$PARLEY_HOME" %s`,
	"by a child of a child":        `sh -c 'sh -c "%s; :"; :'`,
	"by a double-forked child":     `mkfifo said; (setsid %s >said 2>&1 &); cat said; rm said`,
	"by a daemon":                  `mkfifo said; sh -c 'env -i PATH="$PATH" PARLEY_HOME="$PARLEY_HOME" setsid sh daemon.sh $$ %s >said 2>&1 &'; cat said; rm said`,
}

// daemonScript runs a command once its parent has ended.
const daemonScript = `while read -r pid name state parent rest </proc/$$/stat; test "$parent" = "$1"; do :; done; shift; exec "$@"`

// Row "Attached client's shell is the owner": from the shell of a client that is connected, parley is the agent, before the first call of
// a tool. It stays the agent when the MCP server is killed, and when the hub is.
func TestConnectedClientsShellIsTheAgent(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, c *testHub) {
		c.connectAgent("ana", "--mode", "supervised")
		approval := c.heldApproval("ana")
		client := c.startClient()
		client.connectAna()
		client.assertAna("while it is connected", approval)
		client.do("kill")
		client.assertAna("after kill -9 of parley mcp", approval)
		c.kill()
		c.up()
		client.assertAna("after a restart of the hub", approval)
		c.assertPersonDecides(approval)
	})
}

// connectAna starts the MCP server of the client.
func (s *startedClient) connectAna() {
	s.t.Helper()
	if said := s.do("mcp --agent ana"); !strings.Contains(said, `"serverInfo"`) {
		s.t.Fatalf("the MCP server says %s", said)
	}
}

// assertAna checks that all commands in the client's shell are the agent, and that none of them can approve a request.
func (s *startedClient) assertAna(when, approval string) {
	s.t.Helper()
	for name, way := range shellWays {
		if said := s.do("shell " + fmt.Sprintf(way, "parley whoami")); !strings.Contains(said, "(codex), which connected as ana") || strings.Contains(said, "owner") {
			s.t.Errorf("%s, %s, it is\n%s", when, name, said)
		}
		if said := s.do("shell " + fmt.Sprintf(way, "parley approval approve "+approval)); !strings.Contains(said, "E001") {
			s.t.Errorf("%s, %s, it may approve:\n%s", when, name, said)
		}
	}
}

// assertPersonDecides checks that the person's own shell is the owner's, and that an approval is still pending.
func (c *testHub) assertPersonDecides(approval string) {
	c.t.Helper()
	if said := c.run("whoami"); !strings.Contains(said, "owner") {
		c.t.Errorf("the person's own shell is\n%s", said)
	}
	if said := c.run("approval", "show", approval); !strings.Contains(said, "pending") {
		c.t.Errorf("the approval is\n%s", said)
	}
}

// Codex runs its hooks and commands in a daemon, which leads a session of its own without a terminal and outlives the window that
// started it. The daemon's shell is the agent, although nothing above the daemon tells that it is a client's.
func TestTheShellOfAClientsDaemonIsTheAgent(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, c *testHub) {
		c.connectAgent("ana", "--mode", "supervised")
		approval := c.heldApproval("ana")
		daemon := c.startClientBy("exec 3<&0; setsid sh daemon.sh $$ codex <&3 &")
		daemon.connectAna()
		daemon.assertAna("while it is connected", approval)
		daemon.do("kill")
		daemon.assertAna("after kill -9 of parley mcp", approval)
		c.assertPersonDecides(approval)
		if said := c.run("doctor"); strings.Contains(said, "unknown program") {
			t.Errorf("doctor says\n%s", said)
		}
	})
}

// The shells, multiplexers and other programs of a person never become an agent, whatever a process in them does.
func TestProgramsOfAPersonNeverBecomeAnAgent(t *testing.T) {
	onEachDatabase(t, func(t *testing.T, c *testHub) {
		c.connectAgent("ana")
		c.connectAgent("bea")
		client := c.startClient()
		client.do("mcp --agent ana")
		client.do("mcp --agent bea")
		if said := client.do("shell parley whoami"); !strings.Contains(said, "ana") {
			t.Errorf("after another agent has connected, the client's shell is\n%s", said)
		}
		leader := exec.Command("codex")
		leader.Env = c.env
		giveTerminal(t, leader)
		leader.Stdin = strings.NewReader("mcp --agent ana\nshell parley whoami\nshell parley doctor\n")
		said, err := leader.Output()
		if err != nil || !strings.Contains(string(said), "owner") || !strings.Contains(string(said), "an unknown program opened the session of ana") {
			t.Errorf("the shell of a client that a terminal starts is %v\n%s", err, said)
		}
		if said := c.run("doctor"); strings.Contains(said, "unknown program") {
			t.Errorf("after the end of that client\n%s", said)
		}
	})
}

// giveTerminal makes a program start as the leader of a session with a terminal, as a terminal starts it.
func giveTerminal(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	terminal, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = terminal.Close(), tty.Close() })
	const first = 3 // the number of the first extra file in the program
	cmd.ExtraFiles, cmd.SysProcAttr = []*os.File{tty}, &syscall.SysProcAttr{Setsid: true, Setctty: true, Ctty: first}
}

// In a terminal multiplexer only the client becomes the agent. The multiplexer, its other windows and the shell around the client stay
// the person's.
func TestAMultiplexerIsNoClient(t *testing.T) {
	tmux, err := exec.LookPath("tmux")
	if err != nil && os.Getenv("CI") == "true" {
		t.Fatal("there is no tmux; scripts/setup installs it")
	}
	if err != nil {
		t.Skip("there is no tmux")
	}
	onEachDatabase(t, func(t *testing.T, c *testHub) {
		c.connectAgent("ana")
		dir := t.TempDir()
		in := filepath.Join(dir, "in")
		if err := syscall.Mkfifo(in, 0o600); err != nil {
			t.Fatal(err)
		}
		run := func(args ...string) {
			t.Helper()
			cmd := exec.Command(tmux, append([]string{"-S", filepath.Join(dir, "tmux"), "-f", "/dev/null"}, args...)...)
			cmd.Env = c.env
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("tmux %s: %v\n%s", args, err, out)
			}
		}
		run("new-session", "-d", "sh", "-c", "codex <"+in+" >"+dir+"/client; parley whoami >"+dir+"/around; tmux -S "+dir+"/tmux wait-for -S around; cat")
		defer run("kill-server")
		input, err := os.OpenFile(in, os.O_WRONLY, 0)
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(input, "mcp --agent ana\nshell parley whoami\nshell "+tmux+" -S "+dir+"/tmux wait-for -S client\n")
		run("wait-for", "client")
		run("new-window", "-d", "sh", "-c", "parley whoami >"+dir+"/window; tmux -S "+dir+"/tmux wait-for -S window")
		run("wait-for", "window")
		_ = input.Close()
		run("wait-for", "around")
		for file, want := range map[string]string{"client": "ana", "window": "owner", "around": "owner"} {
			if said, err := os.ReadFile(filepath.Join(dir, file)); err != nil || !strings.Contains(string(said), want) {
				t.Errorf("%s: %v, it is\n%s", file, err, said)
			}
		}
	})
}
