//go:build linux

package server

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// The test program is also what a run of an agent calls the hub with: arguments say so, because a run can
// clear its environment. syscall.Exit leaves out the second for which the race detector waits at the end of each process.
func init() {
	if len(os.Args) == 5 && os.Args[1] == "call" {
		callHub(os.Args[2], os.Args[3], os.Args[4])
		syscall.Exit(0)
	}
	if len(os.Args) == 6 && os.Args[1] == "call with" {
		callHubWith(os.Args[2], os.Args[3], os.Args[4], os.Args[5], `{"approve":true}`)
		syscall.Exit(0)
	}
	if len(os.Args) == 3 && os.Args[1] == "call twice" {
		callTwice(os.Args[2])
		syscall.Exit(0)
	}
	if len(os.Args) == 4 && os.Args[1] == "attend" {
		attendHub(os.Args[2], os.Args[3])
		syscall.Exit(0)
	}
}

// attendHub is the client of an attached session: it follows the events with its token, and meanwhile a
// child of it calls the hub without.
func attendHub(socket, token string) {
	request, err := http.NewRequest(http.MethodGet, "http://localhost/v1/events", http.NoBody)
	if err != nil {
		fmt.Println(err)
		return
	}
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := clientAt(socket).Do(request)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = response.Body.Close() }()
	if _, err := response.Body.Read(make([]byte, 1)); err != nil { // it has begun
		fmt.Println(err)
		return
	}
	child := exec.Command(os.Args[0], "call", socket, "GET", "/v1/whoami")
	child.Env = []string{}
	said, err := child.CombinedOutput()
	fmt.Println(string(said), err)
}

func clientAt(socket string) *http.Client {
	return &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		var d net.Dialer
		return d.DialContext(ctx, "unix", socket)
	}}}
}

// callHub prints what a hub answers at its socket.
func callHub(socket, method, path string) { callHubWith(socket, "", method, path, `{"id":"mallory"}`) }

func callHubWith(socket, token, method, path, body string) {
	request, err := http.NewRequest(method, "http://localhost"+path, strings.NewReader(body))
	if err != nil {
		fmt.Println(err)
		return
	}
	if token != "" {
		request.Header.Set("Authorization", "Bearer "+token)
	}
	request.Header.Set("Content-Type", "application/json")
	response, err := clientAt(socket).Do(request)
	if err != nil {
		fmt.Println(err)
		return
	}
	answer, _ := io.ReadAll(response.Body)
	_ = response.Body.Close()
	fmt.Println(response.StatusCode, string(answer))
}

// startPiped starts a command and returns the ends of its standard input and output.
func startPiped(t *testing.T, cmd *exec.Cmd) (stdin io.WriteCloser, stdout io.Reader) {
	t.Helper()
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err = cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return stdin, stdout
}

// TestAgentAsOwner is the row of that name in docs/security.md: the shell of an agent has the user of the
// hub, and is not its owner.
func TestAgentAsOwner(t *testing.T) {
	s := start(t, options(t, nil))
	defer stop(t, s)
	if _, err := s.hub.AddAgent(t.Context(), hub.Caller{Agent: parley.Owner}, parley.NewAgent{ID: "arya"}); err != nil {
		t.Fatal(err)
	}
	plainly := `"$0" call "$1" "$2" "$3"; :`
	cleared := `env -i "$0" call "$1" "$2" "$3"; :`
	forked := `(setsid "$0" call "$1" "$2" "$3" &) ; :`
	for _, test := range []struct {
		name, script, method, path string
		run                        bool
		want                       []string // one of them
	}{
		{"plainly", plainly, "GET", "/v1/whoami", true, []string{`"id":"arya"`}},
		{"with its environment cleared", cleared, "GET", "/v1/whoami", true, []string{`"id":"arya"`}},
		{"double-forked", forked, "GET", "/v1/whoami", true, []string{`"id":"arya"`, "401"}},
		{"after its run", plainly, "GET", "/v1/whoami", false, []string{"401"}},
		{"plainly, as an administrator", plainly, "POST", "/v1/agents", true, []string{"403"}},
		{"cleared, as an administrator", cleared, "POST", "/v1/agents", true, []string{"403"}},
		{"double-forked, as an administrator", forked, "POST", "/v1/agents", true, []string{"403", "401"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			// The shell waits for its input to end, so that it is registered when it calls.
			cmd := exec.Command("/bin/sh", "-c", "read x; "+test.script, os.Args[0], s.about.Socket, test.method, test.path)
			stdin, stdout := startPiped(t, cmd)
			if test.run {
				defer s.peers.Add(cmd.Process.Pid, "arya", "")()
			}
			_ = stdin.Close()
			said, err := io.ReadAll(stdout) // ends with the last of them
			if err != nil {
				t.Fatal(err)
			}
			_ = cmd.Wait()
			one := false
			for _, want := range test.want {
				one = one || strings.Contains(string(said), want)
			}
			if !one {
				t.Errorf("it is answered %q, want one of %q", said, test.want)
			}
		})
	}
	if _, err := s.hub.AgentView(t.Context(), hub.Caller{Agent: parley.Owner}, "mallory"); parley.AsError(err).Reason != parley.NotFound {
		t.Errorf("an agent was added: %v", err)
	}
}

// TestAgentAsOwnerByAnOldConnection: what was connected while its run went on is nobody once that has ended.
func TestAgentAsOwnerByAnOldConnection(t *testing.T) {
	s := start(t, options(t, nil))
	defer stop(t, s)
	if _, err := s.hub.AddAgent(t.Context(), theOwner, parley.NewAgent{ID: "arya"}); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(os.Args[0], "call twice", s.about.Socket)
	stdin, stdout := startPiped(t, cmd)
	remove := s.peers.Add(cmd.Process.Pid, "arya", "")
	answers := bufio.NewReader(stdout)
	for _, want := range []string{`200 true`, `401 true`} {
		_, _ = io.WriteString(stdin, "call\n")
		if line, err := answers.ReadString('\n'); err != nil || strings.TrimSpace(line) != want {
			t.Errorf("it is answered %q, %v; want %q", line, err, want)
		}
		remove()
	}
	_ = stdin.Close()
	_ = cmd.Wait()
}

// callTwice calls a hub whenever it is told to, by one connection, and prints the status and whether it was the same
// connection.
func callTwice(socket string) {
	client, conns := clientAt(socket), map[string]bool{}
	input := bufio.NewScanner(os.Stdin)
	for input.Scan() {
		trace := &httptrace.ClientTrace{GotConn: func(info httptrace.GotConnInfo) { conns[fmt.Sprintf("%p", info.Conn)] = true }}
		request, err := http.NewRequestWithContext(httptrace.WithClientTrace(context.Background(), trace), http.MethodGet, "http://localhost/v1/whoami", http.NoBody)
		if err != nil {
			return
		}
		response, err := client.Do(request)
		if err != nil {
			return
		}
		_, _ = io.Copy(io.Discard, response.Body)
		_ = response.Body.Close()
		fmt.Println(response.StatusCode, len(conns) == 1)
	}
}

// TestChildrenOfAnAttachedClientAreItsAgent shows the same for a client that the hub has not started: while
// its session lasts, what it starts is its agent, without a token too.
func TestChildrenOfAnAttachedClientAreItsAgent(t *testing.T) {
	s := start(t, options(t, nil))
	defer stop(t, s)
	owner := hub.Caller{Agent: parley.Owner, Scopes: parley.AllScopes()}
	if _, err := s.hub.AddAgent(t.Context(), owner, parley.NewAgent{ID: "arya"}); err != nil {
		t.Fatal(err)
	}
	made, err := s.hub.NewToken(t.Context(), owner, parley.NewToken{Agent: "arya"})
	if err != nil {
		t.Fatal(err)
	}
	said, err := exec.Command(os.Args[0], "attend", s.about.Socket, made.Secret).CombinedOutput()
	if err != nil || !strings.Contains(string(said), `200 `) || !strings.Contains(string(said), `"id":"arya"`) {
		t.Errorf("the child is answered %q, %v", said, err)
	}
}
