//go:build linux

package peer

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"

	"github.com/parley-hub/parley"
)

var (
	ana = parley.Agent{ID: "ana", UUID: "uuid of ana"}
	bea = parley.Agent{ID: "bea", UUID: "uuid of bea"}
)

// tree is a process of a test, with its children.
type tree struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
}

// place is where a test starts a program.
type place int

const (
	underParent place = iota // in the session of the test
	asDaemon                 // as the leader of a session without a terminal
	onTerminal               // as the leader of a session with a terminal
)

// start makes a program start there.
func (p place) start(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: p != underParent}
	if p != onTerminal {
		return
	}
	terminal, tty, err := pty.Open()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = terminal.Close(), tty.Close() })
	const first = 3 // the number of the first extra file in the program
	cmd.ExtraFiles, cmd.SysProcAttr.Setctty, cmd.SysProcAttr.Ctty = []*os.File{tty}, true, first
}

// grow starts a program that starts what it is told to, and says its number.
func grow(t *testing.T, name string, where place) *tree {
	t.Helper()
	g := &tree{t: t, cmd: exec.Command(copied(t, name), "helper", "tree")}
	where.start(t, g.cmd)
	in, err := g.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := g.cmd.StdoutPipe()
	if err == nil {
		err = g.cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	g.in, g.out = in, bufio.NewReader(out)
	t.Cleanup(g.end)
	return g
}

// end ends the program and waits for all of its children.
func (g *tree) end() {
	_ = g.in.Close()
	_, _ = io.Copy(io.Discard, g.out)
	_ = g.cmd.Wait()
}

// pid returns the process that a path of programs leads to, which it starts: "sh/parley" is parley in a shell of the program.
// "daemon/parley" is parley as a daemon, which has left its parents when its number is printed.
func (g *tree) pid(path string) (pid int) {
	g.t.Helper()
	files := strings.Split(path, "/")
	for i, name := range files {
		if name == "parley" || name == "codex" || name == "tmux" || name == "wrapper" {
			files[i] = copied(g.t, name)
		}
	}
	if _, err := io.WriteString(g.in, strings.Join(files, " ")+"\n"); err != nil {
		g.t.Fatal(err)
	}
	if _, err := fmt.Fscanln(g.out, &pid); err != nil {
		g.t.Fatal(err)
	}
	return pid
}

// growTree is the program of a tree. For each line of its input it starts the first program of the line, which starts the second one and so on.
// The last one prints its number. All stay until the input ends.
func growTree() int {
	input := bufio.NewScanner(os.Stdin)
	var stdin []io.Closer
	var children []*exec.Cmd
	for input.Scan() {
		path := strings.Fields(input.Text())
		if path[0] == "." {
			fmt.Println(os.Getpid())
			continue
		}
		child := exec.Command(path[0], "helper", "tree")
		if path[0] == "daemon" {
			path = path[1:]
			child = exec.Command("/bin/sh", "-c", `exec 3<&0; setsid "$0" helper orphan $$ <&3 &`, path[0])
		}
		rest := strings.Join(append(path[1:], "."), " ")
		child.Stdout = os.Stdout
		in, err := child.StdinPipe()
		if err == nil {
			err = child.Start()
		}
		if err != nil {
			return 1
		}
		_, _ = io.WriteString(in, rest+"\n")
		stdin, children = append(stdin, in), append(children, child)
	}
	for i, in := range stdin {
		_ = in.Close()
		_ = children[i].Wait()
	}
	return 0
}

// hubElsewhere returns the registry of a hub that is no ancestor of this process.
func hubElsewhere(node string) *Registry {
	r := NewRegistry(node)
	r.self = 1 << 30
	return r
}

func assertOrigin(t *testing.T, r *Registry, what string, pid int, agent string) {
	t.Helper()
	if o, err := r.OriginOf(pid); err != nil || o.Agent != agent || o.Leftover {
		t.Errorf("%s is %+v, %v; want %q", what, o, err, agent)
	}
}

// Row "Attached client's shell is the owner": which processes become the agent when "parley mcp" or a hook calls.
func TestConnectMakesTheNearestClientTheAgent(t *testing.T) {
	for name, test := range map[string]struct {
		root, caller, shell string
		agent               string // of the shell
		unknown             bool   // the client is not recognised
		where               place  // of the root
	}{
		"a client":                         {"claude", "parley", "wrapper", "ana", false, underParent},
		"a client with a wrapper":          {"claude", "wrapper/wrapper/parley", "wrapper/wrapper", "ana", false, underParent},
		"a daemon of its shell":            {"claude", "parley", "daemon/wrapper", "ana", false, underParent},
		"a client in a client":             {"claude", "codex/parley", "wrapper", "", false, underParent},
		"a client in a multiplexer":        {"tmux", "codex/parley", "wrapper", "", false, underParent},
		"a program that nobody knows":      {"wrapper", "parley", "wrapper", "", true, underParent},
		"a multiplexer without a client":   {"tmux", "parley", "wrapper", "", true, underParent},
		"a client that a terminal starts":  {"claude", "parley", "wrapper", "", true, onTerminal},
		"a client that calls itself":       {"wrapper", "codex", "wrapper", "", false, underParent},
		"a client that is a daemon":        {"codex", "parley", "wrapper", "ana", false, asDaemon},
		"a daemon of a client that is one": {"codex", "parley", "daemon/wrapper", "ana", false, asDaemon},
		"a multiplexer that is a daemon":   {"tmux", "parley", "wrapper", "", true, asDaemon},
		"a program that is a daemon":       {"wrapper", "parley", "wrapper", "", true, asDaemon},
	} {
		t.Run(name, func(t *testing.T) {
			r, root := hubElsewhere(t.Name()), grow(t, test.root, test.where)
			caller := root.pid(test.caller)
			r.Connect(caller, ana, nil)
			assertOrigin(t, r, "the caller", caller, "ana")
			assertOrigin(t, r, "the shell", root.pid(test.shell), test.agent)
			assertOrigin(t, r, "the person's shell", os.Getpid(), "")
			if unknown := r.UnknownClients(); (len(unknown) == 1) != test.unknown {
				t.Errorf("the agents with unknown clients are %q", unknown)
			}
		})
	}
}

// The first agent of a client stays its agent. A client within the client has the agent that it connects as.
func TestTwoAgentsOfOneClient(t *testing.T) {
	r, root := hubElsewhere(t.Name()), grow(t, "claude", underParent)
	if !r.Connect(root.pid("parley"), ana, nil) || r.Connect(root.pid("parley"), bea, nil) || r.Connect(root.pid("parley"), ana, nil) {
		t.Error("another call changes the client")
	}
	assertOrigin(t, r, "the shell", root.pid("wrapper"), "ana")
	inner := root.pid("codex/parley")
	if !r.Connect(inner, bea, nil) {
		t.Error("the client within the client is not added")
	}
	assertOrigin(t, r, "the client in it", inner, "bea")
	assertOrigin(t, r, "the shell", root.pid("wrapper"), "ana")
	list := r.Connected()
	if len(list) != 2 || list[0].Agent != "ana" || list[0].Program != "claude" || list[0].PID != root.cmd.Process.Pid || list[1].Program != "codex" {
		t.Errorf("the clients are %+v", list)
	}
}

// A session of another agent on the same client ends, and leaves the client to its agent.
func TestAConnectedClientOutlivesASession(t *testing.T) {
	r, root := hubElsewhere(t.Name()), grow(t, "claude", underParent)
	leave := r.Attach(root.pid("parley"), "bea", nil)
	assertOrigin(t, r, "the shell", root.pid("wrapper"), "bea")
	r.Connect(root.pid("parley"), ana, nil)
	leave()
	assertOrigin(t, r, "the shell", root.pid("wrapper"), "ana")
}

// A run stays what it is, whatever tokens its processes have.
func TestARunCannotConnectAsAnotherAgent(t *testing.T) {
	r, root := hubElsewhere(t.Name()), grow(t, "claude", asDaemon) // as the hub starts a run
	remove := r.Add(root.cmd.Process.Pid, "arya", "run-1")
	if r.Connect(root.pid("parley"), ana, nil) || len(r.Connected()) != 0 {
		t.Error("a client of a run is connected")
	}
	assertOrigin(t, r, "the run", root.pid("wrapper"), "arya")
	if inner := root.pid("codex/parley"); r.Connect(inner, ana, nil) || len(r.Connected()) != 0 {
		t.Error("a client that a run has started is connected")
	}
	remove()
}

// Codex runs its hooks and commands in a daemon, which outlives the window. The window itself connects nothing then.
func TestAClientsDaemonIsTheAgent(t *testing.T) {
	r, window := hubElsewhere(t.Name()), grow(t, "codex", underParent)
	caller := window.pid("daemon/codex/parley")
	if !r.Connect(caller, ana, nil) {
		t.Fatal("the daemon is not recognised")
	}
	daemon, err := processOf(caller)
	if err != nil {
		t.Fatal(err)
	}
	if list := r.Connected(); len(list) != 1 || list[0].PID != daemon.parent || list[0].Mark == 0 || len(r.UnknownClients()) > 0 {
		t.Errorf("the clients are %+v, want process %d", list, daemon.parent)
	}
	assertOrigin(t, r, "the window", window.cmd.Process.Pid, "")
}

// A part of a client that has left its parents, such as a hook that waits for mail, is no unknown client. As another agent it is one.
func TestAPartThatHasLeftItsClientIsKnown(t *testing.T) {
	r, root := hubElsewhere(t.Name()), grow(t, "codex", asDaemon)
	r.Connect(root.pid("parley"), ana, nil)
	waiting := root.pid("daemon/parley")
	r.Connect(waiting, ana, nil)
	r.Attach(waiting, "ana", nil)()
	if unknown := r.UnknownClients(); len(unknown) > 0 || len(r.Connected()) != 1 {
		t.Errorf("the agents with unknown clients are %q", unknown)
	}
	assertOrigin(t, r, "the part", waiting, "ana")
	r.Connect(root.pid("daemon/parley"), bea, nil)
	if unknown := r.UnknownClients(); len(unknown) != 1 || unknown[0] != "bea" {
		t.Errorf("the agents with unknown clients are %q", unknown)
	}
}

// The hub of a client's own shell does not take the client for an agent, because it would take itself for one.
func TestAnAncestorOfTheHubIsNoClient(t *testing.T) {
	out, err := exec.Command(copied(t, "claude"), "helper", "client with a hub", copied(t, "parley"), os.Args[0]).CombinedOutput()
	if err != nil || string(out) != "\"\"\n" {
		t.Errorf("the hub takes for the client %s, %v", out, err)
	}
}

// Another hub continues with what the first has saved. A process that has ended, or that is another one, is left out.
func TestRestoreKeepsTheClientsThatGoOn(t *testing.T) {
	r, root, ended := hubElsewhere("the hub"), grow(t, "claude", underParent), grow(t, "codex", underParent)
	r.Connect(root.pid("parley"), ana, nil)
	r.Connect(ended.pid("parley"), bea, nil)
	daemon := root.pid("daemon/wrapper")
	saved := r.Connected()
	if len(saved) != 2 || saved[0].Mark == 0 {
		t.Fatalf("saved are %+v", saved)
	}
	ended.end()
	other := saved[0]
	other.PID, other.Agent = os.Getpid(), "other"
	rebooted := saved[0]
	rebooted.Boot, rebooted.PID = "another", root.pid("wrapper")
	next := hubElsewhere("the hub")
	assertLeftover := func(what string, pid int) {
		t.Helper()
		if o, err := next.OriginOf(pid); err != nil || !o.Leftover {
			t.Errorf("%s is %+v, %v", what, o, err)
		}
	}
	assertLeftover("a daemon of a client that the hub does not know", daemon)
	next.Restore(append(saved, other, rebooted), nil)
	if list := next.Connected(); len(list) != 1 || list[0] != saved[0] {
		t.Errorf("restored are %+v", list)
	}
	assertOrigin(t, next, "the shell", root.pid("wrapper"), "ana")
	assertOrigin(t, next, "a daemon", daemon, "ana")
	own, err := processOf(os.Getpid())
	if err != nil {
		t.Fatal(err)
	}
	next.connected[1<<30] = Connected{ClientProcess: parley.ClientProcess{Agent: "bea", PID: os.Getpid()}, AgentUUID: bea.UUID, Started: own.started, Mark: saved[0].Mark, Proof: saved[0].Proof}
	assertLeftover("a daemon with the marks of two agents", daemon)
	delete(next.connected, 1<<30)
	delete(next.connected, root.cmd.Process.Pid)
	assertLeftover("a daemon after its client", daemon)
	if next.Connect(daemon, bea, nil) || !next.Connect(root.pid("parley"), ana, nil) {
		t.Error("a hub that has lost its list does not know the client when it calls again, or takes its daemon for one")
	}
	assertOrigin(t, next, "a daemon", daemon, "ana")
}

// Row "An agent takes a person's rights away": the stored list is damaged or forged. What Connect would have refused is refused.
func TestRestoreRefusesWhatIsNoClient(t *testing.T) {
	entry := func(pid int, name string) Connected {
		t.Helper()
		p, err := processOf(pid)
		if err != nil {
			t.Fatal(err)
		}
		return Connected{ClientProcess: parley.ClientProcess{Agent: "ana", PID: pid, Program: name}, AgentUUID: ana.UUID, Started: p.started, Boot: boot()}
	}
	changed := func(c Connected, change func(*Connected)) Connected { change(&c); return c }
	r := NewRegistry(t.Name())
	claude, shell, tmux, leader, wrapper := grow(t, "claude", underParent), grow(t, "bash", underParent), grow(t, "tmux", underParent), grow(t, "claude", onTerminal), grow(t, "wrapper", underParent)
	sound := entry(claude.cmd.Process.Pid, "claude")
	for name, forged := range map[string]Connected{
		"process 1":                  entry(1, programOf(1).name),
		"the hub":                    entry(os.Getpid(), programOf(os.Getpid()).name),
		"the parent of the hub":      entry(os.Getppid(), programOf(os.Getppid()).name),
		"a shell":                    entry(shell.cmd.Process.Pid, "bash"),
		"a multiplexer":              entry(tmux.cmd.Process.Pid, "tmux"),
		"the leader of a session":    entry(leader.cmd.Process.Pid, "claude"),
		"another program":            entry(wrapper.cmd.Process.Pid, "claude"),
		"a messenger":                entry(wrapper.pid("parley"), "parley"),
		"no program":                 entry(claude.cmd.Process.Pid, ""),
		"no process":                 changed(sound, func(c *Connected) { c.PID = -1 }),
		"another time":               changed(sound, func(c *Connected) { c.Started++ }),
		"no agent":                   changed(sound, func(c *Connected) { c.Agent = "An Agent" }),
		"no agent's number":          changed(sound, func(c *Connected) { c.AgentUUID = "" }),
		"marks that it has not":      changed(sound, func(c *Connected) { c.Mark, c.Proof = 1, 1 }),
		"the limits of everybody":    changed(sound, func(c *Connected) { c.Mark, c.Proof = ownLimit(), ownProof() }),
		"a mark without its proof":   changed(sound, func(c *Connected) { c.Mark = ownLimit() }),
		"a start of another machine": changed(sound, func(c *Connected) { c.Boot = "other" }),
	} {
		r.Restore([]Connected{forged}, nil)
		if list := r.Connected(); len(list) != 0 {
			t.Errorf("%s: restored are %+v", name, list)
			clear(r.connected)
		}
	}
	byItself := entry(wrapper.cmd.Process.Pid, "wrapper") // it has called the hub itself
	r.Restore([]Connected{sound, changed(sound, func(c *Connected) { c.Agent, c.AgentUUID = bea.ID, bea.UUID }), byItself}, nil)
	if list := r.Connected(); len(list) != 2 || list[0].Agent != "ana" || list[1].Agent != "ana" {
		t.Errorf("restored are %+v", list)
	}
}
