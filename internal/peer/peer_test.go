//go:build linux

package peer

import (
	"bufio"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/parley-hub/parley"
)

// The test program is also the processes of the tests. Arguments choose, because an environment can be empty.
// syscall.Exit leaves out the second for which the race detector waits at the end of each process.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "helper" {
		syscall.Exit(help(os.Args[2], os.Args[3:]))
	}
	if err := Adopt(); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

func help(what string, args []string) int {
	switch what {
	case "linger":
		return linger()
	case "own client":
		fmt.Println(OwnClient())
		return 0
	case "two children": // that print their client
		for range 2 {
			child := exec.Command(args[0], "helper", "own client")
			if child.Stdout = os.Stdout; child.Run() != nil {
				return 1
			}
		}
		return 0
	case "leave":
		return leave()
	case "connect": // and stay until the verdict is there
		conn, err := net.Dial("unix", args[0])
		if err != nil {
			return 1
		}
		_, _ = bufio.NewReader(conn).ReadString('\n')
		return 0
	case "connect and leave":
		if _, err := net.Dial("unix", args[0]); err != nil {
			return 1
		}
		return 0
	case "spawn": // a run that starts a daemon and lives on until its input ends
		middle := exec.Command(os.Args[0], append([]string{"helper", "detach"}, args...)...)
		if middle.Run() != nil {
			return 1
		}
		_, _ = os.Stdin.Read(make([]byte, 1))
		return 0
	case "lower and spawn", "lower and connect": // with the mark that it is told
		mark, err := strconv.ParseUint(args[0], 10, 64)
		if err != nil || unix.Prlimit(0, unix.RLIMIT_LOCKS, &unix.Rlimit{Cur: mark, Max: mark}, nil) != nil {
			return 1
		}
		return help(strings.TrimPrefix(what, "lower and "), args[1:])
	case "detach":
		socket := args[len(args)-1]
		daemon := exec.Command(os.Args[0], "helper", "daemon", socket, fmt.Sprint(os.Getpid()))
		daemon.SysProcAttr = &syscall.SysProcAttr{Setsid: len(args) == 1}
		if daemon.Start() != nil {
			return 1
		}
		return 0
	case "daemon": // connects once its parent is gone
		for fmt.Sprint(os.Getppid()) == args[1] {
			runtime.Gosched()
		}
		return help("connect", args[:1])
	case "session": // a client that follows its session by a messenger, and uses its shell meanwhile
		var shells []*exec.Cmd
		for _, program := range []string{args[0], os.Args[0]} {
			shell := exec.Command("/bin/sh", "-c", `"$0" helper connect "$1"; :`, program, args[1])
			if err := shell.Start(); err != nil {
				return 1
			}
			shells = append(shells, shell)
			_, _ = os.Stdin.Read(make([]byte, 1))
		}
		for _, shell := range shells {
			_ = shell.Wait()
		}
		return 0
	case "tree":
		return growTree()
	case "orphan": // a tree whose parent has ended
		for fmt.Sprint(os.Getppid()) == args[0] {
			runtime.Gosched()
		}
		return growTree()
	case "client with a hub": // of its own
		caller := exec.Command(args[0], "helper", "tree")
		stdin, err := caller.StdinPipe()
		if err == nil {
			err = caller.Start()
		}
		if err != nil {
			return 1
		}
		out, err := exec.Command(args[1], "helper", "find client", fmt.Sprint(caller.Process.Pid)).CombinedOutput()
		fmt.Print(string(out))
		if err := errors.Join(err, stdin.Close(), caller.Wait()); err != nil {
			return 1
		}
		return 0
	case "find client":
		pid, _ := strconv.Atoi(args[0])
		found, err := NewRegistry("test").clientOf(pid, nil)
		fmt.Printf("%q\n", found.name)
		if err != nil || found.pid != pid {
			return 1
		}
		return 0
	case "hub": // prints its verdict on one who connects
		listener, err := net.Listen("unix", args[0])
		if err != nil {
			return 1
		}
		fmt.Println("ready")
		conn, err := listener.Accept()
		if err != nil {
			return 1
		}
		fmt.Println(verdict(NewRegistry("test"), conn))
		return 0
	}
	return 2
}

func verdict(r *Registry, conn net.Conn) string {
	defer func() { _ = conn.Close() }()
	who, err := r.Identify(conn)
	switch {
	case err != nil:
		return err.Error()
	case who.Owner():
		return "owner"
	default:
		return who.Agent
	}
}

func listen(t *testing.T) (net.Listener, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	return listener, path
}

func accept(t *testing.T, listener net.Listener) net.Conn {
	t.Helper()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	return conn
}

// processAt is the process at the other end of a connection.
func processAt(t *testing.T, conn net.Conn) int {
	t.Helper()
	who, err := credentialsOf(conn.(*net.UnixConn))
	if err != nil {
		t.Fatal(err)
	}
	return who.pid
}

const leftBehind = "was started by a run that has ended"

func TestACallerIsTheAgentItDescendsFrom(t *testing.T) {
	for _, test := range []struct {
		name       string
		command    []string
		noEnviron  bool
		registered bool
		want       string
	}{
		{"a run", []string{os.Args[0], "helper", "connect"}, false, true, "arya"},
		{"with its environment cleared", []string{os.Args[0], "helper", "connect"}, true, true, "arya"},
		{"through shells", []string{"/bin/sh", "-c", `/bin/sh -c '"$0" helper connect "$1"; :' "$0" "$1"; :`, os.Args[0]}, false, true, "arya"},
		{"with the environment cleared on the way", []string{"/usr/bin/env", "-i", os.Args[0], "helper", "connect"}, false, true, "arya"},
		{"in a session of its own", []string{"/usr/bin/setsid", "-w", os.Args[0], "helper", "connect"}, false, true, "arya"},
		{"a daemon of a run", []string{os.Args[0], "helper", "spawn"}, false, true, leftBehind},
		{"an orphan in the session of a run", []string{os.Args[0], "helper", "spawn", "orphan"}, false, true, "arya"},
		{"a child of the hub that is no run", []string{os.Args[0], "helper", "connect"}, false, false, leftBehind},
	} {
		t.Run(test.name, func(t *testing.T) {
			listener, path := listen(t)
			cmd := exec.Command(test.command[0], append(test.command[1:], path)...)
			cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
			if test.noEnviron {
				cmd.Env = []string{}
			}
			stdin, err := cmd.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			r := NewRegistry("test")
			if test.registered {
				defer r.Add(cmd.Process.Pid, "arya", "run-1")()
			}
			if got := verdict(r, accept(t, listener)); !strings.Contains(got, test.want) {
				t.Errorf("it is %q, want %q", got, test.want)
			}
			_ = stdin.Close()
			if err := cmd.Wait(); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestACallerThatDoesNotDescendFromTheHubIsTheOwner(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	hub := exec.Command(os.Args[0], "helper", "hub", path)
	out, err := hub.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := hub.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	lines.Scan() // ready
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if lines.Scan(); lines.Text() != "owner" {
		t.Errorf("the one who started the hub is %q", lines.Text())
	}
	if err := hub.Wait(); err != nil {
		t.Error(err)
	}
}

func TestTheHubItselfIsTheOwner(t *testing.T) {
	listener, path := listen(t)
	conn, err := net.Dial("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close() }()
	if got := verdict(NewRegistry("test"), accept(t, listener)); got != "owner" {
		t.Errorf("it is %q", got)
	}
}

func TestACallerThatHasEndedIsRefused(t *testing.T) {
	listener, path := listen(t)
	if err := exec.Command(os.Args[0], "helper", "connect and leave", path).Run(); err != nil {
		t.Fatal(err)
	}
	_, err := NewRegistry("test").Identify(accept(t, listener))
	if !errors.Is(err, errEnded) || parley.AsError(err).Reason != parley.Unauthenticated || parley.AsError(err).Suggestion == "" {
		t.Errorf("got %v", err)
	}
}

func TestAReusedProcessNumberIsRefused(t *testing.T) {
	parent, r := os.Getppid(), NewRegistry("test")
	long, err := now()
	if err != nil {
		t.Fatal(err)
	}
	if who, err := r.checkProcess(credentials{pid: parent}, long); err != nil || !who.Owner() {
		t.Fatalf("one who is there: %+v, %v", who, err)
	}
	if _, err := r.checkProcess(credentials{pid: parent}, 0); !errors.Is(err, errEnded) {
		t.Errorf("started after the connection: %v", err)
	}
	gone := func() (bool, error) { return true, nil }
	if _, err := r.checkProcess(credentials{pid: parent, ended: gone}, long); !errors.Is(err, errEnded) {
		t.Errorf("known to be gone: %v", err)
	}
}

func TestOtherUsersAreRefused(t *testing.T) {
	if err := checkUser(os.Geteuid()); err != nil {
		t.Errorf("the hub's own: %v", err)
	}
	if err := checkUser(0); err != nil {
		t.Errorf("root: %v", err)
	}
	if err := checkUser(os.Geteuid() + 1); parley.AsError(err).Reason != parley.Unauthenticated {
		t.Errorf("another: %v", err)
	}
}

func TestOnlySocketsHavePeers(t *testing.T) {
	one, other := net.Pipe()
	defer func() { _, _ = one.Close(), other.Close() }()
	if _, err := NewRegistry("test").Identify(one); parley.CodeOf(err) != parley.NotPermitted {
		t.Errorf("got %v", err)
	}
}

func TestLinesOfProc(t *testing.T) {
	rest := " 1 2 34817 -1 4194560 1 0 0 0 0 0 0 0 20 0 1 0 12345 0 0"
	for _, name := range []string{"sh", "a b", ") R 1 (", "((", "x) Z 99 99 99", "new\nline"} {
		s, err := parseStat([]byte("42 (" + name + ") S 7" + rest))
		if err != nil || s.parent != 7 || s.session != 2 || s.terminal != 34817 || s.state != 'S' || s.started != 12345*tick {
			t.Errorf("%q: %+v, %v", name, s, err)
		}
	}
	for _, text := range []string{"", "42", "42 (sh", "42 (sh)", "42 (sh) S 7", "42 (sh) S x" + rest, "42 (sh) S 7 1 x" + rest, "42 (sh) S 7 1 2 x" + rest} {
		if s, err := parseStat([]byte(text)); err == nil {
			t.Errorf("%q is read as %+v", text, s)
		}
	}
}

func TestACallerIsItsAgentWhileTheRunGoesOn(t *testing.T) {
	r := NewRegistry("test")
	parent := os.Getppid()
	before := r.version.Load()
	remove := r.Add(parent, "arya", "")
	arya := Origin{Agent: "arya"}
	if err := r.Recheck(Peer{arya, parent, before}); err != nil {
		t.Errorf("it goes on: %v", err)
	}
	remove()
	for name, p := range map[string]Peer{"it has ended": {arya, parent, before}, "its process is gone": {arya, 1 << 30, before}} {
		if err := r.Recheck(p); parley.AsError(err).Reason != parley.Unauthenticated {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := r.Recheck(Peer{PID: parent, version: before}); err != nil {
		t.Errorf("the owner: %v", err)
	}
	defer r.Add(parent, "arya", "")()
	if err := r.Recheck(Peer{PID: parent, version: before}); parley.AsError(err).Reason != parley.Unauthenticated {
		t.Errorf("the owner whose client has begun a session: %v", err)
	}
}

func TestARunCannotBecomeAnotherAgentsSession(t *testing.T) {
	r := NewRegistry("test")
	parent := os.Getppid()
	defer r.Add(parent, "gendry", "")()
	if o, err := r.OriginOf(parent); err != nil || o != (Origin{Agent: "gendry"}) {
		t.Errorf("a session is %+v, %v", o, err)
	}
	run := exec.Command(os.Args[0], "helper", "linger")
	stdin, err := run.StdinPipe()
	if err == nil {
		err = run.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _, _ = stdin.Close(), run.Wait() }()
	defer r.Add(run.Process.Pid, "arya", "run-1")()
	leave := r.Attach(run.Process.Pid, "gendry", nil)
	if o, err := r.OriginOf(run.Process.Pid); err != nil || o != (Origin{Agent: "arya", Run: "run-1"}) {
		t.Errorf("the run is %+v, %v", o, err)
	}
	leave()
}
