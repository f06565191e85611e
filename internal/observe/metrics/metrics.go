// Package metrics measures a hub for Prometheus. Counters follow the events of the hub, and each process of a hub counts all
// events. Gauges are looked up when Prometheus scrapes them.
package metrics

import (
	"context"
	"encoding/json"
	"net/http"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/observe/steps"
)

// Metrics holds all metrics. It is a hub.Observer, which gets timings, and a steps.Consumer, which gets events.
type Metrics struct {
	registry *prometheus.Registry
	hub      Hub
	agents   *agentLabels
	counted  int64 // number of the last counted event

	writes, reads       prometheus.Histogram
	latency             prometheus.Histogram
	messages            *prometheus.CounterVec
	overdue, late       prometheus.Counter
	runs                *prometheus.CounterVec
	duration            prometheus.Histogram
	tokens, cost        *prometheus.CounterVec
	tasks, approvals    *prometheus.CounterVec
	alerts, loopsOpened prometheus.Counter
}

// Hub is the part of a hub from which the gauges read.
type Hub interface {
	// Figures returns the current figures of the hub, or the error of the store.
	Figures(ctx context.Context) (hub.Figures, error)
}

// latencies are the buckets in milliseconds. They include 50, 100 and 200, which the Routing Protocol promises or warns at.
var latencies = []float64{0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 5000}

// New makes the metrics. Watch gives them the hub later.
func New() *Metrics {
	m := &Metrics{registry: prometheus.NewRegistry(), agents: newAgentLabels()}
	m.writes = m.histogram("message_write_latency_ms", "Milliseconds to write a message to disk.", latencies)
	m.reads = m.histogram("message_read_latency_ms", "Milliseconds to read messages: a part of a conversation, a context, an inbox.", latencies)
	m.latency = m.histogram("message_latency_seconds", "Seconds from the acceptance of a message that wakes an agent until the agent first processes it.",
		[]float64{.01, .05, .1, .5, 1, 2, 5, 10, 30, 60, 300, 3600})
	m.messages = m.counters("messages_total", "Steps of messages, by status: sent, delivered, processed or failed.", "status")
	m.overdue = m.counter("parley_deliveries_overdue_total", "Deliveries that were not seen in time.")
	m.late = m.counter("parley_deliveries_late_total", "Deliveries whose deadline was missed.")
	m.runs = m.counters("parley_runs_total", "Runs that have ended, by agent and outcome.", "agent", "outcome")
	m.duration = m.histogram("parley_run_duration_seconds", "Duration of runs in seconds.", []float64{.1, .5, 1, 5, 10, 30, 60, 300, 900, 1800, 7200})
	m.tokens = m.counters("parley_run_tokens_total", "Tokens that runs have used, by agent and direction.", "agent", "direction")
	m.cost = m.counters("parley_run_cost_dollars_total", "Cost of runs in US dollars, by agent.", "agent")
	m.tasks = m.counters("parley_task_steps_total", "Steps of tasks, by the state that they reached.", "state")
	m.approvals = m.counters("parley_approval_steps_total", "Steps of approvals, by the state that they reached.", "state")
	m.alerts = m.counter("parley_alerts_total", "Alerts that the hub has raised.")
	m.loopsOpened = m.counter("parley_loops_opened_total", "Loops between agents that the hub has stopped.")
	m.registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}), buildInfo())
	for _, status := range parley.LogStatuses() {
		m.messages.WithLabelValues(status)
	}
	return m
}

// buildInfo returns the gauge with the version of this program.
func buildInfo() prometheus.Collector {
	g := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "parley_build_info", Help: "The version of this hub; the value is always 1.",
		ConstLabels: prometheus.Labels{"version": parley.Version, "go": runtime.Version()},
	})
	g.Set(1)
	return g
}

func (m *Metrics) histogram(name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	m.registry.MustRegister(h)
	return h
}

func (m *Metrics) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	m.registry.MustRegister(c)
	return c
}

func (m *Metrics) counters(name, help string, labels ...string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	m.registry.MustRegister(c)
	return c
}

// Watch adds the gauges of a hub. The caller must call it once.
func (m *Metrics) Watch(h Hub) {
	m.hub = h
	m.registry.MustRegister(&gaugeCollector{hub: h})
}

// ServeHTTP answers with all metrics.
func (m *Metrics) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.HTTPErrorOnError}).ServeHTTP(w, r)
}

// Wrote implements hub.Observer.
func (m *Metrics) Wrote(took time.Duration) { m.writes.Observe(milliseconds(took)) }

// Read implements hub.Observer.
func (m *Metrics) Read(took time.Duration) { m.reads.Observe(milliseconds(took)) }

func milliseconds(d time.Duration) float64 { return float64(d) / float64(time.Millisecond) }

// Consume implements steps.Consumer. It counts an event once, even if it gets it again.
func (m *Metrics) Consume(_ context.Context, n steps.Batch) error {
	for _, s := range n.Steps {
		if s.Num > m.counted {
			m.step(s)
		}
	}
	for _, e := range n.Events {
		if e.Num > m.counted {
			m.event(e)
			m.counted = e.Num
		}
	}
	return nil
}

func (m *Metrics) step(s steps.Step) {
	if s.Significant() {
		m.messages.WithLabelValues(s.Status()).Inc()
	}
	if s.IsFirstProcessing() {
		m.latency.Observe(s.Latency().Seconds())
	}
}

func (m *Metrics) run(r parley.Run) {
	agent := m.agents.label(r.Agent)
	m.runs.WithLabelValues(agent, string(r.State)).Inc()
	if r.StartedAt != nil && r.EndedAt != nil {
		m.duration.Observe(r.EndedAt.Sub(*r.StartedAt).Seconds())
	}
	m.tokens.WithLabelValues(agent, "input").Add(float64(r.InputTokens))
	m.tokens.WithLabelValues(agent, "output").Add(float64(r.OutputTokens))
	m.cost.WithLabelValues(agent).Add(r.Cost)
}

func (m *Metrics) event(e hub.Followed) {
	switch {
	case e.EndedRun != nil:
		m.run(*e.EndedRun)
	case e.Kind == parley.EventAgentRemoved:
		m.forget(e.Agent)
	case e.Kind == parley.EventAgentAdded:
		m.agents.add(e.Agent)
	case e.Kind == parley.EventOverdue:
		m.overdue.Inc()
	case e.Kind == parley.EventLate:
		m.late.Inc()
	case e.Kind == parley.EventLoopOpened:
		m.loopsOpened.Inc()
	case e.Kind == parley.EventAlert:
		if isRaised(e) {
			m.alerts.Inc()
		}
	case e.Kind.Within("task") && e.Kind != parley.EventTaskProgress:
		m.tasks.WithLabelValues(stateOf(e, "task.")).Inc()
	case e.Kind.Within("approval"):
		m.approvals.WithLabelValues(stateOf(e, "approval.")).Inc()
	}
}

// forget drops the counters of a removed agent.
func (m *Metrics) forget(agent string) {
	m.agents.remove(agent)
	for _, counters := range []*prometheus.CounterVec{m.runs, m.tokens, m.cost} {
		counters.DeletePartialMatch(prometheus.Labels{"agent": agent})
	}
}

// stateOf returns the state in the kind of an event: the part after the prefix family.
func stateOf(e hub.Followed, family string) string { return string(e.Kind)[len(family):] }

func isRaised(e hub.Followed) bool {
	var data struct {
		State string `json:"state"`
	}
	return json.Unmarshal(e.Data, &data) == nil && data.State == "on"
}
