package metrics

import (
	"context"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// collectTimeout limits one lookup of all gauges.
const collectTimeout = 10 * time.Second

func desc(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// The descriptions of all gauges, and of the counters that the hub keeps in its store.
var (
	inboxDepth     = desc("inbox_depth", "Open deliveries that wake an agent.", "agent")
	inboxLimit     = desc("parley_inbox_limit", "How many open deliveries the inbox of an agent can hold.", "agent")
	evictionCount  = desc("eviction_count", "Messages evicted from an agent's inbox so far.", "agent")
	openDeliveries = desc("parley_deliveries_open", "Deliveries that are open.")
	deadLetters    = desc("parley_dead_letters", "Deliveries that have no attempts left.")
	messages       = desc("parley_messages", "Stored messages.")
	conversations  = desc("parley_conversations", "Conversations.")
	participants   = desc("parley_agents", "Participants, by kind.", "kind")
	liveRuns       = desc("parley_runs_live", "Runs that have not ended, by agent and state.", "agent", "state")
	openTasks      = desc("parley_tasks_open", "Tasks that have not ended, by state.", "state")
	pending        = desc("parley_approvals_pending", "Calls that wait for an approval.")
	subscribers    = desc("parley_event_subscribers", "Readers of the stream of events in this process.")
	followerLag    = desc("parley_follower_lag_events", "Stored events that a follower (message log, traces, NATS) has not processed yet.", "follower")
	diskFree       = desc("parley_disk_free_bytes", "Free bytes on the disk of the store.")
	diskTotal      = desc("parley_disk_total_bytes", "Total bytes of the disk of the store.")
	bridgeRuns     = desc("parley_bridge_running", "1 if a bridge runs, else 0.", "bridge", "layout")
	bridgeFiles    = desc("parley_bridge_files_total", "Files that a bridge has handled since its start, by result.", "bridge", "what")
	bridgeWaiting  = desc("parley_bridge_files_waiting", "Files of a bridge that are not imported yet.", "bridge")
)

// gaugeCollector is a prometheus.Collector that looks up the figures of a hub.
type gaugeCollector struct{ hub Hub }

// Describe implements prometheus.Collector.
func (p *gaugeCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		inboxDepth, inboxLimit, evictionCount, openDeliveries, deadLetters, messages, conversations, participants, liveRuns, openTasks,
		pending, subscribers, followerLag, diskFree, diskTotal, bridgeRuns, bridgeFiles, bridgeWaiting,
	} {
		to <- d
	}
}

// Collect implements prometheus.Collector.
func (p *gaugeCollector) Collect(to chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), collectTimeout)
	defer cancel()
	f, err := p.hub.Figures(ctx)
	if err != nil {
		to <- prometheus.NewInvalidMetric(openDeliveries, err)
		return
	}
	c := gaugeWriter{to}
	c.totals(f)
	c.inboxes(f)
	c.runs(f)
	c.bridges(f)
}

// gaugeWriter writes the figures of one collection.
type gaugeWriter struct{ to chan<- prometheus.Metric }

func (c gaugeWriter) gauge(d *prometheus.Desc, value float64, labels ...string) {
	c.to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, value, labels...)
}

func (c gaugeWriter) counter(d *prometheus.Desc, value float64, labels ...string) {
	c.to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, value, labels...)
}

func (c gaugeWriter) totals(f hub.Figures) {
	c.gauge(openDeliveries, float64(f.OpenDeliveries))
	c.gauge(deadLetters, float64(f.DeadLetters))
	c.gauge(messages, float64(f.Messages))
	c.gauge(conversations, float64(f.Conversations))
	c.gauge(openTasks, float64(f.QueuedTasks), string(parley.TaskQueued))
	c.gauge(openTasks, float64(f.ActiveTasks), string(parley.TaskActive))
	c.gauge(pending, float64(f.PendingApprovals))
	c.gauge(subscribers, float64(f.Subscribers))
	for name, events := range f.Behind {
		c.gauge(followerLag, float64(events), name)
	}
	if f.DiskTotal > 0 {
		c.gauge(diskFree, float64(f.DiskFree))
		c.gauge(diskTotal, float64(f.DiskTotal))
	}
	kinds := map[parley.Kind]int{}
	for _, a := range f.Members {
		kinds[a.Kind]++
	}
	for kind, n := range kinds {
		c.gauge(participants, float64(n), string(kind))
	}
}

// inboxes writes the depth of agents' inboxes: one series for each of the first thousand agents, and one for all others.
func (c gaugeWriter) inboxes(f hub.Figures) {
	var rest parley.Inbox
	shown := 0
	for _, a := range f.Members {
		inbox := f.Inboxes[a.ID]
		switch {
		case a.Kind != parley.KindAgent:
		case shown == maxAgents:
			rest.Waking += inbox.Waking
			rest.Evicted += inbox.Evicted
		default:
			shown++
			c.gauge(inboxDepth, float64(inbox.Waking), a.ID)
			if a.Bounded() {
				c.gauge(inboxLimit, float64(a.InboxDepth), a.ID)
			}
			c.counter(evictionCount, float64(inbox.Evicted), a.ID)
		}
	}
	if shown == maxAgents {
		c.gauge(inboxDepth, float64(rest.Waking), otherAgents)
		c.counter(evictionCount, float64(rest.Evicted), otherAgents)
	}
}

func (c gaugeWriter) runs(f hub.Figures) {
	type key struct{ agent, state string }
	counts, labels := map[key]int{}, newAgentLabels()
	for _, r := range f.Runs {
		counts[key{labels.label(r.Agent), string(r.State)}]++
	}
	for k, n := range counts {
		c.gauge(liveRuns, float64(n), k.agent, k.state)
	}
}

func (c gaugeWriter) bridges(f hub.Figures) {
	for _, b := range f.Bridges {
		running := 0.0
		if b.Status.Running {
			running = 1
		}
		c.gauge(bridgeRuns, running, b.ID, string(b.Layout))
		c.gauge(bridgeWaiting, float64(b.Status.Waiting), b.ID)
		for what, n := range map[string]int64{
			"imported": b.Status.Imported, "exported": b.Status.Exported, "rejected": b.Status.Rejected, "evicted": b.Status.Evicted,
		} {
			c.counter(bridgeFiles, float64(n), b.ID, what)
		}
	}
}
