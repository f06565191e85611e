package hub_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

func TestHealthIsKeptAndOnlyItsChangeIsAnEvent(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.NoError(w.SweepAttendance(ctx))
	after := w.LastEventNumber()
	changes := func(want int) {
		t.Helper()
		n := 0
		for _, e := range eventsAfter(w, after) {
			if e.Kind == parley.EventAgentHealth {
				n++
				same(t, "whose", e.Agent, "arya")
			}
		}
		same(t, "events", n, want)
	}
	beat := func(payload string) {
		w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Type: parley.TypeHeartbeat, Payload: json.RawMessage(payload)})
	}
	kept := func(want parley.Health) {
		t.Helper()
		want.At = w.Clock.Now()
		same(t, "in who", w.presenceOf("arya").Health, &want)
		same(t, "in its view", resultOf[parley.AgentView](w)(w.AgentView(ctx, as("ned"), "arya")).Health, &want)
	}
	same(t, "at first", w.presenceOf("arya").Health, (*parley.Health)(nil))
	beat(`{"health":"healthy","metrics":{"cpu_usage":0.35,"active_tasks":2},"uptime_ms":3600000}`)
	kept(parley.Health{Health: "healthy", Metrics: json.RawMessage(`{"cpu_usage":0.35,"active_tasks":2}`), UptimeMS: 3_600_000})
	changes(1)
	w.Clock.Advance(time.Second)
	beat(`{"health":"healthy"}`)
	kept(parley.Health{Health: "healthy"})
	changes(1)
	resultOf[parley.Health](w)(w.ReportHealth(ctx, as("arya"), parley.Health{Health: "unhealthy", Metrics: json.RawMessage(`{ "memory_mb": 1 }`)}))
	kept(parley.Health{Health: "unhealthy", Metrics: json.RawMessage(`{"memory_mb":1}`)})
	changes(2)
	beat(`{"note":"no word of health"}`)
	kept(parley.Health{Health: "unhealthy", Metrics: json.RawMessage(`{"memory_mb":1}`)})
	w.Restart()
	kept(parley.Health{Health: "unhealthy", Metrics: json.RawMessage(`{"memory_mb":1}`)})
}

func TestBadHealthIsRefused(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	beat := func(payload string) func() error {
		return func() error {
			_, err := w.Post(ctx, as("arya"), parley.Draft{Direct: []string{"ned"}, Type: parley.TypeHeartbeat, Payload: json.RawMessage(payload)})
			return err
		}
	}
	report := func(who string, h parley.Health) func() error {
		return func() error { _, err := w.ReportHealth(ctx, as(who), h); return err }
	}
	words := "use healthy, degraded or unhealthy"
	w.assertRefusals(t, []refusal{
		{"a word", beat(`{"health":"fine"}`), refusalError(parley.BadInput, "", `unknown health "fine"`, words)},
		{
			"no object", beat(`{"health":"healthy","metrics":[1]}`),
			refusalError(parley.BadInput, "", "metrics is not a JSON object", "give one JSON object"),
		},
		{"no number", beat(`{"health":"healthy","uptime_ms":"long"}`), refusalError(parley.BadInput, "", "the payload is not a health report",
			`give {"health": "healthy", "metrics": {"active_tasks": 1}, "uptime_ms": 60000}`)},
		{"nothing", report("arya", parley.Health{}), refusalError(parley.BadInput, "", `unknown health ""`, words)},
		{
			"before the start", report("arya", parley.Health{Health: "healthy", UptimeMS: -1}),
			refusalError(parley.BadInput, "", "uptime_ms is -1", "use milliseconds since the start, or leave it out"),
		},
		{
			"a person", report("user", parley.Health{Health: "healthy"}),
			refusalError(parley.BadInput, "", "user is not an agent", "agents report their own health"),
		},
	})
}
