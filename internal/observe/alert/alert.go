// Package alert says when a hub needs a person: when writing or reading is slow, inboxes fill, messages wait, or fail. A
// state machine for each alert keeps it from flapping. The disk is the hub's own to look at.
package alert

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/observe/steps"
	"github.com/parley-hub/parley/internal/service"
)

// Limits are what is too much. What is 0 is not looked at.
type Limits struct {
	Write   time.Duration // of a post
	Read    time.Duration
	Latency time.Duration // until a message that wakes an agent is processed
	Depth   float64       // per cent of what an inbox holds
	Errors  float64       // per cent of the messages that fail
	Hold
}

const (
	lookEvery = 5 * time.Second
	aMinute   = int(time.Minute / lookEvery)
	tenOfThem = 10 * aMinute
	leastSeen = 20  // what fewer do says nothing
	slowShare = .05 // of what is measured may be slower than its limit
	fineShare = .5  // of a limit is clearly below it
	fineDepth = .75 // of the depth that is too much
)

// Hub is what is watched.
type Hub interface {
	Figures(ctx context.Context) (hub.Figures, error)
	Alert(ctx context.Context, a parley.Alert, on bool) error
	RaiseAlerts(ctx context.Context, list ...parley.Alert) error
}

// Watcher looks at a hub and raises its alerts. It observes the hub, and is told what happens.
type Watcher struct {
	limits Limits
	hub    Hub
	clock  func() time.Time
	log    *slog.Logger

	writes, reads, latency, ended tally
	told                          int64 // what happened up to here is counted
	rates                         []*rate
	depths                        map[string]*machine
}

// rate is an alert on how many of what was counted lately are over a limit.
type rate struct {
	machine
	window
	most  float64 // as a share
	least int64   // over the limit, to be more than chance
	says  func(counts) parley.Alert
}

// New makes a watcher of a hub that is not there yet.
func New(limits Limits, log *slog.Logger) *Watcher {
	w := &Watcher{limits: limits, clock: time.Now, log: log, depths: map[string]*machine{}}
	if limits.Write > 0 {
		w.add(&w.writes, aMinute, slowShare, w.slow("write", "Writing messages is slow", limits.Write, "look at the hub's disk, and at what else uses it"))
	}
	if limits.Read > 0 {
		w.add(&w.reads, aMinute, slowShare, w.slow("read", "Reading messages is slow", limits.Read, "look at the hub's disk and memory, and at what else uses them"))
	}
	if limits.Latency > 0 {
		w.add(&w.latency, tenOfThem, slowShare, w.slow("latency", "Messages wait long", limits.Latency,
			"see which agents are behind: parley top; raise their concurrency, or runs.total"))
	}
	if limits.Errors > 0 {
		w.add(&w.ended, tenOfThem, limits.Errors/100, w.failing)
	}
	return w
}

func (w *Watcher) add(t *tally, looks int, most float64, says func(counts) parley.Alert) {
	w.rates = append(w.rates, &rate{
		machine: machine{Hold: w.limits.Hold}, window: window{tally: t, looks: looks}, most: most, least: 2, says: says,
	})
}

func (w *Watcher) slow(name, title string, limit time.Duration, hint string) func(counts) parley.Alert {
	return func(c counts) parley.Alert {
		return parley.Alert{
			Name: name, Title: title, Suggestion: hint,
			Message: fmt.Sprintf("%s: %d of the last %d took longer than %s", lower(title), c.over, c.all, limit),
			Facts:   map[string]any{"slow": c.over, "of": c.all, "limit_ms": limit.Milliseconds()},
		}
	}
}

func (w *Watcher) failing(c counts) parley.Alert {
	return parley.Alert{
		Name: "errors", Title: "Messages fail",
		Message:    fmt.Sprintf("messages fail: %d of the last %d, more than %g %%", c.over, c.all, w.limits.Errors),
		Suggestion: "see why: parley log --status failed, and parley dead list",
		Facts:      map[string]any{"failed": c.over, "of": c.all, "limit_percent": w.limits.Errors},
	}
}

func lower(title string) string { return string(title[0]|0x20) + title[1:] }

// Wrote implements hub.Observer.
func (w *Watcher) Wrote(took time.Duration) { w.writes.add(took > w.limits.Write) }

// Read implements hub.Observer.
func (w *Watcher) Read(took time.Duration) { w.reads.add(took > w.limits.Read) }

// Tell counts what becomes of messages, each once though it may be told again.
func (w *Watcher) Tell(_ context.Context, n steps.News) error {
	for _, s := range n.Steps {
		if s.Num <= w.told {
			continue
		}
		if s.FirstProcessed() {
			w.latency.add(s.Latency() > w.limits.Latency)
			w.ended.add(false)
		}
		if s.Status() == steps.Failed {
			w.ended.add(true)
		}
	}
	if len(n.Events) > 0 {
		w.told = max(w.told, n.Events[len(n.Events)-1].Num)
	}
	return nil
}

// Watch looks at a hub now and then.
func (w *Watcher) Watch(h Hub) *service.Service {
	w.hub = h
	return service.New(func(ctx context.Context, started func()) {
		every := time.NewTicker(lookEvery)
		defer every.Stop()
		started()
		for {
			select {
			case <-every.C:
			case <-ctx.Done():
				return
			}
			if err := w.look(ctx); err != nil && ctx.Err() == nil {
				w.log.Warn("the hub could not be looked at for alerts, will try again", "error", err)
			}
		}
	})
}

// look looks at everything once. An alert that could not be told is told at the next look.
func (w *Watcher) look(ctx context.Context) error {
	now := w.clock()
	for _, r := range w.rates {
		c := r.window.look()
		r.step(now, r.judge(c))
		if err := w.hub.Alert(ctx, r.says(c), r.on); err != nil {
			return err
		}
	}
	if w.limits.Depth <= 0 {
		return nil
	}
	f, err := w.hub.Figures(ctx)
	if err != nil {
		return err
	}
	return w.lookAtInboxes(ctx, now, f)
}

func (r *rate) judge(c counts) verdict {
	switch {
	case c.all < leastSeen || c.share() <= r.most*fineShare:
		return fine
	case c.share() > r.most && c.over >= r.least:
		return bad
	default:
		return between
	}
}

// lookAtInboxes looks at the inboxes of agents. One that is gone has none.
func (w *Watcher) lookAtInboxes(ctx context.Context, now time.Time, f hub.Figures) error {
	there := map[string]bool{}
	var full []parley.Alert
	for _, a := range f.Members {
		there[a.ID] = true
		v := w.judgeDepth(a, f.Inboxes[a.ID])
		m := w.depths[a.ID]
		if m == nil && v == bad {
			m = &machine{Hold: w.limits.Hold}
			w.depths[a.ID] = m
		}
		if m == nil {
			continue
		}
		m.step(now, v)
		if m.on {
			full = append(full, w.full(a, f.Inboxes[a.ID]))
		} else if err := w.hub.Alert(ctx, w.full(a, f.Inboxes[a.ID]), false); err != nil {
			return err
		}
		if !m.on && !m.leaning {
			delete(w.depths, a.ID)
		}
	}
	if err := w.hub.RaiseAlerts(ctx, full...); err != nil {
		return err
	}
	for id := range w.depths {
		if !there[id] {
			if err := w.hub.Alert(ctx, parley.Alert{Name: "depth", Agent: id}, false); err != nil {
				return err
			}
			delete(w.depths, id)
		}
	}
	return nil
}

func (w *Watcher) judgeDepth(a parley.Agent, in parley.Inbox) verdict {
	most := float64(a.InboxDepth) * w.limits.Depth / 100
	switch {
	case a.Kind != parley.KindAgent || !a.Bounded() || float64(in.Waking) <= most*fineDepth:
		return fine
	case float64(in.Waking) > most:
		return bad
	default:
		return between
	}
}

func (w *Watcher) full(a parley.Agent, in parley.Inbox) parley.Alert {
	return parley.Alert{
		Name: "depth", Agent: a.ID, Title: "The inbox of " + a.ID + " is filling up",
		Message:    fmt.Sprintf("the inbox of %s has %d of %d messages", a.ID, in.Waking, a.InboxDepth),
		Suggestion: "see what keeps it: parley agent show " + a.ID,
		Facts:      map[string]any{"depth": in.Waking, "limit": a.InboxDepth},
		Severity:   float64(in.Waking) / float64(max(a.InboxDepth, 1)),
	}
}
