package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/bridge"
	"github.com/parley-hub/parley/internal/dispatch"
	"github.com/parley-hub/parley/internal/httpapi"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/peer"
	"github.com/parley-hub/parley/internal/prompt"
	"github.com/parley-hub/parley/internal/runtime/script"
	"github.com/parley-hub/parley/internal/store/sqlite"
	"github.com/parley-hub/parley/internal/tools"
)

// The agents that take part in the calls.
const (
	sender   = "arya"
	receiver = "bran"
	worker   = "cersei" // a script agent
	resident = "davos"  // lives in a directory tree
)

const rules = "- else:\n    - reply: Heard.\n"

var owner = hub.Caller{Agent: parley.Owner, Scopes: parley.AllScopes()}

// walkedHub is a hub on an empty database.
type walkedHub struct {
	*hub.Hub
	dir     string
	handler http.Handler
	closers []func()
}

func newWalkedHub(ctx context.Context, quiet bool) (w *walkedHub, err error) {
	w = &walkedHub{}
	if w.dir, err = os.MkdirTemp("", "parley-walk-"); err != nil {
		return nil, err
	}
	w.atClose(func() { _ = os.RemoveAll(w.dir) })
	db, err := sqlite.Open(ctx, filepath.Join(w.dir, "home"))
	if err != nil {
		return nil, err
	}
	w.atClose(func() { _ = db.Close() })
	silent := slog.New(slog.DiscardHandler)
	if w.Hub, err = hub.New(ctx, db, hub.Config{Log: silent}); err != nil {
		return nil, err
	}
	w.atClose(w.Stop)
	if !quiet {
		w.serve(ctx, silent)
	}
	w.handler = httpapi.New(w.Hub, httpapi.Options{})
	return w, w.addAgents(ctx)
}

// serve starts the services of the hub, and a dispatcher.
func (w *walkedHub) serve(ctx context.Context, log *slog.Logger) {
	w.Start(ctx)
	scripts := script.New()
	runs := dispatch.New(w.Hub, dispatch.Options{
		Node: "walk", Processes: peer.NewRegistry("walk"), Log: log, Prompt: prompt.Build,
		Runtime: func(parley.Agent) (parley.Runtime, error) { return scripts, nil },
		Dir:     func(string) string { return "" },
		Files:   func(string) ([]parley.IdentityFile, error) { return nil, nil },
		Tools:   func(parley.Agent) []parley.ToolDoc { return tools.Docs() },
	})
	runs.Start(ctx)
	w.atClose(runs.Stop)
}

// atClose registers a function for close to call. close calls the last registered function first.
func (w *walkedHub) atClose(end func()) { w.closers = append(w.closers, end) }

func (w *walkedHub) close() {
	for i := range w.closers {
		w.closers[len(w.closers)-1-i]()
	}
}

// addAgents adds two agents that poll and a script agent.
func (w *walkedHub) addAgents(ctx context.Context) error {
	config, err := json.Marshal(map[string]string{"rules": rules})
	if err != nil {
		return err
	}
	for id, profile := range map[string]parley.Profile{
		sender: {}, receiver: {}, worker: {Runtime: parley.RuntimeScript, RuntimeConfig: config},
	} {
		profile.InboxOverflow = parley.OverflowUnbounded
		if _, err := w.AddAgent(ctx, owner, parley.NewAgent{ID: id, Profile: profile}); err != nil {
			return err
		}
	}
	return nil
}

// plainMessage posts into a DM of two agents that poll. The call ends with the response.
func plainMessage(ctx context.Context, w *walkedHub) (func(n int) error, error) {
	first, err := w.Post(ctx, hub.Caller{Agent: sender, Scopes: parley.AllScopes()}, parley.Draft{Direct: []string{receiver}, Content: parley.Content{Text: "Hello."}})
	if err != nil {
		return nil, err
	}
	token, err := w.NewToken(ctx, owner, parley.NewToken{Agent: sender})
	if err != nil {
		return nil, err
	}
	return func(n int) error {
		body, err := json.Marshal(parley.Draft{
			Conversation: first.Message.Conversation, Content: parley.Content{Text: fmt.Sprintf("The build number %d is green.", n)},
		})
		if err != nil {
			return err
		}
		r := httptest.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1/v1/messages", bytes.NewReader(body))
		r.Header.Set("Authorization", "Bearer "+token.Secret)
		r.Header.Set("Content-Type", "application/json")
		response := httptest.NewRecorder()
		w.handler.ServeHTTP(response, r)
		if response.Code != http.StatusCreated && response.Code != http.StatusOK {
			return fmt.Errorf("the response is %d %s", response.Code, response.Body)
		}
		return nil
	}, nil
}

// mention mentions the worker in a channel. The call ends when a subscriber has the event of the worker's answer.
func mention(ctx context.Context, w *walkedHub) (func(n int) error, error) {
	channel, err := w.CreateConversation(ctx, owner, parley.NewConversation{Name: "room", With: []string{worker}})
	if err != nil {
		return nil, err
	}
	newest, err := w.LastEvent(ctx, owner)
	if err != nil {
		return nil, err
	}
	events, err := w.Subscribe(ctx, owner, newest, parley.EventFilter{Kinds: []parley.EventKind{parley.EventMessagePosted}})
	if err != nil {
		return nil, err
	}
	w.atClose(events.Close)
	return func(n int) error {
		ctx, cancel := context.WithTimeout(ctx, maxWait)
		defer cancel()
		if _, err := w.Post(ctx, owner, parley.Draft{
			Conversation: channel.ID, Content: parley.Content{Text: fmt.Sprintf("@%s the build number %d is green.", worker, n)},
		}); err != nil {
			return err
		}
		for {
			list, _, err := events.Next(ctx)
			if err != nil {
				return err
			}
			if slices.ContainsFunc(list, func(e parley.Event) bool { return e.By == worker }) {
				return nil
			}
		}
	}, nil
}

// fileToFile bridges a tree of inboxes and puts a task for the worker there. The call ends when the result is a file.
func fileToFile(ctx context.Context, w *walkedHub) (func(n int) error, error) {
	root := filepath.Join(w.dir, "tree")
	inboxes := filepath.Join(root, "state", "agents")
	for _, agent := range []string{worker, resident} {
		if err := os.MkdirAll(filepath.Join(inboxes, agent, "inbox"), 0o750); err != nil {
			return nil, err
		}
	}
	view, err := w.AddBridge(ctx, owner, parley.NewBridge{Layout: parley.LayoutInbox, Root: root, Agents: []string{resident}})
	if err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(ctx)
	scanned, ended := make(chan struct{}), make(chan error, 1)
	go func() {
		ended <- bridge.Run(running, bridge.Options{
			Hub: w.BridgeAt(owner), ID: view.ID, Log: slog.New(slog.DiscardHandler), OnFirstScan: func() { close(scanned) },
		})
	}()
	w.atClose(func() {
		cancel()
		<-ended
	})
	select {
	case <-scanned:
	case err := <-ended:
		return nil, errors.Join(errors.New("the bridge has ended"), err)
	}
	return func(n int) error {
		name := filepath.Join(inboxes, worker, "inbox", fmt.Sprintf("msg_%08x", n+1))
		if err := os.WriteFile(name+".tmp", document(n+1), 0o600); err != nil {
			return err
		}
		if err := os.Rename(name+".tmp", name+".json"); err != nil {
			return err
		}
		return awaitResult(filepath.Join(inboxes, resident, "inbox"))
	}, nil
}

// document returns the nth task as a document of the inbox layout.
func document(n int) []byte {
	return fmt.Appendf(nil, `{"version":"1.0.0","msg_id":"msg_%08x","from":%q,"to":%q,"timestamp":%q,"sequence":%d,"type":"task-delegation",`+
		`"payload":{"task":"Check the build","context":{"files":["/src/main.go"],"dependencies":[]}}}`,
		n, resident, worker, time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), n)
}

// awaitResult waits until a result is in an inbox, and empties the inbox.
func awaitResult(inbox string) error {
	for end := time.Now().Add(maxWait); time.Now().Before(end); time.Sleep(time.Millisecond) {
		files, err := filepath.Glob(filepath.Join(inbox, "*.json"))
		if err != nil {
			return err
		}
		result := false
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				return err
			}
			result = result || bytes.Contains(text, []byte(`"result"`))
		}
		if !result {
			continue
		}
		for _, file := range files {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
		return nil
	}
	return errors.New("no result")
}
