package main

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// busScript is a shell script that sends and receives messages as files.
//
//go:embed bus.sh
var busScript string

// shellMessages is the number of messages that the shell sends and receives in a round. The hub handles as many as it can.
const shellMessages = 60

// measureBus compares sending and receiving through a hub with sending and receiving the Routing Protocol's files in the shell,
// among few agents and among many. The hub stores messages durably, the shell does not. One agent sends or receives at a time.
func measureBus(ctx context.Context, rounds int, length time.Duration) (results []result, err error) {
	for _, agents := range []int{20, 200, 1000} {
		var sent, received, shellSent, shellReceived []float64
		for range min(rounds, 3) {
			a, b, err := hubBus(ctx, agents, length/2)
			if err != nil {
				return nil, err
			}
			c, d, err := shellBus(ctx, agents)
			if err != nil {
				return nil, err
			}
			sent, received = append(sent, a), append(received, b)
			shellSent, shellReceived = append(shellSent, c), append(shellReceived, d)
		}
		results = append(results,
			faster(fmt.Sprintf("send among %d agents, against a bus of files in the shell", agents), median(sent), median(shellSent)),
			faster(fmt.Sprintf("receive among %d agents, against the same", agents), median(received), median(shellReceived)))
	}
	return results, nil
}

func faster(what string, perSecond, baseline float64) result {
	return atLeast(10, result{
		What: what, Ratio: perSecond / baseline, Parley: fmt.Sprintf("%.0f/s", perSecond), Baseline: fmt.Sprintf("%.0f/s", baseline),
	})
}

// hubBus returns how many messages a second agents send through a hub, and how many they then take and acknowledge.
func hubBus(ctx context.Context, agents int, length time.Duration) (sent, received float64, err error) {
	h, done, err := onSQLite().hub(ctx, agents)
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, done()) }()
	posts, err := timed(length, func(n int) error {
		_, err := h.Post(ctx, hub.Caller{Agent: agentName((n + 1) % agents)}, parley.Draft{
			Direct: []string{agentName(n % agents)}, Content: parley.Content{Text: "half done"}, Type: parley.TypeStatus,
		})
		return err
	})
	if err != nil {
		return 0, 0, err
	}
	began := time.Now()
	for n := range posts {
		me := hub.Caller{Agent: agentName(n % agents)}
		batch, err := h.Take(ctx, me, parley.Take{Limit: 1})
		if err != nil || len(batch.Deliveries) != 1 {
			return 0, 0, fmt.Errorf("%d were taken: %w", len(batch.Deliveries), err)
		}
		if _, err := h.Ack(ctx, me, batch.Lease, batch.Deliveries[0].Message); err != nil {
			return 0, 0, err
		}
	}
	return perSecond(posts), float64(len(posts)) / time.Since(began).Seconds(), nil
}

func perSecond(times []time.Duration) float64 {
	var sum time.Duration
	for _, t := range times {
		sum += t
	}
	return float64(len(times)) / sum.Seconds()
}

// shellBus returns how many messages a second the shell script sends, and how many it then receives.
func shellBus(ctx context.Context, agents int) (sent, received float64, err error) {
	dir, err := os.MkdirTemp("", "parley-bench-")
	if err != nil {
		return 0, 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	run := func(verb string) (float64, error) {
		command := exec.CommandContext(ctx, "bash", "-s", dir, verb, strconv.Itoa(shellMessages), strconv.Itoa(agents))
		command.Stdin = strings.NewReader(busScript)
		began := time.Now()
		if output, err := command.CombinedOutput(); err != nil {
			return 0, fmt.Errorf("the shell's bus: %w: %s", err, output)
		}
		return shellMessages / time.Since(began).Seconds(), nil
	}
	if sent, err = run("send"); err != nil {
		return 0, 0, err
	}
	received, err = run("receive")
	return sent, received, err
}
