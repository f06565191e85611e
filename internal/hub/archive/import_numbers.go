package archive

import (
	"context"
	"fmt"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// taskNumbers gives imported tasks numbers of this hub, and maps the names of the tasks in the file to their names here.
//
// An export has its tasks before the messages and approvals that name them. In files of older programs messages come first. Then
// tasks keep their numbers, and the import refuses a task whose number is taken here.
type taskNumbers struct {
	existing    map[string][]string // the tasks of the hub before the import, in order, by identity
	read        map[string]int      // by identity: how many such tasks the file had so far
	keepNumbers bool                // tasks keep their numbers
	anyRead     bool                // the file had a task so far
	localNames  map[string]string   // the names here, by the names in the file
}

// taskIdentity returns what identifies a task besides its number. A task never changes it.
func taskIdentity(t parley.Task) string {
	return fmt.Sprintf("%s %d %s %s", t.TraceID, t.CreatedAt.UnixMilli(), t.Requester, t.Source)
}

// load loads the tasks of the hub once, before the first imported task.
func (n *taskNumbers) load(ctx context.Context, i *importer) error {
	if n.existing != nil {
		return nil
	}
	n.existing, n.read, n.localNames = map[string][]string{}, map[string]int{}, map[string]string{}
	for after := ""; ; {
		var list []parley.Task
		err := i.View(ctx, i.caller, unit.OpImportHub, func(u *unit.Unit) (err error) {
			u.SkipUnreadable(nil)
			list, err = u.Tasks().Scan(after, exportPage)
			return err
		})
		if err != nil || len(list) == 0 {
			return err
		}
		for _, t := range list {
			after = t.ID
			n.existing[taskIdentity(t)] = append(n.existing[taskIdentity(t)], t.ID)
		}
	}
}

// match counts a task of the file. It returns the task's name in the hub, or "" if the hub does not have it.
func (n *taskNumbers) match(t parley.Task) string {
	key := taskIdentity(t)
	times := n.read[key]
	n.read[key], n.anyRead = times+1, true
	if existing := n.existing[key]; times < len(existing) {
		return existing[times]
	}
	return ""
}

// noteMention notes that a message names a task. If that comes before the first task, tasks keep their numbers.
func (n *taskNumbers) noteMention(task string) {
	if task != "" && !n.anyRead {
		n.keepNumbers = true
	}
}

// localName returns the name in the hub of a task of the file, or "" if it was not imported. Without a file, tasks keep
// their names.
func (n *taskNumbers) localName(task string) string {
	if n == nil || n.keepNumbers || task == "" {
		return task
	}
	return n.localNames[task]
}

// renameReferences replaces the names of the parent and the dependencies of a task by their names in the hub.
func (n *taskNumbers) renameReferences(t *parley.Task) error {
	if parent := t.Parent; parent != "" {
		if t.Parent = n.localName(parent); t.Parent == "" {
			return notExported("%s is a subtask of %s, which is missing", t.ID, parent)
		}
	}
	t.DependsOn = slices.Clone(t.DependsOn)
	for i, needed := range t.DependsOn {
		if t.DependsOn[i] = n.localName(needed); t.DependsOn[i] == "" {
			return notExported("%s refers to a task or a participant that is missing", t.ID)
		}
	}
	return nil
}
