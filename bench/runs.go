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
	runners    = 64
	idleAgents = 10_000
	agentBytes = 2 << 10
	runAnswers = "- else:\n    - reply: done\n"
	maxWait    = time.Minute
	reader     = "reader" // whom nobody runs
)

// measureRuns measures how long it takes from a mention to the stored answer of an agent that follows a script,
// how many such runs there are in a second, and what agents cost that nobody wakes.
func measureRuns(ctx context.Context, rounds int, length time.Duration) (results []result, err error) {
	company, err := newCompany(ctx, onSQLite(), runners)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, company.close()) }()
	var asked, posted []time.Duration
	var rate []float64
	for range rounds {
		a, err := company.ask(ctx, length)
		if err != nil {
			return nil, err
		}
		p, err := company.postTwice(ctx, length/2)
		if err != nil {
			return nil, err
		}
		r, err := throughput(length, runners, func(worker, _ int) error { return company.mention(ctx, worker) })
		if err != nil {
			return nil, err
		}
		asked, posted, rate = append(asked, a...), append(posted, p...), append(rate, r)
	}
	slices.Sort(asked)
	slices.Sort(posted)
	p50, p99, two := asked[len(asked)/2], asked[len(asked)*99/100], posted[len(posted)/2]
	one := float64(time.Second) / float64(p50)
	idle, err := measureIdle(ctx, time.Duration(rounds)*length)
	return append([]result{
		atMost(5, result{
			What: "mention to stored answer through a script agent, p50, against two posts", Ratio: float64(p50) / float64(two),
			Parley:   fmt.Sprintf("%s (p99 %s)", p50.Round(10*time.Microsecond), p99.Round(10*time.Microsecond)),
			Baseline: two.Round(10 * time.Microsecond).String(),
		}),
		atLeast(1, result{
			What: "runs of 64 script agents, against one after the other", Ratio: median(rate) / one,
			Parley: fmt.Sprintf("%.0f/s", median(rate)), Baseline: fmt.Sprintf("%.0f/s", one),
		}),
	}, idle...), err
}

// measureIdle compares a hub of many agents that follow scripts with an empty one.
func measureIdle(ctx context.Context, length time.Duration) (results []result, err error) {
	empty, err := newCompany(ctx, onSQLite(), 0)
	if err != nil {
		return nil, err
	}
	without := heap()
	if err := empty.close(); err != nil {
		return nil, err
	}
	full, err := newCompany(ctx, onSQLite(), idleAgents)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, full.close()) }()
	if err := full.mention(ctx, 0); err != nil { // so that everything is known that is needed to start one
		return nil, err
	}
	each := float64(heap()-without) / idleAgents
	began := processorTime()
	time.Sleep(length)
	cpu := (processorTime() - began).Seconds() / length.Seconds()
	return []result{
		atMost(1, result{
			What: "processor time of 10,000 idle agents, against 1 % of a core", Ratio: cpu / aimedCPU,
			Parley: fmt.Sprintf("%.2f %%", 100*cpu), Baseline: fmt.Sprintf("%.0f %%", 100*aimedCPU),
		}),
		atMost(1, result{
			What: "memory of an idle agent, against 2 KiB", Ratio: each / agentBytes,
			Parley: fmt.Sprintf("%.0f B", each), Baseline: fmt.Sprintf("%d B", agentBytes),
		}),
	}, nil
}

func heap() int64 {
	runtime.GC()
	runtime.GC() // what the first has only found
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

// company is a hub with agents that follow a script, each in a channel with the owner.
type company struct {
	hub   *hub.Hub
	owner hub.Caller
	close func() error
}

func newCompany(ctx context.Context, open opener, agents int) (*company, error) {
	h, done, err := open.hub(ctx, 0)
	if err != nil {
		return nil, err
	}
	config, err := json.Marshal(map[string]string{"rules": runAnswers})
	if err != nil {
		return nil, err
	}
	c := &company{hub: h, owner: hub.Caller{Agent: parley.Owner}}
	if err := together(agents, func(n int) error {
		_, err := h.AddAgent(ctx, c.owner, parley.NewAgent{ID: agentName(n), Profile: parley.Profile{
			Runtime: parley.RuntimeScript, RuntimeConfig: config, InboxOverflow: parley.OverflowUnbounded,
		}})
		return err
	}); err != nil {
		return nil, err
	}
	if _, err := h.AddAgent(ctx, c.owner, parley.NewAgent{ID: reader, Profile: parley.Profile{InboxOverflow: parley.OverflowUnbounded}}); err != nil {
		return nil, err
	}
	rooms := []string{reader}
	for n := range min(agents, runners) {
		rooms = append(rooms, agentName(n))
	}
	for _, name := range rooms {
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

// mention mentions an agent in its channel and waits until its answer is stored.
func (c *company) mention(ctx context.Context, n int) error {
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

// ask mentions agents in turn, one at a time.
func (c *company) ask(ctx context.Context, length time.Duration) ([]time.Duration, error) {
	return timed(length, func(n int) error { return c.mention(ctx, n%runners) })
}

// postTwice posts two messages that wake nobody. The recipient is an agent that the hub does not run.
func (c *company) postTwice(ctx context.Context, length time.Duration) ([]time.Duration, error) {
	return timed(length, func(int) error {
		for range 2 {
			_, err := c.hub.Post(ctx, c.owner, parley.Draft{
				Conversation: reader, To: reader, Type: parley.TypeNotification, Content: parley.Content{Text: body},
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
