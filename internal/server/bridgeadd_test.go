//go:build linux

package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/hub"
)

// scriptTree is a directory tree of a layout with an agent codex. Its documents to claude are renamed into place.
type scriptTree struct {
	layout      parley.Layout
	root, inbox string
}

func newScriptTree(t *testing.T, l parley.Layout) scriptTree {
	t.Helper()
	inbox := map[parley.Layout]string{
		parley.LayoutAgentOS: "channels/paper", parley.LayoutBlackboard: "claude/inbox", parley.LayoutInbox: "state/agents/claude/inbox",
	}[l]
	s := scriptTree{l, filepath.Join(t.TempDir(), string(l)), inbox}
	if err := os.MkdirAll(filepath.Join(s.root, inbox), 0o755); err != nil {
		t.Fatal(err)
	}
	return s
}

// prepare writes a document under a temporary name, and returns what renames it into place. An old one was written an hour
// ago, as one that somebody moves into the tree.
func (s scriptTree) prepare(t *testing.T, n int, old bool) (appear func()) {
	t.Helper()
	now := time.Now().UTC().Format("2006-01-02T15:04:05.000Z")
	words := fmt.Sprintf("document %d", n)
	id := fmt.Sprintf("msg_%08x", n)
	doc := map[string]any{
		"version": "1.0.0", "msg_id": id, "from": "codex", "to": "claude", "timestamp": now, "sequence": n + 1,
		"type": "task-delegation", "payload": map[string]any{"task": words},
	}
	switch s.layout {
	case parley.LayoutAgentOS:
		id = fmt.Sprintf("msg-20260111-163315-codex-%04x", n)
		doc = map[string]any{
			"id": id, "timestamp": now, "session_id": "paper", "from": "codex", "to": "claude", "type": "chat",
			"content": map[string]any{"text": words, "code": nil, "artifacts": []any{}}, "metadata": map[string]any{"mode": "chat"},
		}
	case parley.LayoutBlackboard:
		doc = map[string]any{
			"version": "1.0", "id": id, "traceId": id, "from": map[string]any{"agent": "codex"}, "to": map[string]any{"agent": "claude"},
			"type": "request", "timestamp": now, "payload": map[string]any{"action": "ask", "params": map[string]any{"text": words}},
		}
	}
	raw, err := json.Marshal(doc)
	if err != nil {
		t.Fatal(err)
	}
	place := filepath.Join(s.root, s.inbox, id)
	if err := os.WriteFile(place+".tmp", raw, 0o600); err != nil {
		t.Fatal(err)
	}
	if old {
		if err := os.Chtimes(place+".tmp", time.Time{}, time.Now().Add(-time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		if err := os.Rename(place+".tmp", place+".json"); err != nil {
			t.Fatal(err)
		}
	}
}

// dial is the owner's client at a hub's socket.
func dial(t *testing.T, s *Server) *client.Client {
	t.Helper()
	c, err := client.New(client.Options{Socket: s.about.Socket})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

const addRounds = 200

// TestBridgeAddReturnsAfterItsFirstLook: a document that is renamed into place right after the bridge was added is delivered, two
// hundred times of two hundred.
func TestBridgeAddReturnsAfterItsFirstLook(t *testing.T) {
	s := start(t, options(t, nil))
	defer stop(t, s)
	if _, err := s.hub.AddAgent(t.Context(), theOwner, parley.NewAgent{ID: "claude"}); err != nil {
		t.Fatal(err)
	}
	claude := hub.Caller{Agent: "claude", Scopes: parley.AllScopes()}
	c := dial(t, s)
	paper, board, bus := newScriptTree(t, parley.LayoutAgentOS), newScriptTree(t, parley.LayoutBlackboard), newScriptTree(t, parley.LayoutInbox)
	var lost []string
	for n := range addRounds {
		tree := []scriptTree{paper, paper, board, bus}[n%4]
		appear := tree.prepare(t, n, n%4 == 1)
		v, err := c.AddBridge(t.Context(), parley.NewBridge{Layout: tree.layout, Root: tree.root, Agents: []string{"codex"}})
		if err != nil {
			t.Fatal(err)
		}
		appear()
		taken, err := s.hub.Take(t.Context(), claude, parley.Take{Wait: 5 * time.Second, AtMostOnce: true})
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf("document %d", n)
		if len(taken.Messages) != 1 || !strings.Contains(taken.Messages[0].Content.Text, want) {
			lost = append(lost, string(tree.layout)+" "+want)
		}
		if err := c.RemoveBridge(t.Context(), v.ID); err != nil {
			t.Fatal(err)
		}
		if len(lost) > 3 {
			break
		}
	}
	if len(lost) > 0 {
		t.Errorf("these were not delivered: %q", lost)
	}
}

// postBridge adds a bridge as any HTTP client does, and returns the answer.
func postBridge(t *testing.T, s *Server, n parley.NewBridge) (v parley.BridgeView) {
	t.Helper()
	raw, err := json.Marshal(n)
	if err != nil {
		t.Fatal(err)
	}
	h := clientAt(s.about.Socket)
	defer h.CloseIdleConnections()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://hub/v1/bridges", bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/json")
	answer, err := h.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	if err := json.NewDecoder(answer.Body).Decode(&v); err != nil || answer.StatusCode != http.StatusCreated {
		t.Fatalf("%s: %v", answer.Status, err)
	}
	return v
}

// TestHTTPBridgeAddAnswersAfterItsFirstLook, and with a state that says so where there is no look to wait for.
func TestHTTPBridgeAddAnswersAfterItsFirstLook(t *testing.T) {
	s := start(t, options(t, nil))
	defer stop(t, s)
	tree := newScriptTree(t, parley.LayoutAgentOS)
	v := postBridge(t, s, parley.NewBridge{Layout: tree.layout, Root: tree.root, Agents: []string{"codex"}})
	if v.State != parley.BridgeRunning || !v.Status.Looked || len(v.Notices) != 1 {
		t.Errorf("after the first look: %+v", v)
	}
	v = postBridge(t, s, parley.NewBridge{Layout: parley.LayoutInbox, Root: "/nowhere/bus", Agents: []string{"coder"}})
	if v.State != parley.BridgeFailing || v.Status.Looked || !strings.Contains(v.Status.Trouble, "cannot open the tree") {
		t.Errorf("without a tree: %+v", v)
	}
	v = postBridge(t, s, parley.NewBridge{Layout: parley.LayoutInbox, Root: "/nowhere/far", Agents: []string{"ana"}, Outside: true})
	if v.State != parley.BridgeNotRunning {
		t.Errorf("outside: %+v", v)
	}
}

// TestTheFirstLookOutlivesTheHub: a bridge is added, the hub is restarted, and what appears between the two is delivered.
func TestTheFirstLookOutlivesTheHub(t *testing.T) {
	o := options(t, nil)
	s := start(t, o)
	if _, err := s.hub.AddAgent(t.Context(), theOwner, parley.NewAgent{ID: "claude"}); err != nil {
		t.Fatal(err)
	}
	tree := newScriptTree(t, parley.LayoutAgentOS)
	tree.prepare(t, 1, false)() // history
	postBridge(t, s, parley.NewBridge{Layout: tree.layout, Root: tree.root, Agents: []string{"codex"}})
	stop(t, s)
	tree.prepare(t, 2, true)()
	s = start(t, o)
	defer stop(t, s)
	taken, err := s.hub.Take(t.Context(), hub.Caller{Agent: "claude", Scopes: parley.AllScopes()}, parley.Take{Wait: patience, AtMostOnce: true})
	if err != nil || len(taken.Messages) != 1 || taken.Messages[0].Content.Text != "document 2" {
		t.Errorf("delivered: %+v, %v", taken.Messages, err)
	}
}
