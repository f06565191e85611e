package metrics

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/observe/steps"
)

// fake is a hub in which there is something of everything.
type fake struct{ err error }

var at = time.Date(2026, 2, 25, 18, 50, 0, 0, time.UTC)

func (f fake) Figures(context.Context) (hub.Figures, error) {
	return hub.Figures{
		Totals:   parley.Totals{Agents: 3, Conversations: 2, Messages: 7, OpenDeliveries: 4, DeadLetters: 1},
		OpenWork: storage.OpenWork{QueuedTasks: 1, ActiveTasks: 2, PendingApprovals: 3},
		Members: []parley.Agent{
			{ID: "user", Kind: parley.KindHuman},
			{ID: "arya", Kind: parley.KindAgent, Profile: parley.Profile{InboxDepth: 100}},
			{ID: "bulk", Kind: parley.KindAgent, Profile: parley.Profile{InboxDepth: 100, InboxOverflow: parley.OverflowUnbounded}},
		},
		Inboxes: map[string]parley.Inbox{"bulk": {Waking: 7830}, "arya": {Waking: 81, Evicted: 2}, "user": {Waking: 5}},
		Runs:    []parley.Run{{Agent: "arya", State: parley.RunRunning}, {Agent: "arya", State: parley.RunRunning}},
		Behind:  map[string]int64{"nats": 9}, Subscribers: 2, DiskFree: 10, DiskTotal: 20,
		Bridges: []parley.BridgeView{{
			Bridge: parley.Bridge{ID: "paper", Layout: parley.LayoutAgentOS},
			Status: parley.BridgeStatus{Running: true, Imported: 6, Exported: 5, Rejected: 4, Waiting: 3},
		}},
	}, f.err
}

// ended returns the event of the end of a run of arya.
func ended(num int64) hub.Followed {
	began, end := at, at.Add(2*time.Second)
	return hub.Followed{Event: parley.Event{Num: num, Kind: "run.succeeded"}, EndedRun: &parley.Run{
		Agent: "arya", State: parley.RunSucceeded, StartedAt: &began, EndedAt: &end, Usage: parley.Usage{InputTokens: 100, OutputTokens: 20, Cost: .5},
	}}
}

func news() steps.Batch {
	step := func(num int64, state parley.DeliveryState) steps.Step {
		return steps.Step{Num: num, At: at.Add(3 * time.Second), Accepted: at, PreviousAt: at, State: state, Waking: true}
	}
	event := func(num int64, kind parley.EventKind, data string) hub.Followed {
		return hub.Followed{Event: parley.Event{Num: num, Kind: kind, Data: json.RawMessage(data)}}
	}
	return steps.Batch{
		Steps: []steps.Step{step(1, parley.DeliveryAccepted), step(2, parley.DeliverySeen), step(3, parley.DeliveryAnswered), step(4, parley.DeliveryDead)},
		Events: []hub.Followed{
			event(4, "delivery.dead", "{}"), event(5, parley.EventOverdue, "{}"), event(6, parley.EventLate, "{}"),
			ended(7), event(8, "run.running", `{"run":"s","state":"running"}`),
			event(9, "task.completed", "{}"), event(10, "approval.denied", "{}"), event(11, parley.EventAlert, `{"state":"on"}`),
			event(12, parley.EventAlert, `{"state":"off"}`), event(13, parley.EventLoopOpened, "{}"),
		},
	}
}

func scrape(t *testing.T, m *Metrics) string {
	t.Helper()
	answer := httptest.NewRecorder()
	m.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/metrics", http.NoBody))
	return answer.Body.String()
}

func filled(t *testing.T) string {
	m := New()
	m.Watch(fake{})
	m.Wrote(30 * time.Millisecond)
	m.Wrote(150 * time.Millisecond)
	m.Read(time.Millisecond)
	for range 2 { // what is told again is counted once
		if err := m.Consume(t.Context(), news()); err != nil {
			t.Fatal(err)
		}
	}
	return scrape(t, m)
}

func TestMetrics(t *testing.T) {
	got := filled(t)
	for _, line := range []string{
		`message_write_latency_ms_bucket{le="50"} 1`, `message_write_latency_ms_bucket{le="100"} 1`, `message_write_latency_ms_bucket{le="200"} 2`,
		`message_read_latency_ms_count 1`, `inbox_depth{agent="arya"} 81`, `eviction_count{agent="arya"} 2`, `parley_inbox_limit{agent="arya"} 100`,
		`messages_total{status="sent"} 1`, `messages_total{status="delivered"} 0`, `messages_total{status="processed"} 2`, `messages_total{status="failed"} 1`,
		`message_latency_seconds_sum 3`, `message_latency_seconds_count 1`,
		`parley_deliveries_open 4`, `parley_dead_letters 1`, `parley_deliveries_overdue_total 1`, `parley_deliveries_late_total 1`,
		`parley_runs_total{agent="arya",outcome="succeeded"} 1`, `parley_run_duration_seconds_sum 2`, `parley_runs_live{agent="arya",state="running"} 2`,
		`parley_run_tokens_total{agent="arya",direction="input"} 100`, `parley_run_cost_dollars_total{agent="arya"} 0.5`,
		`parley_tasks_open{state="active"} 2`, `parley_task_steps_total{state="completed"} 1`, `parley_approvals_pending 3`,
		`parley_approval_steps_total{state="denied"} 1`, `parley_alerts_total 1`, `parley_loops_opened_total 1`,
		`parley_event_subscribers 2`, `parley_follower_lag_events{follower="nats"} 9`, `parley_disk_free_bytes 10`,
		`parley_bridge_files_total{bridge="paper",what="imported"} 6`, `parley_bridge_files_waiting{bridge="paper"} 3`,
		`parley_bridge_running{bridge="paper",layout="agentos"} 1`, `parley_agents{kind="human"} 1`,
	} {
		if !strings.Contains(got, "\n"+line+"\n") {
			t.Errorf("there is no %s", line)
		}
	}
	for _, name := range []string{"go_goroutines", "process_open_fds", "parley_build_info"} {
		if name == "process_open_fds" && !strings.Contains(got, "process_") {
			continue // not every system tells
		}
		if !strings.Contains(got, name) {
			t.Errorf("there is no %s", name)
		}
	}
	if strings.Contains(got, `agent="user"`) {
		t.Error("people have no depth")
	}
	if strings.Contains(got, `parley_inbox_limit{agent="bulk"}`) || !strings.Contains(got, `inbox_depth{agent="bulk"} 7830`) {
		t.Error("an unbounded inbox has a limit")
	}
}

func TestAHubThatCannotBeLookedAt(t *testing.T) {
	m := New()
	m.Watch(fake{err: errors.New("broken")})
	if got := scrape(t, m); !strings.Contains(got, "broken") {
		t.Errorf("got %q", got)
	}
}

// TestRemovedAgentsHaveNoFigures: however many come and go, those that are there have theirs.
func TestRemovedAgentsHaveNoFigures(t *testing.T) {
	m := New()
	m.Watch(fake{})
	num := int64(0)
	tell := func(e hub.Followed) {
		t.Helper()
		num++
		e.Num = num
		if err := m.Consume(t.Context(), steps.Batch{Events: []hub.Followed{e}}); err != nil {
			t.Fatal(err)
		}
	}
	const own = `parley_runs_total{agent="arya",outcome="succeeded"} 1`
	about := func(kind parley.EventKind) hub.Followed {
		return hub.Followed{Event: parley.Event{Kind: kind, Agent: "arya"}}
	}
	for range 3 { // which is arya's run each time
		tell(about(parley.EventAgentAdded))
		tell(ended(0))
		if got := scrape(t, m); !strings.Contains(got, own) {
			t.Fatalf("there is no %s", own)
		}
		tell(about(parley.EventAgentRemoved))
		tell(ended(0)) // what ends late
		for _, name := range []string{"parley_runs_total", "parley_run_tokens_total", "parley_run_cost_dollars_total"} {
			if strings.Contains(scrape(t, m), name+`{agent="arya"`) {
				t.Errorf("%s has arya, who was removed", name)
			}
		}
	}
	for i := range 3 * maxAgents {
		m.run(parley.Run{Agent: fmt.Sprint(i)})
		m.forget(fmt.Sprint(i))
	}
	m.run(parley.Run{Agent: "new", State: parley.RunFailed})
	if got := scrape(t, m); !strings.Contains(got, `{agent="new",outcome="failed"}`) || strings.Count(got, "\nparley_runs_total{") != 2 {
		t.Errorf("of those that came and went something is left:\n%s", got)
	}
}

func TestAgentsAreBounded(t *testing.T) {
	n := newAgentLabels()
	labels := map[string]bool{}
	for i := range 3 * maxAgents {
		labels[n.label(fmt.Sprint(i))] = true
	}
	if len(labels) != maxAgents+1 || n.label("0") != "0" || !labels[otherAgents] {
		t.Errorf("there are %d labels", len(labels))
	}
}

var named = regexp.MustCompile(`\b(?:parley|message|messages|inbox|eviction|process|go)_[a-z_]+`)

// TestDashboardsNameExistingMetrics: every metric that a dashboard or a rule names is there, and the dashboards are ones.
func TestDashboardsNameExistingMetrics(t *testing.T) {
	there := filled(t)
	files, err := filepath.Glob("../../../deploy/grafana/*.json")
	if err != nil || len(files) < 2 {
		t.Fatalf("%v, %v", files, err)
	}
	asked := map[string]bool{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var board struct {
			Title  string
			Panels []struct {
				Title   string
				Targets []struct{ Expr string }
			}
		}
		if err := json.Unmarshal(raw, &board); err != nil || board.Title == "" || len(board.Panels) == 0 {
			t.Errorf("%s: %v", file, err)
		}
		for _, panel := range board.Panels {
			for _, target := range panel.Targets {
				for _, name := range named.FindAllString(target.Expr, -1) {
					asked[name] = true
				}
			}
		}
	}
	rules, err := os.ReadFile("../../../deploy/parley.rules.yml")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range named.FindAllString(string(rules), -1) {
		asked[name] = true
	}
	for name := range asked {
		if !regexp.MustCompile(`(?m)^` + name + `[ {]`).MatchString(there) {
			t.Errorf("%s is asked for, and not there", name)
		}
	}
	own := regexp.MustCompile(`(?m)^# TYPE ((?:parley|message|messages|inbox|eviction)_[a-z_]+)`)
	for _, name := range own.FindAllStringSubmatch(there, -1) {
		shown := slices.ContainsFunc([]string{"", "_bucket", "_sum", "_count"}, func(end string) bool { return asked[name[1]+end] })
		if !shown {
			t.Errorf("no dashboard shows %s", name[1])
		}
	}
}

// TestTheManualListsTheMetrics compares the table in docs/observing.md with the metrics, both ways.
func TestTheManualListsTheMetrics(t *testing.T) {
	text, err := os.ReadFile("../../../docs/observing.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| Metric | Meaning |")
	table, _, _ = strings.Cut(table, "\n\n")
	listed := map[string]bool{}
	for _, name := range regexp.MustCompile("`([a-z_]+)(\\{[a-z,]+\\})?`").FindAllStringSubmatch(table, -1) {
		listed[name[1]] = true
	}
	there := filled(t)
	own := regexp.MustCompile(`(?m)^# TYPE ((?:parley|message|messages|inbox|eviction)_[a-z_]+)`)
	for _, name := range own.FindAllStringSubmatch(there, -1) {
		if !listed[name[1]] {
			t.Errorf("docs/observing.md does not list %s", name[1])
		}
		delete(listed, name[1])
	}
	for name := range listed {
		t.Errorf("docs/observing.md lists %s, which is not there", name)
	}
}
