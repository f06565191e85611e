package client_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/config"
	"github.com/parley-hub/parley/internal/home"
	"github.com/parley-hub/parley/internal/server"
)

// exampleHub is a hub in a home of its own, for one example. The examples end with a panic where something fails.
type exampleHub struct {
	Socket  string // of its owner
	URL     string
	home    string
	server  *server.Server
	clients []*client.Client
}

// startHub starts a hub as "parley up" does.
func startHub() *exampleHub {
	dir, err := os.MkdirTemp("", "parley")
	must(err)
	settings, err := config.Load("", nil, map[string]string{"addr": "127.0.0.1:0"})
	must(err)
	started, err := server.Start(context.Background(), server.Options{
		Home: home.Dir(filepath.Join(dir, "home")), Config: settings, Log: slog.New(slog.DiscardHandler),
	})
	must(err)
	return &exampleHub{Socket: started.About().Socket, URL: started.Origin(), home: dir, server: started}
}

// Stop stops the hub and removes its home.
func (h *exampleHub) Stop() {
	for _, c := range h.clients {
		c.Close()
	}
	must(errors.Join(h.server.Stop(), os.RemoveAll(h.home)))
}

// Owner returns a client of the hub's owner.
func (h *exampleHub) Owner() *client.Client { return h.connect(client.Options{Socket: h.Socket}) }

// Agent adds an agent that polls its own inbox, and returns the agent's client.
func (h *exampleHub) Agent(id string) *client.Client {
	_, err := h.Owner().AddAgent(context.Background(), parley.NewAgent{ID: id})
	must(err)
	return h.connect(client.Options{URL: h.URL, Token: h.Token(id)})
}

// Script adds an agent that the hub runs. The agent follows rules: see docs/runtimes/script.md.
func (h *exampleHub) Script(id, rules string) {
	settings, err := json.Marshal(map[string]string{"rules": rules})
	must(err)
	_, err = h.Owner().AddAgent(context.Background(), parley.NewAgent{
		ID: id, Profile: parley.Profile{Runtime: "script", RuntimeConfig: settings},
	})
	must(err)
}

// Token returns a new token of an agent, as "parley token new" prints it.
func (h *exampleHub) Token(agent string) string {
	made, err := h.Owner().NewToken(context.Background(), parley.NewToken{Agent: agent})
	must(err)
	return made.Secret
}

func (h *exampleHub) connect(o client.Options) *client.Client {
	c, err := client.New(o)
	must(err)
	h.clients = append(h.clients, c)
	return c
}

func must(err error) {
	if err != nil {
		panic(err)
	}
}
