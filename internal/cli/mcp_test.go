package cli

import (
	"net"
	"os"
	"strings"
	"testing"
)

// TestAClientWithoutAnIdentityIsRefused: a mistake in the configuration of a client gives its model no rights of the owner. The hub is
// not even called.
func TestAClientWithoutAnIdentityIsRefused(t *testing.T) {
	for name, c := range map[string]struct {
		env     map[string]string
		args    []string
		refused string // "" if it is not
	}{
		"nothing":                 {nil, nil, "nothing says which agent the client is"},
		"no agent":                {nil, []string{"--agent", ""}, "nothing says which agent the client is"},
		"an empty token":          {map[string]string{"PARLEY_TOKEN": ""}, nil, "PARLEY_TOKEN is empty"},
		"an empty token, as":      {map[string]string{"PARLEY_TOKEN": ""}, []string{"--as", "user"}, "PARLEY_TOKEN is empty"},
		"an empty token in a run": {map[string]string{"PARLEY_TOKEN": "", "PARLEY_RUN": "run-1"}, []string{"--agent", "ana"}, "PARLEY_TOKEN is empty"},
		"a token":                 {map[string]string{"PARLEY_TOKEN": "parley_x"}, nil, ""},
		"an agent":                {map[string]string{"PARLEY_TOKEN": ""}, []string{"--agent", "ana"}, ""},
		"oneself":                 {nil, []string{"--as", "user"}, ""},
		"a run":                   {map[string]string{"PARLEY_RUN": "run-1"}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			for _, variable := range []string{"PARLEY_TOKEN", "PARLEY_RUN"} {
				t.Setenv(variable, "") // restores it after the test
				_ = os.Unsetenv(variable)
			}
			for variable, value := range c.env {
				t.Setenv(variable, value)
			}
			dir, socket := hookHome(t)
			listener, called := countCalls(t, socket)
			var out, stderr strings.Builder
			code := Run(append([]string{"mcp", "--home", dir}, c.args...), strings.NewReader(""), &out, &stderr)
			want := exitDone
			if c.refused != "" {
				want = exitUnauthenticated
			}
			if code != want || out.String() != "" || !strings.Contains(stderr.String(), c.refused) || c.refused == "" && stderr.String() != "" {
				t.Errorf("exit code %d, output %q, %q", code, out.String(), stderr.String())
			}
			if code, printed := runHookCommand(hookInput, append([]string{"--home", dir, "claude", "PostToolUse"}, c.args...)...); code != 0 || printed != "" {
				t.Errorf("a hook: exit code %d, %q", code, printed)
			}
			_ = listener.Close()
			if n := <-called; n > 0 && c.refused != "" {
				t.Errorf("the hub was called %d times", n)
			}
		})
	}
}

// countCalls listens on a socket. After it was closed, the channel has the number of calls.
func countCalls(t *testing.T, socket string) (net.Listener, <-chan int) {
	t.Helper()
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	called := make(chan int, 1)
	go func() {
		n := 0
		for conn, err := listener.Accept(); err == nil; conn, err = listener.Accept() {
			_ = conn.Close()
			n++
		}
		called <- n
	}()
	return listener, called
}
