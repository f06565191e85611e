package postgres

import (
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"

	"github.com/parley-hub/parley"
)

// busy adds asks, tasks, rules, approvals and notices to a crowd, most of which have ended.
func busy(t *testing.T, c *pgx.Conn) {
	t.Helper()
	for _, statement := range []string{
		`UPDATE deliveries SET purpose = 'ask' WHERE message % 331 = 0`,
		`UPDATE runs SET task = 'task-' || (1 + created_at % 2000)`,
		`INSERT INTO waits (id, message, waiter, target, ask, depth, since, run, state, until, node)
			SELECT id, seq, 1 + seq % 97, 1, 1, 0, 0, CASE WHEN seq % 2 = 0 THEN id END,
				CASE WHEN seq % 400 < 2 THEN 'waiting' ELSE 'answered' END, seq, 'node-' || (seq % 3) FROM messages`,
		`INSERT INTO tasks (num, parent, root, depth, requester, original, source, created_at, assignee, title, priority, deadline, message,
				trace, status, attempt, updated_at, callback_to, callback)
			SELECT seq, CASE WHEN seq % 10 > 0 THEN seq - 1 END, seq - seq % 10, 0, 1 + seq % 97, 1, '', 0, 1 + seq % 89, '', 5, seq, id, '',
				CASE WHEN seq % 400 = 1 THEN 'active' ELSE 'completed' END, 1, 0, id, id
			FROM messages WHERE seq >= 10`,
		`INSERT INTO task_needs (task, needs) SELECT num, num - 1 FROM tasks WHERE num > 10`,
		`INSERT INTO permissions (agent, target, effect, approval, human, created_by, created_at)
			SELECT a.num, b.num, 'allow', 0, 0, 1, 0 FROM agents a CROSS JOIN agents b`,
		`INSERT INTO approvals (id, agent, tool, args, digest, summary, rule, human, created_at, task, woken_by, trace, hops, source, state, decider, next_at, outcome)
			SELECT id, 1 + seq % 97, '', '', seq, '', '', 0, 0, seq, id, seq, 0, '', CASE WHEN seq % 400 = 0 THEN 'pending' ELSE 'executed' END,
				1 + seq % 89, seq, id FROM messages`,
		`INSERT INTO notices (id, person, key, kind, title, text, approval, created_at, attempt, next_at, done)
			SELECT id, 1, seq, '', '', '', id, seq, 0, seq, CASE WHEN seq % 400 > 0 THEN 1 ELSE 0 END FROM messages`,
		`INSERT INTO bridges (num, id, layout, root, agents, outside, paused, created_by, created_at, since, cursor)
			VALUES (1, 'tree', 'inbox', '/srv', '[]', 0, 0, 1, 0, 0, 0)`,
		`INSERT INTO bridge_files (bridge, path, digest, name, sender, message, at) SELECT 1, 'p' || seq, '', 'n' || seq, '', id, seq FROM messages`,
		`INSERT INTO departures (num, bridge, message, recipient, folder, name, state, at)
			SELECT seq, 1, id, 1, 'agent-1', 'n' || seq, CASE WHEN seq % 400 = 0 THEN 'due' ELSE 'seen' END, 0 FROM messages`,
	} {
		if _, err := c.Exec(t.Context(), statement); err != nil {
			t.Fatal(err)
		}
	}
}

func workQuestions() map[string]func(storage.Tx) error {
	id := uuid.UUID{15: 50}.String() // of a wait, a message, a run, an approval and a notice
	late := uuid.UUID{14: 0x40}.String()
	tasks := func(f parley.TaskFilter) func(storage.Tx) error {
		f.Limit = 5
		return func(tx storage.Tx) error { return found(tx.Tasks().List(f, "")) }
	}
	approvals := func(f parley.ApprovalFilter, decider string) func(storage.Tx) error {
		f.Before, f.Limit = late, 5
		return func(tx storage.Tx) error { return found(tx.Approvals().List(f, decider, false)) }
	}
	return map[string]func(storage.Tx) error{
		"asked":             func(tx storage.Tx) error { return found(tx.Queue().CountAsks("agent-3")) },
		"ask":               func(tx storage.Tx) error { return found(tx.Waits().Ask(id)) },
		"waits in":          func(tx storage.Tx) error { return found(tx.Waits().InConversation(id)) },
		"waits of":          func(tx storage.Tx) error { return found(tx.Waits().OfRun(id)) },
		"waits by":          func(tx storage.Tx) error { return found(tx.Waits().OfWaiter("agent-3")) },
		"waits at":          func(tx storage.Tx) error { return found(tx.Waits().OfNode("node-1")) },
		"waits due":         func(tx storage.Tx) error { return found(tx.Waits().Due(time.UnixMilli(crowded), 5)) },
		"runs in a task":    func(tx storage.Tx) error { return found(tx.Runs().InTask("task-3")) },
		"session of a task": func(tx storage.Tx) error { return found(tx.Runs().TaskSession("agent-3", "task-3")) },
		"next task":         func(tx storage.Tx) error { return found(tx.Tasks().NextID()) },
		"task":              func(tx storage.Tx) error { return found(tx.Tasks().Get("task-300")) },
		"several tasks":     func(tx storage.Tx) error { return found(tx.Tasks().GetAll([]string{"task-300", "task-301"})) },
		"scanned":           func(tx storage.Tx) error { return found(tx.Tasks().Scan("task-300", 5)) },
		"begun":             func(tx storage.Tx) error { return found(tx.Tasks().BegunBy(id)) },
		"children":          func(tx storage.Tx) error { return found(tx.Tasks().OpenChildren("task-300")) },
		"tree":              func(tx storage.Tx) error { return found(tx.Tasks().Tree("task-300")) },
		"open under":        func(tx storage.Tx) error { return found(tx.Tasks().OpenUnder("task-300")) },
		"dependants":        func(tx storage.Tx) error { return found(tx.Tasks().Dependants("task-300")) },
		"awaited":           func(tx storage.Tx) error { return found(tx.Tasks().Awaited("agent-3", 5)) },
		"awaited by":        func(tx storage.Tx) error { return found(tx.Tasks().CountAwaited()) },
		"assigned":          func(tx storage.Tx) error { return found(tx.Tasks().AssignedTo("agent-3")) },
		"tasks due":         func(tx storage.Tx) error { return found(tx.Tasks().Due(time.UnixMilli(crowded), 5)) },
		"spent on a tree":   func(tx storage.Tx) error { return found(tx.Tasks().Spent("task-300")) },
		"tasks":             tasks(parley.TaskFilter{}),
		"tasks for one":     tasks(parley.TaskFilter{Assignee: "agent-3"}),
		"tasks of one":      tasks(parley.TaskFilter{Requester: "agent-3"}),
		"rules":             func(tx storage.Tx) error { return found(tx.Permissions().OfAgent("agent-3")) },
		"approval":          func(tx storage.Tx) error { return found(tx.Approvals().Get(id)) },
		"pending of one":    func(tx storage.Tx) error { return found(tx.Approvals().Pending("agent-3")) },
		"pending by":        func(tx storage.Tx) error { return found(tx.Approvals().OldestPending()) },
		"pending in a task": func(tx storage.Tx) error { return found(tx.Approvals().InTask("task-300")) },
		"approvals due":     func(tx storage.Tx) error { return found(tx.Approvals().Due(time.UnixMilli(crowded), 5)) },
		"approvals":         approvals(parley.ApprovalFilter{}, ""),
		"those pending":     approvals(parley.ApprovalFilter{State: parley.ApprovalPending}, ""),
		"those of one":      approvals(parley.ApprovalFilter{Agent: "agent-3"}, ""),
		"those for one":     approvals(parley.ApprovalFilter{}, "agent-3"),
		"file":              func(tx storage.Tx) error { return found(tx.Bridges().File("tree", parley.BridgeFile{Path: "p9"})) },
		"files known": func(tx storage.Tx) error {
			return found(tx.Bridges().KnownFiles("tree", []parley.BridgeFile{{Path: "p9"}}))
		},
		"file named":        func(tx storage.Tx) error { return found(tx.Bridges().FileNamed("tree", "n9", "")) },
		"file of a message": func(tx storage.Tx) error { return found(tx.Bridges().FileOfMessage("tree", id)) },
		"last file":         func(tx storage.Tx) error { return found(tx.Bridges().LastFile("tree", "n1")) },
		"departure":         func(tx storage.Tx) error { return found(tx.Bridges().Departure("tree", id, "agent-3")) },
		"departed as":       func(tx storage.Tx) error { return found(tx.Bridges().DepartureNamed("tree", "agent-1", "n9")) },
		"departed":          func(tx storage.Tx) error { return found(tx.Bridges().DepartureNamed("tree", "", "n9")) },
		"departures due":    func(tx storage.Tx) error { return found(tx.Bridges().Departures("tree", parley.DepartureDue, 9, 5)) },
		"notices":           func(tx storage.Tx) error { return found(tx.Notices().Due(time.UnixMilli(crowded), 5)) },
	}
}
