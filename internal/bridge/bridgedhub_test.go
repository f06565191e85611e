package bridge_test

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/bridge"
	"github.com/parley-hub/parley/internal/dispatch"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/hubtest"
	"github.com/parley-hub/parley/internal/prompt"
	"github.com/parley-hub/parley/internal/runtime/script"
)

var owner = hub.Caller{Agent: parley.Owner}

// bridgedHub is a hub with agents that follow scripts, and a tree that is joined to it, whose bridge can be killed.
type bridgedHub struct {
	*hub.Hub
	t      *testing.T
	id     string        // of the bridge
	dir    string        // of the tree
	looked chan struct{} // the bridge has done something
	kills  atomic.Int64
	die    atomic.Pointer[step] // after which the bridge is killed, once
}

// step is what a bridge does with the hub.
type step string

const (
	named    step = "the names of departures are fixed"
	written  step = "documents are renamed into place"
	reported step = "that is reported"
	stored   step = "what arrived is stored"
)

var steps = []step{named, written, reported, stored}

// killingHub is the hub as a bridge uses it. Whoever is killed at it gets no answer.
type killingHub struct {
	parley.BridgeHub
	*bridgedHub
	kill context.CancelFunc
}

var errKilled = errors.New("killed")

func (d killingHub) killIfDue(at step, err error) error {
	select {
	case d.looked <- struct{}{}:
	default:
	}
	if want := d.die.Load(); err == nil && want != nil && *want == at && d.die.CompareAndSwap(want, nil) {
		d.kills.Add(1)
		d.kill()
		return errKilled
	}
	return err
}

func (d killingHub) NoteBridge(ctx context.Context, id string, s parley.BridgeStatus) error {
	return d.killIfDue("", d.BridgeHub.NoteBridge(ctx, id, s))
}

func (d killingHub) Arrive(ctx context.Context, id string, list []parley.Arrival) ([]parley.Arrived, error) {
	got, err := d.BridgeHub.Arrive(ctx, id, list)
	return got, d.killIfDue(stored, err)
}

func (d killingHub) Departures(ctx context.Context, id string, q parley.DepartureQuery) ([]parley.Departure, error) {
	list, err := d.BridgeHub.Departures(ctx, id, q)
	if q.Written || len(list) == 0 {
		return list, err
	}
	return list, d.killIfDue(named, err)
}

func (d killingHub) Report(ctx context.Context, id string, reports []parley.DepartureReport) error {
	if err := d.killIfDue(written, nil); err != nil {
		return err
	}
	return d.killIfDue(reported, d.BridgeHub.Report(ctx, id, reports))
}

// newBridgedHub has agents follow rules, and a tree joined in which the others live.
func newBridgedHub(t *testing.T, b parley.NewBridge, rules map[string]string) *bridgedHub {
	t.Helper()
	ctx := t.Context()
	h := hubtest.New(t, hubtest.SQLite, hubtest.SQLite.NewPlace(t), hubtest.RealTime).Hub
	w := &bridgedHub{Hub: h, t: t}
	for agent, text := range rules {
		config, err := json.Marshal(map[string]string{"rules": text})
		if err != nil {
			t.Fatal(err)
		}
		w.add(parley.NewAgent{ID: agent, Profile: parley.Profile{Runtime: parley.RuntimeScript, RuntimeConfig: config}})
	}
	w.settle(b)
	h.Start(ctx)
	runs := w.dispatcher()
	runs.Start(ctx)
	t.Cleanup(runs.Stop)
	return w
}

// settle makes a tree, and adds its bridge.
func (w *bridgedHub) settle(b parley.NewBridge) {
	w.t.Helper()
	w.id, w.dir, w.looked = string(b.Layout), w.t.TempDir(), make(chan struct{}, 1)
	b.ID, b.Root = w.id, w.dir
	if _, err := w.AddBridge(w.t.Context(), owner, b); err != nil {
		w.t.Fatal(err)
	}
}

// beside is another tree at the same hub.
func (w *bridgedHub) beside(b parley.NewBridge) *bridgedHub {
	w.t.Helper()
	other := &bridgedHub{Hub: w.Hub, t: w.t}
	other.settle(b)
	return other
}

func (w *bridgedHub) add(n parley.NewAgent) {
	w.t.Helper()
	if _, err := w.AddAgent(w.t.Context(), owner, n); err != nil {
		w.t.Fatal(err)
	}
}

func (w *bridgedHub) dispatcher() *dispatch.Dispatcher {
	scripts := script.New()
	return dispatch.New(w.Hub, dispatch.Options{
		Node: "here", Log: slog.New(slog.DiscardHandler),
		Runtime: func(parley.Agent) (parley.Runtime, error) { return scripts, nil },
		Prompt:  prompt.Build,
		Dir:     func(string) string { return "" },
		Files:   func(string) ([]parley.IdentityFile, error) { return nil, nil },
		Tools:   func(parley.Agent) []parley.ToolDoc { return nil },
	})
}

// join has the tree bridged until the test is over, again each time the bridge is killed.
func (w *bridgedHub) join() {
	ctx, cancel := context.WithCancel(w.t.Context())
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for ctx.Err() == nil {
			life, kill := context.WithCancel(ctx)
			err := bridge.Run(life, bridge.Options{
				Hub: killingHub{w.BridgeAt(owner), w, kill}, ID: w.id, Poll: 10 * time.Millisecond, Log: slog.New(slog.DiscardHandler),
			})
			if err != nil && life.Err() == nil {
				w.t.Error(err)
				cancel()
			}
			kill()
		}
	}()
	w.t.Cleanup(func() {
		cancel()
		<-ended
	})
}

// until waits for something that the bridge does. It looks each time the bridge has done anything.
func (w *bridgedHub) until(what string, done func() bool) {
	w.t.Helper()
	late := time.After(20 * time.Second)
	for !done() {
		select {
		case <-w.looked:
		case <-late:
			w.t.Fatalf("%s: not after a long time; the tree: %q", what, w.files("."))
		}
	}
}

// put writes a document as the seeds' scripts do.
func (w *bridgedHub) put(at string, document map[string]any) {
	w.t.Helper()
	raw, err := json.Marshal(document)
	if err != nil {
		w.t.Fatal(err)
	}
	full := filepath.Join(w.dir, at)
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		w.t.Fatal(err)
	}
	temporary := strings.TrimSuffix(full, ".json") + ".tmp"
	if err := os.WriteFile(temporary, raw, 0o600); err != nil {
		w.t.Fatal(err)
	}
	if err := os.Rename(temporary, full); err != nil {
		w.t.Fatal(err)
	}
}

// files lists the files below a folder that are no temporary ones.
func (w *bridgedHub) files(at string) (list []string) {
	_ = filepath.WalkDir(filepath.Join(w.dir, at), func(p string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && filepath.Ext(p) != ".tmp" {
			below, _ := filepath.Rel(w.dir, p)
			list = append(list, filepath.ToSlash(below))
		}
		return nil
	})
	return list
}

// text reads a file.
func (w *bridgedHub) text(at string) string {
	w.t.Helper()
	raw, err := os.ReadFile(filepath.Join(w.dir, at))
	if err != nil {
		w.t.Fatal(err)
	}
	return string(raw)
}

// document reads one.
func (w *bridgedHub) document(at string) (d map[string]any) {
	w.t.Helper()
	if err := json.Unmarshal([]byte(w.text(at)), &d); err != nil {
		w.t.Fatal(err)
	}
	return d
}

// awaitMail waits for so many documents in an inbox, and returns them by their types.
func (w *bridgedHub) awaitMail(inbox string, n int) map[string]map[string]any {
	w.t.Helper()
	w.until(inbox, func() bool { return len(w.files(inbox)) >= n })
	byType := map[string]map[string]any{}
	for _, at := range w.files(inbox) {
		d := w.document(at)
		byType[d["type"].(string)] = d
	}
	if found := w.files(inbox); len(found) != n || len(byType) != n {
		w.t.Fatalf("%s has %d documents of %d types, want %d: %q", inbox, len(found), len(byType), n, found)
	}
	return byType
}

// take removes a document, as a script that has read it.
func (w *bridgedHub) take(at string) {
	w.t.Helper()
	if err := os.Remove(filepath.Join(w.dir, at)); err != nil {
		w.t.Fatal(err)
	}
}
