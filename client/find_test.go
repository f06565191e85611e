package client

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/parley-hub/parley"
)

func TestFind(t *testing.T) {
	home := t.TempDir()
	socket := filepath.Join(t.TempDir(), "short.sock")
	moved := homeWithSocket(t, socket)
	for _, test := range []struct {
		name, home        string
		url, token, house string // of the environment
		want              Options
	}{
		{"a home", home, "", "", "", Options{Socket: home + "/parley.sock", Home: home}},
		{"a home before an address", home, "http://x", "t", "", Options{Socket: home + "/parley.sock", Home: home, Token: "t"}},
		{"the environment's address", "", "http://x", "t", home, Options{URL: "http://x", Token: "t"}},
		{"the environment's home", "", "", "", home, Options{Socket: home + "/parley.sock"}},
		{"a socket elsewhere", moved, "", "", "", Options{Socket: socket, Home: moved}},
		{"the user's own", "", "", "", "", Options{Socket: home + "/.parley/parley.sock"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Setenv("HOME", home)
			t.Setenv("PARLEY_URL", test.url)
			t.Setenv("PARLEY_TOKEN", test.token)
			t.Setenv("PARLEY_HOME", test.house)
			if got, err := Find(test.home); err != nil || got != test.want {
				t.Errorf("found %+v, %v; want %+v", got, err, test.want)
			}
		})
	}
	t.Run("nobody's home", func(t *testing.T) {
		for _, name := range []string{"HOME", "PARLEY_URL", "PARLEY_HOME"} {
			t.Setenv(name, "")
		}
		if _, err := Find(""); parley.CodeOf(err) != parley.BadInput {
			t.Errorf("the error is %v", err)
		}
	})
}

func TestInvalidOptionsAreRefused(t *testing.T) {
	for _, o := range []Options{
		{},
		{URL: "hub.example"},
		{URL: "ftp://hub.example"},
		{URL: "http://user:secret@hub.example"},
		{URL: "http://hub.example/?x=1"},
		{URL: "http://"},
		{Socket: "/s", URL: "http://hub.example"},
		{Socket: "/s", Token: "parley_a\nb"},
		{Socket: "/s", As: "arya\r\nX: y"},
	} {
		if _, err := New(o); parley.CodeOf(err) != parley.BadInput {
			t.Errorf("%+v gives %v", o, err)
		}
	}
}

// homeWithSocket is a home whose hub has said that it listens elsewhere.
func homeWithSocket(t *testing.T, socket string) string {
	t.Helper()
	home := t.TempDir()
	if err := os.MkdirAll(filepath.Join(home, "run"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(home, "run", "hub.json"), fmt.Appendf(nil, `{"socket":%q,"pid":1}`, socket), 0o600); err != nil {
		t.Fatal(err)
	}
	return home
}

// TestASocketThatAnotherUserHasPutThere: where a killed hub has listened, in a directory that all may write to,
// anybody can listen once its own is cleaned away. Nobody tells them anything.
func TestASocketThatAnotherUserHasPutThere(t *testing.T) {
	dir := t.TempDir()
	if err := os.Chown(dir, 12345, -1); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal(err)
		}
		t.Skip("only root can make what is another user's:", err)
	}
	home := homeWithSocket(t, filepath.Join(dir, "s"))
	if got, err := Find(home); err != nil || got.Socket != filepath.Join(home, "parley.sock") {
		t.Errorf("found %+v, %v", got, err)
	}
}

// TestSocket calls a hub over a unix socket, several times over one connection.
func TestSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	accepted := 0
	server := httptest.NewUnstartedServer(&fake{status: http.StatusOK, answer: `{"agent":{"id":"user"}}`})
	server.Listener = listener
	server.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			accepted++
		}
	}
	server.Start()
	c, err := New(Options{Socket: path})
	if err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if me, err := c.Whoami(t.Context()); err != nil || me.Agent.ID != "user" {
			t.Fatalf("%+v, %v", me, err)
		}
	}
	c.Close()
	server.Close()
	if accepted != 1 {
		t.Errorf("3 calls took %d connections", accepted)
	}
	if c.Address() != path {
		t.Errorf("the place is %q", c.Address())
	}
}

// TestASocketOfAnotherUser gives what the system says to everybody but root.
func TestASocketOfAnotherUser(t *testing.T) {
	c, err := New(Options{Socket: filepath.Join(t.TempDir(), "s")})
	if err != nil {
		t.Fatal(err)
	}
	denied := &net.OpError{Op: "dial", Net: "unix", Err: os.NewSyscallError("connect", syscall.EACCES)}
	if err := c.connectionError(denied); parley.CodeOf(err) != parley.NotPermitted {
		t.Errorf("the error is %v", err)
	}
}
