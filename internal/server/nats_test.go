package server

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	natsd "github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/config"
	"github.com/parley-hub/parley/internal/hub"
)

func natsOptions(t *testing.T, settings map[string]string) Options {
	t.Helper()
	settings["addr"] = "127.0.0.1:0"
	o := options(t, nil)
	var err error
	if o.Config, err = config.Load("", nil, settings); err != nil {
		t.Fatal(err)
	}
	return o
}

func TestHubPublishesToNATS(t *testing.T) {
	broker, err := natsd.NewServer(&natsd.Options{
		Host: "127.0.0.1", Port: natsd.RANDOM_PORT, JetStream: true, StoreDir: t.TempDir(), NoSigs: true, NoLog: true,
	})
	if err != nil {
		t.Fatal(err)
	}
	broker.Start()
	defer broker.WaitForShutdown()
	defer broker.Shutdown()
	if !broker.ReadyForConnections(30 * time.Second) {
		t.Fatal("the server does not start")
	}
	conn, err := nats.Connect(broker.ClientURL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	heard, err := conn.SubscribeSync("parley.lab.conv.>")
	if err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	s := start(t, natsOptions(t, map[string]string{"nats.url": broker.ClientURL(), "nats.hub": "lab"}))
	defer stop(t, s)
	me := hub.Caller{Agent: parley.Owner, Scopes: parley.AllScopes()}
	c, err := s.hub.CreateConversation(t.Context(), me, parley.NewConversation{Name: "general"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.hub.Post(t.Context(), me, parley.Draft{Conversation: c.ID, Content: parley.Content{Text: "hello"}}); err != nil {
		t.Fatal(err)
	}
	m, err := heard.NextMsg(30 * time.Second)
	if err != nil {
		t.Fatal(err)
	}
	if m.Subject != "parley.lab.conv."+c.ID || !strings.Contains(string(m.Data), `"text":"hello"`) {
		t.Errorf("published %s: %s", m.Subject, m.Data)
	}
}

func TestHubDoesNotStartWithAnOpenSecret(t *testing.T) {
	o := natsOptions(t, map[string]string{"nats.url": "nats://127.0.0.1:1", "nats.nkey": "hub.nk"})
	if err := o.Home.Make(); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(string(o.Home), "hub.nk"), []byte("x"), 0o644); err != nil { //nolint:gosec // that is what is refused
		t.Fatal(err)
	}
	_, err := Start(t.Context(), o)
	if parley.CodeOf(err) != parley.BadInput || !strings.Contains(err.Error(), "other users can read the secret") {
		t.Errorf("the start ends with %v", err)
	}
}
