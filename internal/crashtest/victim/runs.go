package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/dispatch"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/peer"
	"github.com/parley-hub/parley/internal/store/sqlite"
)

const (
	runLeaseSpeed = 20 // how much faster leases and pauses pass than time, so that the hub retries failed attempts at once
	runDeadline   = 2 * time.Second
	runDue        = 20 * time.Millisecond
	channelEvery  = 5 // one in so many messages goes to a channel and wakes several agents
)

// workKey is the beginning of the owner's messages and of their idempotency keys.
const workKey = "work-"

func workerID(n, count int) string { return fmt.Sprintf("worker-%d", n%count) }

func isWorker(agent string) bool { return strings.HasPrefix(agent, "worker-") }

// runAgents runs agents and posts the messages FROM to TO for them. When it has posted all messages and nothing is open, it stops
// the hub regularly.
func runAgents(ctx context.Context, home string, workers, from, to int) error {
	h, db, err := openForRuns(ctx, home, workers)
	if err != nil {
		return err
	}
	processes := peer.NewRegistry("victim")
	// The server does this too before it starts the hub. The hub declares runs lost at once. If a run was lost before it recorded its
	// process, the sweep can find the process only by its mark.
	err = processes.Sweep(ctx)
	h.Start(ctx)
	runs := newDispatcher(h, home, processes)
	runs.Start(ctx)
	if err == nil {
		err = postWork(ctx, h, workers, from, to)
	}
	if err == nil {
		err = allDone(ctx, db)
	}
	runs.Stop()
	h.Stop()
	return errors.Join(err, db.Close())
}

func openForRuns(ctx context.Context, home string, workers int) (*hub.Hub, *sqlite.DB, error) {
	db, err := sqlite.Open(ctx, home)
	if err != nil {
		return nil, nil, err
	}
	if err := speedUpLeases(ctx, db, runLeaseSpeed); err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	h, err := hub.New(ctx, db, hub.Config{Rate: hub.Rate{PerSecond: -1}, DueEvery: runDue, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return nil, nil, errors.Join(err, db.Close())
	}
	return h, db, addWorkers(ctx, h, workers)
}

func addWorkers(ctx context.Context, h *hub.Hub, workers int) error {
	owner := hub.Caller{Agent: parley.Owner}
	members := []string{}
	for n := range workers {
		members = append(members, workerID(n, workers))
		_, err := h.AddAgent(ctx, owner, parley.NewAgent{ID: workerID(n, workers), Profile: parley.Profile{
			Runtime: "children", InboxOverflow: parley.OverflowUnbounded, Attempts: 20,
		}})
		if err != nil && !conflict(err) {
			return err
		}
	}
	_, err := h.CreateConversation(ctx, owner, parley.NewConversation{Name: "work", With: members})
	if err != nil && !conflict(err) {
		return err
	}
	return nil
}

func newDispatcher(h *hub.Hub, home string, processes *peer.Registry) *dispatch.Dispatcher {
	return dispatch.New(h, dispatch.Options{
		Node: "victim", Deadline: runDeadline, Processes: processes, Log: slog.New(slog.DiscardHandler),
		Runtime: func(parley.Agent) (parley.Runtime, error) { return children{processes}, nil },
		Prompt: func(c parley.RunContext) parley.Prompt {
			return parley.Prompt{User: c.Triggers[len(c.Triggers)-1].Content.Text}
		},
		Dir:   func(agent string) string { return filepath.Join(home, "agents", agent) },
		Files: func(string) ([]parley.IdentityFile, error) { return nil, nil },
		Tools: func(parley.Agent) []parley.ToolDoc { return nil },
	})
}

// postWork posts messages to agents, and prints the number of each acknowledged message. The hub does not store a message again
// that it stored before a kill.
func postWork(ctx context.Context, h *hub.Hub, workers, from, to int) error {
	for n := from; n < to; n++ {
		if _, err := h.Post(ctx, hub.Caller{Agent: parley.Owner}, workDraft(n, workers)); err != nil {
			return err
		}
		if _, err := fmt.Println("posted", n); err != nil {
			return err
		}
	}
	return nil
}

func workDraft(n, workers int) parley.Draft {
	key := fmt.Sprint(workKey, n)
	d := parley.Draft{IdempotencyKey: key}
	if n%channelEvery == 0 {
		d.Conversation = "#work"
		d.Content.Text = fmt.Sprintf("@%s and @%s: %s", workerID(n, workers), workerID(n/2+1, workers), key)
		return d
	}
	d.Direct, d.Content.Text = []string{workerID(n, workers)}, key
	return d
}

// allDone waits until no agent has an open delivery and no run is live.
func allDone(ctx context.Context, db *sqlite.DB) error {
	for {
		unfinished, err := unfinished(ctx, db)
		if err != nil || unfinished == 0 {
			return err
		}
		time.Sleep(runDue)
	}
}

func unfinished(ctx context.Context, db *sqlite.DB) (unfinished int, err error) {
	err = db.View(ctx, func(tx storage.Tx) error {
		live, err := tx.Runs().Live("")
		if err != nil {
			return err
		}
		inboxes, err := tx.Queue().Inboxes()
		unfinished = len(live)
		for agent, inbox := range inboxes {
			if isWorker(agent) {
				unfinished += inbox.Waking
			}
		}
		return err
	})
	return unfinished, err
}
