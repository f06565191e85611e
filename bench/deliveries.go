package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const batchSize = 20

// measureTakes compares the times of taking and acknowledging a batch: with many pending deliveries and with few, and on a hub of
// many agents and on a hub of few.
func measureTakes(ctx context.Context, rounds int, length time.Duration, open opener) ([]result, error) {
	compare := func(what string, goal float64, small, large inboxLoad) (result, error) {
		few, closeFew, err := newTaker(ctx, open, small)
		if err != nil {
			return result{}, err
		}
		many, closeMany, err := newTaker(ctx, open, large)
		if err != nil {
			return result{}, err
		}
		var a, b []time.Duration
		for range rounds {
			x, err := many(length / 2)
			if err != nil {
				return result{}, err
			}
			y, err := few(length / 2)
			if err != nil {
				return result{}, err
			}
			a, b = append(a, x), append(b, y)
		}
		p, q := median(a), median(b)
		return atMost(goal, result{
			What:   fmt.Sprintf("%s: take and ack %d, p50, %s", open.name, batchSize, what),
			Parley: p.Round(time.Microsecond).String(), Baseline: q.Round(time.Microsecond).String(), Ratio: float64(p) / float64(q),
		}), errors.Join(closeFew(), closeMany())
	}
	pending, err := compare("with 16,000 pending, against 100", 1.3, inboxLoad{agents: 2, pending: 100}, inboxLoad{agents: 2, pending: 16_000})
	if err != nil {
		return nil, err
	}
	agents, err := compare("with 10,000 agents, against 100", 1.2, inboxLoad{agents: 100, pending: 100}, inboxLoad{agents: 10_000, pending: 100})
	return []result{pending, agents}, err
}

// inboxLoad holds the number of agents, and the number of pending deliveries of the agent that takes.
type inboxLoad struct{ agents, pending int }

// newTaker opens a hub. It returns a function that has one agent take and acknowledge batches for a time, and returns the median.
func newTaker(ctx context.Context, open opener, c inboxLoad) (measure func(time.Duration) (time.Duration, error), done func() error, err error) {
	h, done, err := open.hub(ctx, c.agents)
	if err != nil {
		return nil, nil, err
	}
	me := hub.Caller{Agent: agentID(0)}
	post := func(to int) error {
		_, err := h.Post(ctx, hub.Caller{Agent: agentName(1)}, parley.Draft{
			Direct: []string{agentName(to)}, Content: parley.Content{Text: body},
		})
		return err
	}
	// The other agents have a pending delivery each.
	if err := inParallel(c.agents-2, func(n int) error { return post(n + 2) }); err != nil {
		return nil, nil, err
	}
	if err := inParallel(c.pending, func(int) error { return post(0) }); err != nil {
		return nil, nil, err
	}
	if err := indexed(ctx, h, agentName(1)); err != nil { // otherwise the measurement would include the indexer
		return nil, nil, err
	}
	return func(length time.Duration) (time.Duration, error) {
		var times []time.Duration
		for end := time.Now().Add(length); time.Now().Before(end); {
			began := time.Now()
			if err := takeAndAck(ctx, h, me); err != nil {
				return 0, err
			}
			times = append(times, time.Since(began))
			if err := inParallel(batchSize, func(int) error { return post(0) }); err != nil { // keep the number of pending deliveries
				return 0, err
			}
		}
		return median(times), nil
	}, done, nil
}

func takeAndAck(ctx context.Context, h *hub.Hub, me hub.Caller) error {
	batch, err := h.Take(ctx, me, parley.Take{Limit: batchSize})
	if err != nil {
		return err
	}
	ids := make([]string, len(batch.Deliveries))
	for i, d := range batch.Deliveries {
		ids[i] = d.Message
	}
	if len(ids) != batchSize {
		return fmt.Errorf("%d were taken", len(ids))
	}
	_, err = h.Ack(ctx, me, batch.Lease, ids...)
	return err
}
