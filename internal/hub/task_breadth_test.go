package hub_test

import (
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// What is open under one root is bounded; what has ended does not count, and other roots are free.
func TestOneRootHasSoManyOpenTasks(t *testing.T) {
	t.Parallel()
	w := newTeam(t)
	root := resultOf[parley.TaskView](w)(w.NewTask(ctx, user, parley.NewTask{Text: "many things"}))
	w.NoError(w.Store.Update(ctx, func(tx storage.Tx) error {
		for n := range parley.MaxTasksOpen {
			id, err := tx.Tasks().NextID()
			if err != nil {
				return err
			}
			one := root.Task
			one.ID, one.Parent, one.Depth, one.Message = id, root.ID, 1, ""
			if n == 0 {
				one.Status, one.EndedAt = parley.TaskCompleted, &one.CreatedAt
			}
			if err := tx.Tasks().Insert(one); err != nil {
				return err
			}
		}
		return nil
	}))
	sub := parley.NewTask{Text: "one more", Parent: root.ID, Assignee: "writer"}
	resultOf[parley.TaskView](w)(w.NewTask(ctx, user, sub))
	_, err := w.NewTask(ctx, user, sub)
	wantError(t, err, refusalError(parley.DependencyFailed, "", "1024 tasks under task-1 are open, the limit is 1024", "wait until some of them have ended"))
	w.Delegate(user, "writer", "of another root")
}
