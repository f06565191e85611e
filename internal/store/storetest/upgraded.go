package storetest

import (
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// Upgraded checks a store that an older program has written. In it, arya was asked once and has a live run of task-1. It has
// no tasks and no bridges yet.
func Upgraded(t *testing.T, s storage.Store) {
	t.Helper()
	f := &fixture{t, s}
	f.same("asked", read(f, func(tx storage.Tx) (int, error) { return tx.Queue().CountAsks("arya") }), 1)
	runs := read(f, func(tx storage.Tx) ([]parley.Run, error) { return tx.Runs().InTask("task-1") })
	f.same("runs", joinEach(runs, func(r parley.Run) string { return r.Agent }), "arya")
	f.same("its depth", runs[0].Depth, 0)
	f.same("the next task", f.nextTask(), "task-1")
	f.agents("gendry-2")
	task := newTask(1)
	task.Assignee = "gendry-2"
	f.tasks(task)
	f.same("a new task", f.getTask("task-1"), task)
	spent := read(f, func(tx storage.Tx) (map[string]parley.Usage, error) { return tx.Tasks().Spent("task-1") })
	f.same("spent on it", spent, map[string]parley.Usage{"task-1": {}})
	f.bridges(newBridge("tree")) // the first bridge of the store
	f.same("a new bridge", f.bridgeList(), []parley.Bridge{newBridge("tree")})
}
