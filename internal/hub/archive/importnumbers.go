package archive

import (
	"context"
	"fmt"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// taskNumbers gives imported tasks numbers of this hub, and says by which name a task of the export goes here.
//
// An export has its tasks before the messages and approvals that name them. In files of older programs messages come first:
// then tasks keep their numbers, and one whose number is taken here is refused.
type taskNumbers struct {
	here  map[string][]string // the tasks that were here before, by what tells them from others, in order
	times map[string]int      // how often the file had such a task so far
	kept  bool                // tasks keep their numbers
	any   bool                // the file had a task so far
	names map[string]string   // by their names in the file
}

// identity tells a task from others of another number: a task never changes it.
func identity(t parley.Task) string {
	return fmt.Sprintf("%s %d %s %s", t.TraceID, t.CreatedAt.UnixMilli(), t.Requester, t.Source)
}

// learn looks at the tasks that are here, once, before the first is imported.
func (n *taskNumbers) learn(ctx context.Context, i *importer) error {
	if n.here != nil {
		return nil
	}
	n.here, n.times, n.names = map[string][]string{}, map[string]int{}, map[string]string{}
	for after := ""; ; {
		var list []parley.Task
		err := i.View(ctx, i.caller, unit.OpImportHub, func(u *unit.Unit) (err error) {
			u.LeaveOut(nil)
			list, err = u.Tasks().Scan(after, exportPage)
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		for _, t := range list {
			after = t.ID
			n.here[identity(t)] = append(n.here[identity(t)], t.ID)
		}
	}
}

// meet counts a task of the file. It returns the task's name here, or nothing if it is new here.
func (n *taskNumbers) meet(t parley.Task) string {
	key := identity(t)
	times := n.times[key]
	n.times[key], n.any = times+1, true
	if there := n.here[key]; times < len(there) {
		return there[times]
	}
	return ""
}

// mention notes that a message of the file names a task, before or after that.
func (n *taskNumbers) mention(task string) {
	if task != "" && !n.any {
		n.kept = true
	}
}

// name is what a task of the file is called here, or nothing if it was not imported. Without a file, tasks keep their names.
func (n *taskNumbers) name(task string) string {
	if n == nil || n.kept || task == "" {
		return task
	}
	return n.names[task]
}

// rename puts the names that tasks have here into a task.
func (n *taskNumbers) rename(t *parley.Task) error {
	if parent := t.Parent; parent != "" {
		if t.Parent = n.name(parent); t.Parent == "" {
			return notExported("%s is under %s, which is not here", t.ID, parent)
		}
	}
	t.DependsOn = slices.Clone(t.DependsOn)
	for i, needed := range t.DependsOn {
		if t.DependsOn[i] = n.name(needed); t.DependsOn[i] == "" {
			return notExported("%s names a task or a participant that is not here", t.ID)
		}
	}
	return nil
}
