package main

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const (
	orderSenders = 3 // for each agent
	maxHeld      = 6 // most deliveries that a taker holds before it acknowledges some
)

// order posts direct messages to a started hub and takes them with one taker for each agent, until it is killed. It prints "got",
// "acking" and "acked" for each delivery, with the recipient, the sender, the pair_seq and the attempt.
func order(ctx context.Context, home string) error {
	h, _, err := open(ctx, home)
	if err != nil {
		return err
	}
	h.Start(ctx)
	if err := printLines("began"); err != nil {
		return err
	}
	failed := make(chan error, 1)
	forever := func(do func(n int) error) {
		go func() {
			for n := 0; ; n++ {
				if err := do(n); err != nil {
					failed <- err
					return
				}
			}
		}()
	}
	for w := range agents {
		me := hub.Caller{Agent: agentID(w)}
		forever(func(n int) error {
			to := agentID(w + 1 + n%orderSenders)
			_, err := h.Post(ctx, me, parley.Draft{Direct: []string{to}, Content: parley.Content{Text: strconv.Itoa(n)}})
			return err
		})
		t := &orderedTaker{hub: h, caller: me}
		forever(func(n int) error { return t.step(ctx, n) })
	}
	return errors.Join(<-failed, errors.New("nobody has killed it"))
}

// orderedTaker takes deliveries for one agent, holds some of them for a while, and acknowledges them in order.
type orderedTaker struct {
	hub    *hub.Hub
	caller hub.Caller
	held   []parley.Delivery
}

func (t *orderedTaker) step(ctx context.Context, n int) error {
	taken, err := t.hub.Take(ctx, t.caller, parley.Take{
		Limit: 1 + n%maxTaken, Wait: 20 * time.Millisecond, Seen: n%2 == 0, Lease: 12 * time.Hour,
	})
	if err != nil || len(taken.Deliveries) == 0 {
		return err
	}
	if err := printLines(orderLines("got", taken.Deliveries)...); err != nil {
		return err
	}
	t.held = append(t.held, taken.Deliveries...)
	if len(t.held) <= maxHeld {
		return nil
	}
	done := t.held[:len(t.held)-n%maxHeld]
	t.held = t.held[len(done):]
	if err := printLines(orderLines("acking", done)...); err != nil {
		return err
	}
	if _, err := t.hub.Ack(ctx, t.caller, "", ids(done)...); err != nil {
		return err
	}
	return printLines(orderLines("acked", done)...)
}

func orderLines(verb string, list []parley.Delivery) (lines []string) {
	for _, d := range list {
		lines = append(lines, fmt.Sprintf("%s %s %s %d %d", verb, d.Recipient, d.From, d.PairSeq, d.Attempt))
	}
	return lines
}
