package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/bridge"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/store/sqlite"
)

const (
	coders     = 20 // agents in the inbox tree: so many that no inbox gets too full and evicts a file
	keeper     = "keeper"
	scribe     = "scribe"
	channel    = "work"
	bridgePoll = 20 * time.Millisecond
)

func coderID(n int) string { return fmt.Sprintf("coder-%d", n%coders) }

// token returns the text of the nth message or document. Checks search for it in files and messages.
func token(direction string, l parley.Layout, n int) string {
	return fmt.Sprintf("%s-%s-%d-end", direction, l, n)
}

// bridged is a hub with its trees. The trees and the home of the hub are in the base directory.
type bridged struct {
	*hub.Hub
	db   *sqlite.DB
	base string
}

func (b bridged) tree(l parley.Layout) string { return filepath.Join(b.base, string(l)) }

// runBridges bridges two trees and posts the messages FROM to TO for the agents in them. It ends when both trees have these
// messages, and as many messages have arrived from them.
func runBridges(ctx context.Context, base string, from, to int) error {
	b, err := openBridged(ctx, base)
	if err != nil {
		return err
	}
	b.Start(ctx)
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan error, 2)
	for _, l := range []parley.Layout{parley.LayoutInbox, parley.LayoutAgentOS} {
		go func() {
			ended <- bridge.Run(ctx, bridge.Options{
				Hub: b.BridgeAt(hub.Caller{Agent: parley.Owner}), ID: string(l), Poll: bridgePoll, Log: slog.New(slog.DiscardHandler),
			})
		}()
	}
	err = b.postOut(ctx, from, to)
	if err == nil {
		err = b.awaitCarried(ctx, to)
	}
	cancel()
	for range 2 {
		if end := <-ended; !errors.Is(end, context.Canceled) {
			err = errors.Join(err, end)
		}
	}
	b.Stop()
	return errors.Join(err, b.db.Close())
}

func openBridged(ctx context.Context, base string) (bridged, error) {
	home := filepath.Join(base, "home")
	if err := os.MkdirAll(home, 0o700); err != nil {
		return bridged{}, err
	}
	db, err := sqlite.Open(ctx, home)
	if err != nil {
		return bridged{}, err
	}
	h, err := hub.New(ctx, db, hub.Config{Log: slog.New(slog.DiscardHandler)})
	b := bridged{h, db, base}
	if err == nil {
		err = b.prepare(ctx)
	}
	if err != nil {
		return bridged{}, errors.Join(err, db.Close())
	}
	return b, nil
}

// prepare adds the agents, the channel and the bridges, unless they already exist.
func (b bridged) prepare(ctx context.Context) error {
	owner := hub.Caller{Agent: parley.Owner}
	_, err := b.AddAgent(ctx, owner, parley.NewAgent{ID: keeper, Profile: parley.Profile{InboxOverflow: parley.OverflowUnbounded}})
	if err != nil && !conflict(err) {
		return err
	}
	if _, err := b.CreateConversation(ctx, owner, parley.NewConversation{Name: channel}); err != nil && !conflict(err) {
		return err
	}
	agentsOf := map[parley.Layout][]string{parley.LayoutAgentOS: {scribe}}
	for n := range coders {
		agentsOf[parley.LayoutInbox] = append(agentsOf[parley.LayoutInbox], coderID(n))
	}
	for l, agents := range agentsOf {
		_, err := b.AddBridge(ctx, owner, parley.NewBridge{ID: string(l), Layout: l, Root: b.tree(l), Agents: agents})
		if err != nil && !conflict(err) {
			return err
		}
	}
	return nil
}

// postOut posts a message for each tree, and prints their number when the hub has acknowledged both. The hub does not store a
// message again that it stored before a kill.
func (b bridged) postOut(ctx context.Context, from, to int) error {
	for n := from; n < to; n++ {
		for _, d := range []parley.Draft{
			{Direct: []string{coderID(n)}, Content: parley.Content{Text: token("out", parley.LayoutInbox, n)}},
			{Conversation: "#" + channel, Content: parley.Content{Text: token("out", parley.LayoutAgentOS, n)}},
		} {
			d.IdempotencyKey = d.Content.Text
			if _, err := b.Post(ctx, hub.Caller{Agent: parley.Owner}, d); err != nil {
				return err
			}
		}
		if err := printLines(fmt.Sprint("posted ", n)); err != nil {
			return err
		}
	}
	return nil
}

// awaitCarried waits until all messages are imported and exported, and the keeper's inbox directory is empty.
func (b bridged) awaitCarried(ctx context.Context, count int) error {
	rows, err := sql.Open("sqlite", "file:"+filepath.Join(b.base, "home", "parley.db")+"?mode=ro")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for {
		var imported, exported int
		err := rows.QueryRowContext(ctx, `SELECT (SELECT count(*) FROM messages WHERE source = 'file'),
			(SELECT count(*) FROM departures WHERE state <> 'due')`).Scan(&imported, &exported)
		if err != nil {
			return err
		}
		pending, err := filepath.Glob(filepath.Join(b.tree(parley.LayoutInbox), "state/agents", keeper, "inbox", "*"))
		if err != nil || imported >= 2*count && exported >= 2*count && len(pending) == 0 {
			return err
		}
		time.Sleep(bridgePoll)
	}
}
