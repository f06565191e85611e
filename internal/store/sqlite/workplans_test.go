package sqlite

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store"
)

// busy adds asks, tasks, rules, approvals and notices to a crowd, most of which have ended.
func busy(t *testing.T, home string) {
	t.Helper()
	crowd(t, home)
	raw(t, home,
		`UPDATE deliveries SET purpose = 'ask' WHERE message % 7 = 0`,
		`UPDATE runs SET task = 'task-' || (1 + created_at % 600)`,
		`INSERT INTO waits (id, message, waiter, target, ask, depth, since, run, state, until, node)
			SELECT id, seq, 1 + seq % 19, 1, 1, 0, 0, CASE WHEN seq % 2 = 0 THEN id END, CASE WHEN seq % 50 = 0 THEN 'waiting' ELSE 'answered' END,
				seq, 'node-' || (seq % 3) FROM messages`,
		`INSERT INTO tasks (num, parent, root, depth, requester, original, source, created_at, assignee, title, priority, deadline, message,
				trace, status, attempt, updated_at, callback_to, callback)
			SELECT seq, CASE WHEN seq % 10 > 0 THEN seq - 1 END, seq - seq % 10, 0, 1 + seq % 19, 1, '', 0, 1 + seq % 17, '', 5, seq, id, '',
				CASE WHEN seq % 50 = 1 THEN 'active' ELSE 'completed' END, 1, 0, id, id
			FROM messages WHERE seq >= 10`,
		`INSERT INTO task_needs (task, needs) SELECT num, num - 1 FROM tasks WHERE num > 10`,
		`INSERT INTO permissions (agent, target, effect, approval, human, created_by, created_at)
			SELECT a.num, b.num, 'allow', 0, 0, 1, 0 FROM agents a JOIN agents b`,
		`INSERT INTO approvals (id, agent, tool, args, digest, summary, rule, human, created_at, task, woken_by, trace, hops, source, state, decider, next_at, outcome)
			SELECT id, 1 + seq % 19, '', '', hex(id), '', '', 0, 0, seq, id, hex(id), 0, '', CASE WHEN seq % 50 = 0 THEN 'pending' ELSE 'executed' END,
				1 + seq % 17, seq, id FROM messages`,
		`INSERT INTO notices (id, person, key, kind, title, text, approval, created_at, attempt, next_at, done)
			SELECT id, 1, hex(id), '', '', '', id, seq, 0, seq, seq % 50 > 0 FROM messages`,
		`INSERT INTO notes (num, agent, conv, author, text, key, created_at, digest, checksum)
			SELECT seq, CASE WHEN seq % 2 = 0 THEN 1 + seq % 19 END, CASE WHEN seq % 2 = 1 THEN conv END, 1 + seq % 17, '', seq, 0, x'00', x'00' FROM messages`,
		`INSERT INTO bridges (num, id, layout, root, agents, outside, paused, created_by, created_at, since, cursor)
			VALUES (1, 'tree', 'inbox', '/srv', '[]', 0, 0, 1, 0, 0, 0)`,
		`INSERT INTO bridge_files (bridge, path, digest, name, sender, message, at) SELECT 1, 'p' || seq, '', 'n' || seq, '', id, seq FROM messages`,
		`INSERT INTO departures (num, bridge, message, recipient, folder, name, state, at)
			SELECT seq, 1, id, 1, 'agent-1', 'n' || seq, CASE WHEN seq % 50 = 0 THEN 'due' ELSE 'seen' END, 0 FROM messages`,
	)
}

// TestWorkIsFoundByIndex holds however many waits, tasks and approvals there are, of which few are open.
func TestWorkIsFoundByIndex(t *testing.T) {
	s := spyOn(t, busy)
	id := uuid.UUID{15: 50}.String() // of a wait, a message, a run, an approval and a notice
	now := time.UnixMilli(900)
	tasks := func(f parley.TaskFilter) func(storage.Tx) error {
		f.Before, f.Limit = "task-700", 5
		return func(tx storage.Tx) error { return found(tx.Tasks().List(f, "")) }
	}
	approvals := func(f parley.ApprovalFilter, decider string) func(storage.Tx) error {
		f.Before, f.Limit = id, 5
		return func(tx storage.Tx) error { return found(tx.Approvals().List(f, decider, false)) }
	}
	asks := func(of string, open bool) func(storage.Tx) error {
		f := parley.AskFilter{Open: open, Before: 900, Limit: 5}
		return func(tx storage.Tx) error { return found(tx.Waits().Asks(of, f)) }
	}
	for name, c := range map[string]struct {
		want string
		ask  func(storage.Tx) error
	}{
		"asked":                 {"deliveries_asked (agent=?)", func(tx storage.Tx) error { return found(tx.Queue().CountAsks("agent-3")) }},
		"the ask of a message":  {"waits_ask (message=?)", func(tx storage.Tx) error { return found(tx.Waits().Ask(id)) }},
		"waits in a place":      {"waits_message (message=?)", func(tx storage.Tx) error { return found(tx.Waits().InConversation(id)) }},
		"waits of a run":        {"waits_run (run=?)", func(tx storage.Tx) error { return found(tx.Waits().OfRun(id)) }},
		"waits by one":          {"waits_waiter (waiter=?)", func(tx storage.Tx) error { return found(tx.Waits().OfWaiter("agent-3")) }},
		"parked asks":           {"waits_parked (target=?)", func(tx storage.Tx) error { return found(tx.Waits().Parked("agent-3")) }},
		"the ask of a task":     {"waits_work (work=?)", func(tx storage.Tx) error { return found(tx.Waits().ParkedAs("task-300")) }},
		"late asks of a run":    {"waits_late (run=?)", func(tx storage.Tx) error { return found(tx.Waits().AsksOfRun(id)) }},
		"asks":                  {"waits_ask (message<?)", asks("", false)},
		"asks that are open":    {"waits_asks_open (message<?)", asks("", true)},
		"asks by one":           {"waits_asked_by (waiter=? AND message<?)", asks("agent-3", false)},
		"asks to one":           {"waits_asked (target=? AND message<?)", asks("agent-3", false)},
		"open asks of one":      {"waits_asks_open (message<?)", asks("agent-3", true)},
		"waits due":             {"waits_until (until<?)", func(tx storage.Tx) error { return found(tx.Waits().Due(now, 5)) }},
		"wait put":              {"waits USING PRIMARY KEY (id=?)", func(tx storage.Tx) error { return tx.Waits().Put(parley.Wait{ID: id}) }},
		"wait erased":           {"waits USING PRIMARY KEY (id=?)", func(tx storage.Tx) error { return tx.Waits().Erase(id) }},
		"runs in a task":        {"runs_task (task=?)", func(tx storage.Tx) error { return found(tx.Runs().InTask("task-3")) }},
		"the session of a task": {"runs_task (task=?)", func(tx storage.Tx) error { return found(tx.Runs().TaskSession("agent-3", "task-3")) }},
		"task":                  {"t USING INTEGER PRIMARY KEY (rowid=?)", func(tx storage.Tx) error { return found(tx.Tasks().Get("task-300")) }},
		"what it needs":         {"n USING PRIMARY KEY (task=?)", func(tx storage.Tx) error { return found(tx.Tasks().Get("task-300")) }},
		"task put": {"tasks USING INTEGER PRIMARY KEY (rowid=?)", func(tx storage.Tx) error {
			return tx.Tasks().Put(parley.Task{ID: "task-300", Assignee: "agent-3"})
		}},
		"task begun":     {"tasks_message (message=?)", func(tx storage.Tx) error { return found(tx.Tasks().BegunBy(id)) }},
		"children":       {"tasks_parent (parent=?)", func(tx storage.Tx) error { return found(tx.Tasks().OpenChildren("task-300")) }},
		"open under":     {"tasks_open (root=?)", func(tx storage.Tx) error { return found(tx.Tasks().OpenUnder("task-300")) }},
		"awaited":        {"tasks_awaited (requester=?)", func(tx storage.Tx) error { return found(tx.Tasks().Awaited("agent-3", 5)) }},
		"assigned":       {"tasks_assigned (assignee=?)", func(tx storage.Tx) error { return found(tx.Tasks().AssignedTo("agent-3")) }},
		"tasks due":      {"tasks_due (deadline<?)", func(tx storage.Tx) error { return found(tx.Tasks().Due(now, 5)) }},
		"tasks":          {"t USING INTEGER PRIMARY KEY (rowid<?)", tasks(parley.TaskFilter{})},
		"tasks for one":  {"tasks_assignee (assignee=? AND num<?)", tasks(parley.TaskFilter{Assignee: "agent-3"})},
		"tasks of one":   {"tasks_requester (requester=? AND num<?)", tasks(parley.TaskFilter{Requester: "agent-3"})},
		"approval":       {"p USING PRIMARY KEY (id=?)", func(tx storage.Tx) error { return found(tx.Approvals().Get(id)) }},
		"approval put":   {"approvals USING PRIMARY KEY (id=?)", func(tx storage.Tx) error { return tx.Approvals().Put(parley.Approval{ID: id}) }},
		"pending of one": {"approvals_open (agent=?)", func(tx storage.Tx) error { return found(tx.Approvals().Pending("agent-3")) }},
		"pending in one": {"approvals_task (task=?)", func(tx storage.Tx) error { return found(tx.Approvals().InTask("task-300")) }},
		"approvals due":  {"approvals_due (next_at<?)", func(tx storage.Tx) error { return found(tx.Approvals().Due(now, 5)) }},
		"approvals":      {"p USING PRIMARY KEY (id<?)", approvals(parley.ApprovalFilter{}, "")},
		"those pending":  {"approvals_undecided (id<?)", approvals(parley.ApprovalFilter{State: parley.ApprovalPending}, "")},
		"those of one":   {"approvals_agent (agent=? AND id<?)", approvals(parley.ApprovalFilter{Agent: "agent-3"}, "")},
		"those for one":  {"approvals_decider (decider=? AND id<?)", approvals(parley.ApprovalFilter{}, "agent-3")},
		"notes of one":   {"notes_agent (agent=?)", func(tx storage.Tx) error { return found(tx.Notes().Of("agent-3", "")) }},
		"notes of both":  {"MULTI-INDEX OR", func(tx storage.Tx) error { return found(tx.Notes().Of("agent-3", id)) }},
		"note":           {"n USING INTEGER PRIMARY KEY (rowid=?)", func(tx storage.Tx) error { return found(tx.Notes().Get("note-300")) }},
		"notes":          {"n USING INTEGER PRIMARY KEY (rowid>?)", func(tx storage.Tx) error { return found(tx.Notes().Scan("note-300", 5)) }},
		"note by key":    {"notes_key (author=? AND key=?)", func(tx storage.Tx) error { return found(tx.Notes().Keyed("agent-3", "300")) }},
		"notes shared":   {"notes_author (author=?)", func(tx storage.Tx) error { return found(tx.Notes().Shared("agent-3")) }},
		"notices":        {"notices_due (next_at<?)", func(tx storage.Tx) error { return found(tx.Notices().Due(now, 5)) }},
		"notice put":     {"notices USING PRIMARY KEY (id=?)", func(tx storage.Tx) error { return tx.Notices().Put(parley.Notice{ID: id}) }},
		"file":           {"f USING PRIMARY KEY (bridge=? AND path=? AND digest=?)", func(tx storage.Tx) error { return found(tx.Bridges().File("tree", parley.BridgeFile{Path: "p9"})) }},
		"files known": {"bridge_files USING PRIMARY KEY (bridge=? AND path=?)", func(tx storage.Tx) error {
			return found(tx.Bridges().KnownFiles("tree", []parley.BridgeFile{{Path: "p9"}}))
		}},
		"file named":       {"bridge_files_name (bridge=? AND name=?)", func(tx storage.Tx) error { return found(tx.Bridges().FileNamed("tree", "n9", "")) }},
		"file of one":      {"bridge_files_name (bridge=? AND name=?)", func(tx storage.Tx) error { return found(tx.Bridges().FileNamed("tree", "n9", "agent-1")) }},
		"last file":        {"bridge_files_name (bridge=? AND name>? AND name<?)", func(tx storage.Tx) error { return found(tx.Bridges().LastFile("tree", "n1")) }},
		"departure":        {"departures_message (message=? AND bridge=? AND recipient=?)", func(tx storage.Tx) error { return found(tx.Bridges().Departure("tree", id, "agent-1")) }},
		"departure by num": {"d USING INTEGER PRIMARY KEY (rowid=?)", func(tx storage.Tx) error { return found(tx.Bridges().DepartureAt("tree", 50)) }},
		"departed as":      {"departures_name (bridge=? AND folder=? AND name=?)", func(tx storage.Tx) error { return found(tx.Bridges().DepartureNamed("tree", "agent-1", "n9")) }},
		"last departure":   {"departures_name (bridge=? AND folder=? AND name>? AND name<?)", func(tx storage.Tx) error { return found(tx.Bridges().LastDeparture("tree", "agent-1", "n1")) }},
		"departures due":   {"departures_open (bridge=? AND state=? AND num>?)", func(tx storage.Tx) error { return found(tx.Bridges().Departures("tree", parley.DepartureDue, 9, 5)) }},
		"notices forgotten": {"notices_done (created_at<?)", func(tx storage.Tx) error {
			return found(tx.Notices().Forget(now, 5))
		}},
	} {
		t.Run(name, func(t *testing.T) { checkPlans(t, s, c.want, c.ask) })
	}
}

// TestWorkIsPutTogetherByIndex looks at questions whose answers are small enough to be sorted.
func TestWorkIsPutTogetherByIndex(t *testing.T) {
	s := spyOn(t, busy)
	id := uuid.UUID{15: 50}
	for name, c := range map[string]struct {
		want []string
		ask  func(storage.Tx) error
	}{
		"damaged work": {[]string{
			"waits_asks_open", "tasks_open", "tasks_parent (parent=?)", "d USING PRIMARY KEY (message=?)",
		}, func(tx storage.Tx) error { return found(tx.Queue().DamagedWork()) }},
		"damaged quiet deliveries": {[]string{"deliveries_ready (agent>?)"}, func(tx storage.Tx) error {
			_, _, err := tx.Queue().DamagedQuiet(storage.QuietMark{Agent: 1, Place: 9}, 5)
			return err
		}},
		"waits at a node": {[]string{"waits_node (node=?)"}, func(tx storage.Tx) error { return found(tx.Waits().OfNode("node-1")) }},
		"tree":            {[]string{"tasks_parent (parent=?)"}, func(tx storage.Tx) error { return found(tx.Tasks().Tree("task-300")) }},
		"dependants":      {[]string{"task_needs_needs (needs=?)"}, func(tx storage.Tx) error { return found(tx.Tasks().Dependants("task-300")) }},
		"rules":           {[]string{"p USING PRIMARY KEY (agent=?)"}, func(tx storage.Tx) error { return found(tx.Permissions().OfAgent("agent-3")) }},
		"came":            {[]string{"bridge_files_message (message=? AND bridge=?)"}, func(tx storage.Tx) error { return found(tx.Bridges().FileOfMessage("tree", id.String())) }},
		"pending by":      {[]string{"approvals_open"}, func(tx storage.Tx) error { return found(tx.Approvals().OldestPending()) }},
		"awaited by":      {[]string{"tasks_awaited"}, func(tx storage.Tx) error { return found(tx.Tasks().CountAwaited()) }},
		"spent":           {[]string{"tasks_parent (parent=?)", "runs_task (task=?)"}, func(tx storage.Tx) error { return found(tx.Tasks().Spent("task-300")) }},
		"tasks of a reader": {[]string{"tasks_requester (requester=?)", "tasks_assignee (assignee=?)", "tasks_parent (parent=?)"}, func(tx storage.Tx) error {
			return found(tx.Tasks().List(parley.TaskFilter{Limit: 5}, "agent-3"))
		}},
		"redaction": {
			[]string{
				"tasks_message (message=?)", "tasks_callback (callback=?)", "run_posts_message (message=?)", "approvals_woken_by (woken_by=?)",
				"approvals_outcome (outcome=?)", "approvals_trace (trace=?)",
			},
			func(tx storage.Tx) error {
				m := parley.Message{ID: id.String(), Seq: 50}
				return tx.Messages().Redact(m.Redacted(time.UnixMilli(1)))
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			s.asked = nil
			if err := store.New(s).Update(t.Context(), c.ask); err != nil {
				t.Fatal(err)
			}
			var plans []string
			for _, a := range s.asked {
				plans = append(plans, plan(t, s.writer, a)...)
			}
			text := strings.Join(plans, "\n")
			for _, want := range c.want {
				if !strings.Contains(text, want) {
					t.Errorf("%s is not used:\n%s", want, text)
				}
			}
			for _, slow := range []string{"SCAN t\n", "SCAN r\n", "SCAN w\n", "SCAN p\n", "SCAN approvals\n", "AUTOMATIC"} {
				if strings.Contains(text+"\n", slow) {
					t.Errorf("%s in\n%s", slow, text)
				}
			}
		})
	}
}

// TestAnAskCostsFewStatements counts what an ask adds to its two messages: beginning to wait, and the end of it.
func TestAnAskCostsFewStatements(t *testing.T) {
	s := spyOn(t, busy)
	w := parley.Wait{ID: uuid.NewString(), Message: uuid.UUID{15: 51}.String(), Waiter: "agent-1", Target: "agent-2", State: parley.WaitWaiting}
	err := store.New(s).Update(t.Context(), func(tx storage.Tx) error {
		if err := found(tx.Agents().Find("agent-1")); err != nil {
			return err
		}
		if err := found(tx.Agents().Find("agent-2")); err != nil {
			return err
		}
		s.asked = nil
		if err := tx.Waits().Insert(w); err != nil {
			return err
		}
		w.State = parley.WaitAnswered
		if err := tx.Waits().Put(w); err != nil {
			return err
		}
		if len(s.asked) != 2 {
			return fmt.Errorf("%d statements: %v", len(s.asked), s.asked)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
