package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/store/sqlite"
)

const (
	takersEach = 2 // for each agent
	maxTaken   = 4
	leaseSpeed = 100 // how much faster leases and pauses pass than time
	sweepEvery = 5 * time.Millisecond
)

// take posts and takes until it is killed. It settles some of the taken deliveries, gives some back and leaves the others.
func take(ctx context.Context, home string, posters int) error {
	h, db, err := open(ctx, home)
	if err != nil {
		return err
	}
	if err := speedUpLeases(ctx, db, leaseSpeed); err != nil {
		return err
	}
	if err := printLines("began"); err != nil {
		return err
	}
	var (
		group  sync.WaitGroup
		failed = make(chan error, 1)
	)
	forever := func(do func(n int) error) {
		group.Go(func() {
			for n := 0; ; n++ {
				if err := do(n); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	for w := range posters {
		forever(func(n int) error { return postOne(ctx, h, w, n) })
	}
	for w := range agents * takersEach {
		t := taker{h, hub.Caller{Agent: agentID(w)}, w}
		forever(func(n int) error { return t.step(ctx, n) })
	}
	forever(func(int) error {
		time.Sleep(sweepEvery)
		return h.SweepDeliveries(ctx)
	})
	return errors.Join(<-failed, errors.New("nobody has killed it"))
}

// speedUpLeases makes leases and pauses end within the short life of a victim.
func speedUpLeases(ctx context.Context, db *sqlite.DB, leaseSpeed time.Duration) error {
	var first parley.Tick
	err := db.View(ctx, func(tx storage.Tx) (err error) {
		first, err = tx.Queue().Now()
		return err
	})
	began := time.Now()
	db.SetLeaseClock(func() int64 { return int64(first.After(leaseSpeed * time.Since(began))) })
	return err
}

// taker takes for one agent and prints the outcomes.
type taker struct {
	hub    *hub.Hub
	caller hub.Caller
	worker int
}

// step takes deliveries and does one of all possible actions with them. The lease is longer than the life of a victim, so that
// nobody else gets a delivery between the printed take and the action.
func (t taker) step(ctx context.Context, n int) error {
	action := (n + t.worker) % 8
	taken, err := t.hub.Take(ctx, t.caller, parley.Take{
		Limit: 1 + n%maxTaken, Wait: 20 * time.Millisecond, Lease: 12 * time.Hour,
		Urgent: n%3 == 0, Seen: n%2 == 0, AtMostOnce: action == 0,
	})
	if err != nil || len(taken.Deliveries) == 0 {
		return err
	}
	if action == 0 {
		return printLines(settledLines(taken.Deliveries)...)
	}
	if err := printLines(takenLines(taken.Deliveries)...); err != nil {
		return err
	}
	switch action {
	case 1, 2:
		return t.ack(ctx, taken)
	case 3:
		return t.settle(ctx, taken, parley.Outcome{})
	case 4:
		return t.answer(ctx, taken, n)
	case 5:
		_, err = t.hub.Nack(ctx, t.caller, taken.Lease, parley.Trouble{Failure: parley.FailureLost}, ids(taken.Deliveries)...)
	case 6:
		_, err = t.hub.Extend(ctx, t.caller, taken.Lease, time.Second) // the lease ends soon, and the delivery comes back
	default: // keep the deliveries until the victim is killed
	}
	return err
}

func ids(list []parley.Delivery) (messages []string) {
	for _, d := range list {
		messages = append(messages, d.Message)
	}
	return messages
}

// ack acknowledges half of the deliveries and gives the others back.
func (t taker) ack(ctx context.Context, taken parley.Taken) error {
	half := (len(taken.Deliveries) + 1) / 2
	list, err := t.hub.Ack(ctx, t.caller, taken.Lease, ids(taken.Deliveries[:half])...)
	if err != nil {
		return err
	}
	if err := printLines(settledLines(list)...); err != nil || half == len(taken.Deliveries) {
		return err
	}
	_, err = t.hub.Settle(ctx, t.caller, taken.Lease, parley.Outcome{Trouble: &parley.Trouble{Failure: parley.FailureServer}})
	return err
}

func (t taker) settle(ctx context.Context, taken parley.Taken, outcome parley.Outcome) error {
	list, err := t.hub.Settle(ctx, t.caller, taken.Lease, outcome)
	if err != nil {
		return err
	}
	return printLines(settledLines(list)...)
}

// answer replies to the first message, and settles the other deliveries by the same answer.
func (t taker) answer(ctx context.Context, taken parley.Taken, n int) error {
	text := fmt.Sprintf("token-%d-%d-%d-answer", os.Getpid(), t.worker, n)
	receipt, err := t.hub.Post(ctx, t.caller, parley.Draft{
		InReplyTo: taken.Deliveries[0].Message, Content: parley.Content{Text: text},
	})
	if err != nil {
		return err
	}
	lines := append([]string{receipt.Message.ID + " " + text}, settledLines(taken.Deliveries[:1])...)
	if err := printLines(lines...); err != nil || len(taken.Deliveries) == 1 {
		return err
	}
	return t.settle(ctx, taken, parley.Outcome{Answer: receipt.Message.ID})
}
