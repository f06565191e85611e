package cli

import (
	"context"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/tasktree"
)

func (a *app) taskTree() *cobra.Command {
	var watch, long bool
	cmd := &cobra.Command{
		Use:   "tree [TASK]",
		Short: "Draw the tree of a task, or the trees of all open tasks",
		Long: `Draw the tree of a task, or the trees of all open tasks.

With --watch, the command updates the trees until the task has ended or you press q. Without a terminal, it prints each
task again when the task changes.`,
		Example: `  parley task tree
  parley task tree task-100 --watch
  parley task tree task-100 --long`,
		Args:              argCount(0, 1),
		ValidArgsFunction: completeArgs(a.completeTasks, completeNothing),
	}
	cmd.Flags().BoolVar(&watch, "watch", false, "keep the trees up to date")
	cmd.Flags().BoolVar(&long, "long", false, "also show the duration and the cost of each task")
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
		source := &treeSource{client: c, task: append(args, "")[0]}
		options := tasktree.Options{Zone: a.timeZone(), Long: long}
		switch {
		case watch && a.output == formatTable && isTerminal(a.in) && isTerminal(a.out) && os.Getenv("TERM") != "dumb":
			last, err := tasktree.Watch(ctx, source, options, a.in, a.out, os.Environ())
			a.printTreeLines(tasktree.Draw(last, options))
			return err
		case watch:
			return tasktree.PrintChanges(ctx, source, options, a.printChangedLines)
		}
		snapshot, err := source.Load(ctx)
		if err != nil {
			return err
		}
		if a.output != formatTable {
			return printList(a, newTaskOutputs(snapshot.Tasks))
		}
		if len(snapshot.Tasks) == 0 {
			a.printStderr("none")
		}
		a.printTreeLines(tasktree.Draw(snapshot, options))
		return nil
	})
	return cmd
}

// timeZone returns the zone for times: local on a terminal, UTC for programs.
func (a *app) timeZone() *time.Location {
	if isTerminal(a.out) {
		return time.Local
	}
	return time.UTC
}

func (a *app) printTreeLines(lines []tasktree.Line) {
	for _, line := range lines {
		_, _ = fmt.Fprintln(a.out, line)
	}
}

// printChangedLines prints tasks that have changed.
func (a *app) printChangedLines(lines []tasktree.Line) error {
	if a.output == formatTable {
		a.printTreeLines(lines)
		return nil
	}
	for _, line := range lines {
		if err := a.printJSON(newTaskOutput(line.Task)); err != nil {
			return err
		}
	}
	return nil
}

// treeSource reads trees of tasks from a hub.
type treeSource struct {
	client *client.Client
	task   string // empty: all open tasks

	mu    sync.Mutex // one load at a time
	roots []string   // of trees that were open: a watched tree stays until it has ended
}

// maxOpenTasks is how many open tasks the command searches for roots.
const maxOpenTasks = 2000

// Load returns the present state of the tasks.
func (s *treeSource) Load(ctx context.Context) (tasktree.Snapshot, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := tasktree.Snapshot{At: time.Now(), Names: map[string]string{}, Sleeping: map[string]time.Time{}, Growing: s.task == ""}
	if err := s.findRoots(ctx); err != nil {
		return p, err
	}
	for _, top := range s.roots {
		tree, err := s.client.TaskTree(ctx, top)
		if err != nil {
			return p, err
		}
		p.Tasks = append(p.Tasks, tree...)
	}
	present, err := s.client.Who(ctx)
	for _, one := range present {
		p.Names[one.ID] = one.Name
		if one.Status == parley.StatusSleeping && one.SleepingUntil != nil {
			p.Sleeping[one.ID] = *one.SleepingUntil
		}
	}
	return p, err
}

// findRoots finds the roots: the open tasks without a parent that the caller may see.
func (s *treeSource) findRoots(ctx context.Context) error {
	if s.task != "" {
		s.roots = []string{s.task}
		return nil
	}
	all := func(parley.TaskView) bool { return true }
	open, err := tasksWhere(ctx, s.client, client.TasksOptions{Open: true}, maxOpenTasks, all)
	known := map[string]bool{}
	for _, t := range open {
		known[t.ID] = true
	}
	for _, t := range open {
		if !known[t.Parent] && !slices.Contains(s.roots, t.ID) {
			s.roots = append(s.roots, t.ID)
		}
	}
	return err
}

// Follow reports that tasks, their runs or their approvals may have changed.
func (s *treeSource) Follow(ctx context.Context, report func()) (last error) {
	for e, err := range s.client.Events(ctx, client.EventsOptions{Kinds: []string{"task", "run", "approval"}}) {
		if last = err; err == nil && e.Kind != parley.EventRunProgress {
			report()
		}
	}
	return last
}
