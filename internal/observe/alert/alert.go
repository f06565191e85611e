// Package alert raises alerts when a hub needs a person: when writing or reading is slow, inboxes fill up, or messages are
// processed late or fail. A state machine for each alert keeps it from flapping. The hub itself watches the disk.
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

// Limits are the values above which the watcher raises an alert. It does not check a limit of 0.
type Limits struct {
	Write   time.Duration // to write a message
	Read    time.Duration // to read messages
	Latency time.Duration // until an agent first processes a message that wakes it
	Depth   float64       // per cent of the size of an inbox
	Errors  float64       // per cent of messages that fail
	Delays
}

const (
	checkEvery = 5 * time.Second
	oneMinute  = int(time.Minute / checkEvery)
	tenMinutes = 10 * oneMinute
	minSample  = 20  // fewer measurements prove nothing
	slowShare  = .05 // share of measurements that may be slower than their limit
	fineShare  = .5  // a share below this part of its limit is fine
	fineDepth  = .75 // a depth below this part of its limit is fine
)

// Hub is the part of a hub that the watcher uses.
type Hub interface {
	// Figures returns the current figures of the hub.
	Figures(ctx context.Context) (hub.Figures, error)
	// Alert raises or ends an alert. It does nothing if the alert already is in that state.
	Alert(ctx context.Context, a parley.Alert, on bool) error
	// RaiseAlerts raises several alerts.
	RaiseAlerts(ctx context.Context, list ...parley.Alert) error
}

// Watcher raises and ends the alerts of a hub. It is a hub.Observer, which gets timings, and a steps.Consumer, which gets
// events.
type Watcher struct {
	limits Limits
	hub    Hub
	clock  func() time.Time
	log    *slog.Logger

	writes, reads, latency, ended tally
	counted                       int64 // number of the last counted event
	rates                         []*rate
	depths                        map[string]*machine
}

// rate is an alert about the share of recent measurements that are over a limit.
type rate struct {
	machine
	window
	maxShare float64 // largest share that is allowed
	minOver  int64   // fewest measurements over the limit that raise the alert
	newAlert func(counts) parley.Alert
}

// New makes a watcher. Watch gives it the hub later.
func New(limits Limits, log *slog.Logger) *Watcher {
	w := &Watcher{limits: limits, clock: time.Now, log: log, depths: map[string]*machine{}}
	if limits.Write > 0 {
		w.addRate(&w.writes, oneMinute, slowShare, w.slowAlert("write", "Writing messages is slow", limits.Write, "check the hub's disk, and which other programs use it"))
	}
	if limits.Read > 0 {
		w.addRate(&w.reads, oneMinute, slowShare, w.slowAlert("read", "Reading messages is slow", limits.Read, "check the hub's disk and memory, and which other programs use them"))
	}
	if limits.Latency > 0 {
		w.addRate(&w.latency, tenMinutes, slowShare, w.slowAlert("latency", "Messages wait long", limits.Latency,
			"see which agents are behind: parley top; raise their concurrency, or runs.total"))
	}
	if limits.Errors > 0 {
		w.addRate(&w.ended, tenMinutes, limits.Errors/100, w.failureAlert)
	}
	return w
}

func (w *Watcher) addRate(t *tally, checks int, maxShare float64, newAlert func(counts) parley.Alert) {
	w.rates = append(w.rates, &rate{
		machine: machine{Delays: w.limits.Delays}, window: window{tally: t, checks: checks}, maxShare: maxShare, minOver: 2, newAlert: newAlert,
	})
}

func (w *Watcher) slowAlert(name, title string, limit time.Duration, hint string) func(counts) parley.Alert {
	return func(c counts) parley.Alert {
		return parley.Alert{
			Name: name, Title: title, Suggestion: hint,
			Message: fmt.Sprintf("%s: %d of the last %d took longer than %s", lowerFirst(title), c.over, c.all, limit),
			Facts:   map[string]any{"slow": c.over, "of": c.all, "limit_ms": limit.Milliseconds()},
		}
	}
}

func (w *Watcher) failureAlert(c counts) parley.Alert {
	return parley.Alert{
		Name: "errors", Title: "Messages fail",
		Message:    fmt.Sprintf("messages fail: %d of the last %d, more than %g %%", c.over, c.all, w.limits.Errors),
		Suggestion: "see why: parley log --status failed, and parley dead list",
		Facts:      map[string]any{"failed": c.over, "of": c.all, "limit_percent": w.limits.Errors},
	}
}

func lowerFirst(title string) string { return string(title[0]|0x20) + title[1:] }

// Wrote implements hub.Observer.
func (w *Watcher) Wrote(took time.Duration) { w.writes.add(took > w.limits.Write) }

// Read implements hub.Observer.
func (w *Watcher) Read(took time.Duration) { w.reads.add(took > w.limits.Read) }

// Consume implements steps.Consumer: it counts processed and failed messages. It counts an event once, even if it gets it
// again.
func (w *Watcher) Consume(_ context.Context, n steps.Batch) error {
	for _, s := range n.Steps {
		if s.Num <= w.counted {
			continue
		}
		if s.IsFirstProcessing() {
			w.latency.add(s.Latency() > w.limits.Latency)
			w.ended.add(false)
		}
		if s.Status() == steps.Failed {
			w.ended.add(true)
		}
	}
	if len(n.Events) > 0 {
		w.counted = max(w.counted, n.Events[len(n.Events)-1].Num)
	}
	return nil
}

// Watch returns a service that checks a hub regularly.
func (w *Watcher) Watch(h Hub) *service.Service {
	w.hub = h
	return service.New(func(ctx context.Context, started func()) {
		every := time.NewTicker(checkEvery)
		defer every.Stop()
		started()
		for {
			select {
			case <-every.C:
			case <-ctx.Done():
				return
			}
			if err := w.check(ctx); err != nil && ctx.Err() == nil {
				w.log.Warn("cannot check the hub for alerts; retrying soon", "error", err, "retry_in", checkEvery)
			}
		}
	})
}

// check compares all measurements with their limits. If the hub cannot record an alert, the next check repeats it.
func (w *Watcher) check(ctx context.Context) error {
	now := w.clock()
	for _, r := range w.rates {
		c := r.window.advance()
		r.step(now, r.judge(c))
		if err := w.hub.Alert(ctx, r.newAlert(c), r.on); err != nil {
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
	return w.checkInboxes(ctx, now, f)
}

func (r *rate) judge(c counts) verdict {
	switch {
	case c.all < minSample || c.share() <= r.maxShare*fineShare:
		return fine
	case c.share() > r.maxShare && c.over >= r.minOver:
		return bad
	default:
		return between
	}
}

// checkInboxes compares the depth of each inbox with its limit, and ends the alerts of removed agents.
func (w *Watcher) checkInboxes(ctx context.Context, now time.Time, f hub.Figures) error {
	exists := map[string]bool{}
	var full []parley.Alert
	for _, a := range f.Members {
		exists[a.ID] = true
		v := w.judgeDepth(a, f.Inboxes[a.ID])
		m := w.depths[a.ID]
		if m == nil && v == bad {
			m = &machine{Delays: w.limits.Delays}
			w.depths[a.ID] = m
		}
		if m == nil {
			continue
		}
		m.step(now, v)
		if m.on {
			full = append(full, w.inboxAlert(a, f.Inboxes[a.ID]))
		} else if err := w.hub.Alert(ctx, w.inboxAlert(a, f.Inboxes[a.ID]), false); err != nil {
			return err
		}
		if !m.on && !m.changing {
			delete(w.depths, a.ID)
		}
	}
	if err := w.hub.RaiseAlerts(ctx, full...); err != nil {
		return err
	}
	for id := range w.depths {
		if !exists[id] {
			if err := w.hub.Alert(ctx, parley.Alert{Name: "depth", Agent: id}, false); err != nil {
				return err
			}
			delete(w.depths, id)
		}
	}
	return nil
}

func (w *Watcher) judgeDepth(a parley.Agent, in parley.Inbox) verdict {
	limit := float64(a.InboxDepth) * w.limits.Depth / 100
	switch {
	case a.Kind != parley.KindAgent || !a.Bounded() || float64(in.Waking) <= limit*fineDepth:
		return fine
	case float64(in.Waking) > limit:
		return bad
	default:
		return between
	}
}

func (w *Watcher) inboxAlert(a parley.Agent, in parley.Inbox) parley.Alert {
	return parley.Alert{
		Name: "depth", Agent: a.ID, Title: "The inbox of " + a.ID + " is filling up",
		Message:    fmt.Sprintf("the inbox of %s has %d of %d messages", a.ID, in.Waking, a.InboxDepth),
		Suggestion: "see what keeps it: parley agent show " + a.ID,
		Facts:      map[string]any{"depth": in.Waking, "limit": a.InboxDepth},
		Severity:   float64(in.Waking) / float64(max(a.InboxDepth, 1)),
	}
}
