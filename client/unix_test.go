package client_test

import (
	"context"
	"net"
	"net/http"
	"path/filepath"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

// PARLEY_URL of a run is the URL of a socket.
func TestTheURLOfASocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a b.sock")
	listener, err := net.Listen("unix", path)
	if err != nil {
		t.Fatal(err)
	}
	called := make(chan string, 1)
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		called <- r.Header.Get("Authorization")
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{}`))
	})}
	go func() { _ = server.Serve(listener) }()
	defer func() { _ = server.Close() }()
	t.Setenv("PARLEY_URL", "unix://"+path)
	t.Setenv("PARLEY_TOKEN", "parley_x")
	options, err := client.Find("")
	if err != nil {
		t.Fatal(err)
	}
	c, err := client.New(options)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if _, err := c.Status(context.Background()); err != nil || <-called != "Bearer parley_x" || c.Address() != path {
		t.Errorf("%v at %s", err, c.Address())
	}
	for _, wrong := range []string{"unix://", "unix://relative.sock", "unix:/one/slash", "UNIX:///x"} {
		if _, err := client.New(client.Options{URL: wrong}); parley.CodeOf(err) != parley.BadInput {
			t.Errorf("%s: %v", wrong, err)
		}
	}
}
