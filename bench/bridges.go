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

// S3's targets.
const (
	targetWrite    = 50 * time.Millisecond
	targetRead     = 100 * time.Millisecond
	targetScan     = 200 * time.Millisecond
	targetValidate = 10 * time.Millisecond
	scanned        = 100
	busAgents      = 20
)

// measureBridges compares what goes through a bridged tree of inboxes with the targets of S3, for twenty agents.
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
		if err := b.read(ctx, n*scanned, scanned); err != nil {
			return nil, err
		}
		scans = append(scans, time.Since(began))
	}
	validated, err := timed(length/4, func(n int) error {
		if issues := schema.Document("routing", b.document(n)); len(issues) > 0 {
			return fmt.Errorf("the document is not valid: %v", issues)
		}
		return nil
	})
	return []result{
		target("a message of the hub is a file of a tree, p99, against S3's target", written, targetWrite),
		target("a file of a tree is a message that its agent has taken, p99, against S3's target", read, targetRead),
		target(fmt.Sprintf("%d files of a tree are taken, against S3's target", scanned), scans, targetScan),
		target("a document is checked against its schema, p99, against S3's target", validated, targetValidate),
	}, err
}

func target(what string, times []time.Duration, most time.Duration) result {
	p50 := middle(times)
	p99 := times[len(times)*99/100]
	return atMost(1, result{
		what: what, ratio: float64(p99) / float64(most), baseline: most.String(),
		parley: fmt.Sprintf("%s (p50 %s)", p99.Round(10*time.Microsecond), p50.Round(10*time.Microsecond)),
	})
}

// bridgedTree is a hub with a tree of inboxes.
type bridgedTree struct {
	hub   *hub.Hub
	root  string
	close func() error
}

func openBridge(ctx context.Context) (*bridgedTree, error) {
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
	if err != nil {
		return nil, err
	}
	running, cancel := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() {
		ended <- bridge.Run(running, bridge.Options{Hub: h.BridgeAt(owner), ID: view.ID, Log: slog.New(slog.DiscardHandler)})
	}()
	return &bridgedTree{hub: h, root: root, close: func() error {
		cancel()
		if err := <-ended; err != nil && !errors.Is(err, context.Canceled) {
			return err
		}
		return errors.Join(done(), os.RemoveAll(root))
	}}, nil
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
	for end := time.Now().Add(longestWait); time.Now().Before(end); time.Sleep(200 * time.Microsecond) {
		if files, _ := filepath.Glob(filepath.Join(inbox, "*.json")); len(files) > 0 {
			return nil
		}
	}
	return errors.New("the file has not come")
}

// read writes files for an agent of the hub and waits until it has taken all.
func (b *bridgedTree) read(ctx context.Context, from, count int) error {
	agent := agentName(0)
	inbox := filepath.Join(b.root, "state", "agents", agent, "inbox")
	if err := os.MkdirAll(inbox, 0o750); err != nil {
		return err
	}
	for n := range count {
		name := filepath.Join(inbox, fmt.Sprintf("msg_%08x", time.Now().UnixNano()&0xffffffff))
		if err := os.WriteFile(name+".tmp", b.document(from+n), 0o600); err != nil {
			return err
		}
		if err := os.Rename(name+".tmp", name+".json"); err != nil {
			return err
		}
	}
	for left := count; left > 0; {
		batch, err := b.hub.Take(ctx, hub.Caller{Agent: agent}, parley.Take{Limit: left, Wait: longestWait, AtMostOnce: true})
		if err != nil || len(batch.Deliveries) == 0 {
			return fmt.Errorf("%d files were not taken: %w", left, err)
		}
		left -= len(batch.Deliveries)
	}
	return nil
}

// document is a message of S3.
func (b *bridgedTree) document(n int) []byte {
	return fmt.Appendf(nil, `{"version":"1.0.0","msg_id":"msg_%08x","from":"script","to":%q,"timestamp":%q,"sequence":%d,"type":"task-delegation",`+
		`"payload":{"task":%q,"context":{"files":["/src/auth/jwt.ts"],"dependencies":[]}}}`,
		n, agentName(0), time.Now().UTC().Format("2006-01-02T15:04:05.000Z"), n+1, body)
}
