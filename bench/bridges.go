package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/bridge"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/schema"
)

// The targets of the Routing Protocol, whose layout is `inbox`, and the sizes of the measurements.
const (
	targetWrite    = 50 * time.Millisecond
	targetRead     = 100 * time.Millisecond
	targetScan     = 200 * time.Millisecond
	targetValidate = 10 * time.Millisecond
	scannedFiles   = 100
	manyFiles      = 20_000 // files in one folder
	busAgents      = 20
)

// measureBridges compares the times of messages through a bridged tree of inboxes with the targets of the Routing Protocol, for
// twenty agents.
func measureBridges(ctx context.Context, rounds int, length time.Duration) (results []result, err error) {
	b, err := openBridge(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.close()) }()
	written, err := timed(length, b.write)
	if err != nil {
		return nil, err
	}
	read, err := timed(length, func(n int) error { return b.read(ctx, n, 1) })
	if err != nil {
		return nil, err
	}
	var scans []time.Duration
	for n := range rounds {
		began := time.Now()
		if err := b.read(ctx, n*scannedFiles, scannedFiles); err != nil {
			return nil, err
		}
		scans = append(scans, time.Since(began))
	}
	validated, err := timed(length/4, func(n int) error {
		if issues := schema.CheckDocument("routing", b.document(n)); len(issues) > 0 {
			return fmt.Errorf("the document is not valid: %v", issues)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	folder, err := measureManyFiles(ctx)
	return []result{
		folder,
		target("a message of the hub becomes a file, p99, against the protocol's target", written, targetWrite),
		target("an agent has taken the message of a file, p99, against the protocol's target", read, targetRead),
		target(fmt.Sprintf("an agent has taken the messages of %d files, against the protocol's target", scannedFiles), scans, targetScan),
		target("a document is checked against its schema, p99, against the protocol's target", validated, targetValidate),
	}, err
}

func target(what string, times []time.Duration, limit time.Duration) result {
	p50 := medianTime(times)
	p99 := times[len(times)*99/100]
	return atMost(1, result{
		What: what, Ratio: float64(p99) / float64(limit), Baseline: limit.String(),
		Parley: fmt.Sprintf("%s (p50 %s)", p99.Round(10*time.Microsecond), p50.Round(10*time.Microsecond)),
	})
}

// measureManyFiles imports a folder with very many files, and compares the time of the second half with that of the first.
func measureManyFiles(ctx context.Context) (r result, err error) {
	b, err := newTree(ctx)
	if err != nil {
		return r, err
	}
	for n := range manyFiles {
		if err := b.put(agentName(0), n); err != nil {
			return r, errors.Join(err, b.close())
		}
	}
	timer := &arrivalTimer{BridgeHub: b.hub.BridgeAt(b.owner), done: make(chan struct{})}
	b.run(ctx, timer)
	began := time.Now()
	<-timer.done
	first, second := timer.half.Sub(began), timer.end.Sub(timer.half)
	return atMost(1.5, result{
		What: fmt.Sprintf("%d files in one folder arrive: the second half, against the first", manyFiles), Ratio: float64(second) / float64(first),
		Parley:   fmt.Sprintf("%s (%.0f/s in all)", second.Round(time.Millisecond), manyFiles/timer.end.Sub(began).Seconds()),
		Baseline: first.Round(time.Millisecond).String(),
	}), b.close()
}

// arrivalTimer is a hub that notes the times at which half of the files and all files have arrived.
type arrivalTimer struct {
	parley.BridgeHub
	arrived   int
	half, end time.Time
	done      chan struct{}
}

func (c *arrivalTimer) Arrive(ctx context.Context, id string, list []parley.Arrival) ([]parley.Arrived, error) {
	done, err := c.BridgeHub.Arrive(ctx, id, list)
	before := c.arrived
	for _, a := range done {
		if a.Error == nil {
			c.arrived++
		}
	}
	if now := time.Now(); before < manyFiles/2 && c.arrived >= manyFiles/2 {
		c.half = now
	} else if before < manyFiles && c.arrived >= manyFiles {
		c.end = now
		close(c.done)
	}
	return done, err
}

// bridgedTree is a hub with a tree of inboxes.
type bridgedTree struct {
	hub   *hub.Hub
	owner hub.Caller
	id    string
	root  string
	close func() error
}

func newTree(ctx context.Context) (*bridgedTree, error) {
	h, done, err := onSQLite().hub(ctx, busAgents)
	if err != nil {
		return nil, err
	}
	root, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return nil, err
	}
	owner := hub.Caller{Agent: parley.Owner, Scopes: parley.AllScopes()}
	view, err := h.AddBridge(ctx, owner, parley.NewBridge{Layout: parley.LayoutInbox, Root: root, Agents: []string{"script"}})
	return &bridgedTree{hub: h, owner: owner, id: view.ID, root: root, close: func() error {
		return errors.Join(done(), os.RemoveAll(root))
	}}, err
}

// openBridge makes a tree, and runs its bridge.
func openBridge(ctx context.Context) (*bridgedTree, error) {
	b, err := newTree(ctx)
	if err == nil {
		b.run(ctx, b.hub.BridgeAt(b.owner))
	}
	return b, err
}

// run runs the bridge until the tree is closed.
func (b *bridgedTree) run(ctx context.Context, via parley.BridgeHub) {
	running, cancel := context.WithCancel(ctx)
	ended, closeTree := make(chan error, 1), b.close
	go func() {
		ended <- bridge.Run(running, bridge.Options{Hub: via, ID: b.id, Log: slog.New(slog.DiscardHandler)})
	}()
	b.close = func() error {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		return closeTree()
	}
}

// write posts a message and waits until its file is there.
func (b *bridgedTree) write(n int) error {
	inbox := filepath.Join(b.root, "state", "agents", "script", "inbox")
	before, err := os.ReadDir(inbox)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	for _, old := range before {
		if err := os.Remove(filepath.Join(inbox, old.Name())); err != nil {
			return err
		}
	}
	if _, err := b.hub.Post(context.Background(), hub.Caller{Agent: agentName(n % busAgents)}, parley.Draft{
		Direct: []string{"script"}, Content: parley.Content{Text: body},
	}); err != nil {
		return err
	}
	for end := time.Now().Add(maxWait); time.Now().Before(end); time.Sleep(200 * time.Microsecond) {
		if files, _ := filepath.Glob(filepath.Join(inbox, "*.json")); len(files) > 0 {
			return nil
		}
	}
	return errors.New("the file has not come")
}

// read writes files for an agent of the hub and waits until the agent has taken all their messages.
func (b *bridgedTree) read(ctx context.Context, from, count int) error {
	agent := agentName(0)
	for n := range count {
		if err := b.put(agent, from+n); err != nil {
			return err
		}
	}
	for remaining := count; remaining > 0; {
		batch, err := b.hub.Take(ctx, hub.Caller{Agent: agent}, parley.Take{Limit: remaining, Wait: maxWait, AtMostOnce: true})
		if err != nil || len(batch.Deliveries) == 0 {
			return fmt.Errorf("%d files were not taken: %w", remaining, err)
		}
		remaining -= len(batch.Deliveries)
	}
	return nil
}

// put writes the nth document into an inbox.
func (b *bridgedTree) put(agent string, n int) error {
	inbox := filepath.Join(b.root, "state", "agents", agent, "inbox")
	if err := os.MkdirAll(inbox, 0o750); err != nil {
		return err
	}
	name := filepath.Join(inbox, fmt.Sprintf("msg_%08x", n))
	if err := os.WriteFile(name+".tmp", b.document(n), 0o600); err != nil {
		return err
	}
	return os.Rename(name+".tmp", name+".json")
}

// document returns the nth message, as a document of the Routing Protocol.
func (b *bridgedTree) document(n int) []byte {
	return fmt.Appendf(nil, `{"version":"1.0.0","msg_id":"msg_%08x","from":"script","to":%q,"timestamp":%q,"sequence":%d,"type":"task-delegation",`+
		`"payload":{"task":%q,"context":{"files":["/src/auth/jwt.ts"],"dependencies":[]}}}`,
		n, agentName(0), time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), n+1, body)
}
