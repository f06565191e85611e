package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"slices"
	"syscall"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/dispatch"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/peer"
	"github.com/parley-hub/parley/internal/prompt"
	"github.com/parley-hub/parley/internal/runtime/script"
	"github.com/parley-hub/parley/internal/tools"
)

const (
	scriptAgents = 64
	idleAgents   = 10_000
	agentBytes   = 2 << 10
	scriptRules  = "- else:\n    - reply: done\n"
	maxWait      = time.Minute
	readerAgent  = "reader" // the hub does not run this agent
)

// measureRuns measures how long a script agent takes from a mention to its stored answer, how many such runs the hub makes in a
// second, and what idle agents cost.
func measureRuns(ctx context.Context, rounds int, length time.Duration) (results []result, err error) {
	scripted, err := newScriptedHub(ctx, onSQLite(), scriptAgents)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, scripted.close()) }()
	var asked, posted []time.Duration
	var rate []float64
	for range rounds {
		a, err := scripted.mentionInTurn(ctx, length)
		if err != nil {
			return nil, err
		}
		p, err := scripted.postTwice(ctx, length/2)
		if err != nil {
			return nil, err
		}
		r, err := throughput(length, scriptAgents, func(worker, _ int) error { return scripted.mention(ctx, worker) })
		if err != nil {
			return nil, err
		}
		asked, posted, rate = append(asked, a...), append(posted, p...), append(rate, r)
	}
	slices.Sort(asked)
	slices.Sort(posted)
	p50, p99, twoPosts := asked[len(asked)/2], asked[len(asked)*99/100], posted[len(posted)/2]
	oneByOne := float64(time.Second) / float64(p50)
	idle, err := measureIdle(ctx, time.Duration(rounds)*length)
	return append([]result{
		atMost(5, result{
			What: "mention to stored answer through a script agent, p50, against two posts", Ratio: float64(p50) / float64(twoPosts),
			Parley:   fmt.Sprintf("%s (p99 %s)", p50.Round(10*time.Microsecond), p99.Round(10*time.Microsecond)),
			Baseline: twoPosts.Round(10 * time.Microsecond).String(),
		}),
		atLeast(1, result{
			What: "runs of 64 script agents, against one after the other", Ratio: median(rate) / oneByOne,
			Parley: fmt.Sprintf("%.0f/s", median(rate)), Baseline: fmt.Sprintf("%.0f/s", oneByOne),
		}),
	}, idle...), err
}

// measureIdle compares a hub of many agents that follow scripts with an empty one.
func measureIdle(ctx context.Context, length time.Duration) (results []result, err error) {
	empty, err := newScriptedHub(ctx, onSQLite(), 0)
	if err != nil {
		return nil, err
	}
	without := heap()
	if err := empty.close(); err != nil {
		return nil, err
	}
	full, err := newScriptedHub(ctx, onSQLite(), idleAgents)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, full.close()) }()
	if err := full.mention(ctx, 0); err != nil { // the first run sets up everything that runs share
		return nil, err
	}
	each := float64(heap()-without) / idleAgents
	began := processorTime()
	time.Sleep(length)
	cpu := (processorTime() - began).Seconds() / length.Seconds()
	return []result{
		atMost(1, result{
			What: "processor time of 10,000 idle agents, against 1 % of a core", Ratio: cpu / goalCPU,
			Parley: fmt.Sprintf("%.2f %%", 100*cpu), Baseline: fmt.Sprintf("%.0f %%", 100*goalCPU),
		}),
		atMost(1, result{
			What: "memory of an idle agent, against 2 KiB", Ratio: each / agentBytes,
			Parley: fmt.Sprintf("%.0f B", each), Baseline: fmt.Sprintf("%d B", agentBytes),
		}),
	}, nil
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // removes the objects that the first collection has found
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func processorTime() time.Duration {
	var used syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &used) != nil {
		return 0
	}
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}

// scriptedHub is a hub with agents that follow a script. Each agent has a channel with the owner.
type scriptedHub struct {
	hub   *hub.Hub
	owner hub.Caller
	close func() error
}

func newScriptedHub(ctx context.Context, open opener, agents int) (*scriptedHub, error) {
	h, done, err := open.hub(ctx, 0)
	if err != nil {
		return nil, err
	}
	config, err := json.Marshal(map[string]string{"rules": scriptRules})
	if err != nil {
		return nil, err
	}
	c := &scriptedHub{hub: h, owner: hub.Caller{Agent: parley.Owner}}
	if err := inParallel(agents, func(n int) error {
		_, err := h.AddAgent(ctx, c.owner, parley.NewAgent{ID: agentName(n), Profile: parley.Profile{
			Runtime: parley.RuntimeScript, RuntimeConfig: config, InboxOverflow: parley.OverflowUnbounded,
		}})
		return err
	}); err != nil {
		return nil, err
	}
	if _, err := h.AddAgent(ctx, c.owner, parley.NewAgent{ID: readerAgent, Profile: parley.Profile{InboxOverflow: parley.OverflowUnbounded}}); err != nil {
		return nil, err
	}
	members := []string{readerAgent}
	for n := range min(agents, scriptAgents) {
		members = append(members, agentName(n))
	}
	for _, name := range members {
		if _, err := h.CreateConversation(ctx, c.owner, parley.NewConversation{Name: name, With: []string{name}}); err != nil {
			return nil, err
		}
	}
	scripts := script.New()
	runs := dispatch.New(h, dispatch.Options{
		Node: "bench", Processes: peer.NewRegistry("bench"), Log: slog.New(slog.DiscardHandler),
		Runtime: func(parley.Agent) (parley.Runtime, error) { return scripts, nil },
		Prompt:  prompt.Build,
		Dir:     func(string) string { return "" },
		Files:   func(string) ([]parley.IdentityFile, error) { return nil, nil },
		Tools:   func(parley.Agent) []parley.ToolDoc { return tools.Docs() },
	})
	runs.Start(ctx)
	c.close = func() error {
		runs.Stop()
		return done()
	}
	return c, nil
}

// mention mentions an agent in its channel and waits until the hub has stored its answer.
func (c *scriptedHub) mention(ctx context.Context, n int) error {
	receipt, err := c.hub.Post(ctx, c.owner, parley.Draft{
		Conversation: agentName(n), Content: parley.Content{Text: "@" + agentName(n) + " " + body},
	})
	if err != nil {
		return err
	}
	shown, err := c.hub.AwaitState(ctx, c.owner, receipt.Message.ID, parley.DeliveryAnswered, maxWait)
	if err == nil && shown.Deliveries[0].State != parley.DeliveryAnswered {
		err = fmt.Errorf("a mention is %s", shown.Deliveries[0].State)
	}
	return err
}

// mentionInTurn mentions the agents in turn, one at a time, and returns the time of each.
func (c *scriptedHub) mentionInTurn(ctx context.Context, length time.Duration) ([]time.Duration, error) {
	return timed(length, func(n int) error { return c.mention(ctx, n%scriptAgents) })
}

// postTwice posts two messages that wake nobody. The recipient is an agent that the hub does not run.
func (c *scriptedHub) postTwice(ctx context.Context, length time.Duration) ([]time.Duration, error) {
	return timed(length, func(int) error {
		for range 2 {
			_, err := c.hub.Post(ctx, c.owner, parley.Draft{
				Conversation: readerAgent, To: readerAgent, Type: parley.TypeNotification, Content: parley.Content{Text: body},
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func timed(length time.Duration, do func(n int) error) (times []time.Duration, err error) {
	for end := time.Now().Add(length); time.Now().Before(end); {
		began := time.Now()
		if err := do(len(times)); err != nil {
			return nil, err
		}
		times = append(times, time.Since(began))
	}
	return times, nil
}
