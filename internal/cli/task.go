package cli

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) taskCommand() *cobra.Command {
	return a.parentCommand("task", "Create, follow and update tasks",
		a.taskNew(), a.taskList(), a.taskTree(), a.taskShow(), a.taskProgress(), a.taskComplete(), a.taskFail(),
		a.taskCancel(), a.taskRetry(), a.taskReassign())
}

// taskOutput is a task as the API returns it.
type taskOutput struct {
	parley.TaskView
	Elapsed float64 `json:"elapsed"` // seconds
}

func newTaskOutput(v parley.TaskView) taskOutput { return taskOutput{v, v.Elapsed.Seconds()} }

func newTaskOutputs(views []parley.TaskView) []taskOutput {
	tasks := make([]taskOutput, len(views))
	for i, v := range views {
		tasks[i] = newTaskOutput(v)
	}
	return tasks
}

// printChangedTask prints the state of a changed task.
func (a *app) printChangedTask(v parley.TaskView, err error) error {
	if err != nil {
		return err
	}
	a.printNotices(v.Notices)
	return a.printDone(newTaskOutput(v), string(v.Status), v.ID, v.Assignee)
}

func (a *app) taskNew() *cobra.Command {
	var n parley.NewTask
	var deadline string
	var names []string
	cmd := &cobra.Command{
		Use:   "new [TEXT]",
		Short: "Create a task for an agent, a person or yourself",
		Long: `Create a task for an agent, a person or yourself. The first line of TEXT is its title, unless you use --title.

Without TEXT, or with - as TEXT, the command reads the text from standard input.`,
		Example: `  parley task new "Prepare the Q4 report" --assignee coordinator --deadline 2d
  parley task new "Check the figures" --assignee data --parent task-100 --after task-101
  parley task new "Call the printer"`,
		Args:              argCount(0, 1),
		ValidArgsFunction: completeNothing,
	}
	flags := cmd.Flags()
	flags.StringVar(&n.Assignee, "assignee", "", "`agent` that does the task (default: you)")
	flags.StringVar(&n.Title, "title", "", "`text` of the title")
	flags.StringVar(&n.Parent, "parent", "", "parent `task`")
	flags.StringVar(&n.DelegationReason, "reason", "", "`text` that says why the assignee gets the task")
	flags.Var(priorityFlag{&n.Priority}, "priority", "0 to 10, or low, normal, high, urgent")
	flags.StringVar(&deadline, "deadline", "", "`time` when the task is due, or a duration such as 2h")
	flags.StringSliceVar(&n.DependsOn, "after", nil, "`tasks` that must be completed before this one begins; repeat the flag for several")
	flags.StringArrayVar(&names, "file", nil, "`file` to send with the task; repeat the flag for several")
	flags.StringVar(&n.IdempotencyKey, "key", "", "idempotency `key`: a repeated call with this key creates one task")
	completeFlag(cmd, "assignee", a.completeAgents)
	completeFlag(cmd, "parent", a.completeTasks)
	completeFlag(cmd, "after", a.completeTasks)
	completeFlag(cmd, "priority", completeWords("low", "normal", "high", "urgent"))
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) (err error) {
		if err := requireNonEmpty(cmd, "assignee", "parent", "after"); err != nil {
			return err
		}
		if n.Deadline, err = parseDeadline(cmd, deadline); err != nil {
			return err
		}
		if n.Text, err = a.textOrStdin(ctx, cmd, args); err != nil {
			return err
		}
		if n.Artifacts, err = a.storeFiles(ctx, c, names); err != nil {
			return err
		}
		return a.printChangedTask(c.NewTask(ctx, n))
	})
	return cmd
}

const (
	defaultTasks    = 50
	maxTasksPerCall = 1000 // in one call
)

func (a *app) taskList() *cobra.Command {
	var which client.TasksOptions
	var states []string
	var all, stuck, asks bool
	limit := defaultTasks
	cmd := &cobra.Command{
		Use:   "list",
		Short: "List tasks, newest first",
		Long: `List tasks that have not ended, newest first. With --all or --status, also list tasks that have ended.

With --asks, list asks instead: the asker, the recipient, the first line of the question, and the state of the ask
(waiting, late, answered, failed or abandoned). You see the asks from you and to you; an owner sees all. A plain ask
is not a task, and no other list shows it. If an ask has become a task, this list shows the number of that task.`,
		Example: `  parley task list
  parley task list --assignee writer --all --limit 200
  parley task list --status failed,cancelled -o jsonl
  parley task list --stuck
  parley task list --asks --all`,
		Args: noArgs,
	}
	flags := cmd.Flags()
	flags.StringVar(&which.Assignee, "assignee", "", "list only tasks assigned to this `agent`")
	flags.StringVar(&which.Requester, "requester", "", "list only tasks requested by this `agent`")
	flags.StringSliceVar(&states, "status", nil, "list only tasks in these `states`: queued, active, completed, failed, cancelled")
	flags.BoolVar(&which.Roots, "roots", false, "list only tasks without a parent")
	flags.BoolVar(&all, "all", false, "also list tasks that have ended")
	flags.BoolVar(&stuck, "stuck", false, "list only tasks that cannot continue without help")
	flags.BoolVar(&asks, "asks", false, "list asks instead of tasks")
	flags.Var(countFlag{&limit}, "limit", "list at most this `number` of tasks")
	cmd.MarkFlagsMutuallyExclusive("stuck", "all")
	cmd.MarkFlagsMutuallyExclusive("stuck", "status")
	for _, other := range []string{"assignee", "requester", "status", "roots", "stuck"} {
		cmd.MarkFlagsMutuallyExclusive("asks", other)
	}
	completeFlag(cmd, "assignee", a.completeAgents)
	completeFlag(cmd, "requester", a.completeAgents)
	completeFlag(cmd, "status", completeWords(taskStates...))
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, _ []string) error {
		if asks {
			return a.listAsks(ctx, c, client.AsksOptions{Open: !all}, limit)
		}
		for _, state := range states {
			which.Status = append(which.Status, parley.TaskState(state))
		}
		which.Open = !all && len(states) == 0
		tasks, err := tasksWhere(ctx, c, which, limit+1, func(v parley.TaskView) bool { return !stuck || v.Blocked() })
		if err != nil {
			return err
		}
		if len(tasks) > limit {
			a.printStderr("note: there are more tasks; list them with a higher --limit")
		}
		return a.listTasks(tasks[:min(limit, len(tasks))])
	})
	return cmd
}

var taskStates = []string{
	string(parley.TaskQueued), string(parley.TaskActive), string(parley.TaskCompleted), string(parley.TaskFailed), string(parley.TaskCancelled),
}

// tasksWhere reads the tasks for which holds returns true, up to a limit.
func tasksWhere(
	ctx context.Context, c *client.Client, which client.TasksOptions, limit int, holds func(parley.TaskView) bool,
) (tasks []parley.TaskView, err error) {
	page := func(ctx context.Context, from client.PageRequest) (client.Page[parley.TaskView], error) {
		from.Limit = min(limit, maxTasksPerCall)
		return c.Tasks(ctx, which, from)
	}
	for v, err := range client.All(ctx, page) {
		if err != nil {
			return nil, err
		}
		if !holds(v) {
			continue
		}
		if tasks = append(tasks, v); len(tasks) == limit {
			break
		}
	}
	return tasks, nil
}

func (a *app) listTasks(views []parley.TaskView) error {
	about := column[taskOutput]{"about", func(t taskOutput) string { return strings.Join(taskSituation(t.TaskView), "; ") }}
	return printListWith(a, newTaskOutputs(views), about,
		column[taskOutput]{"task", func(t taskOutput) string { return t.ID }},
		column[taskOutput]{"title", func(t taskOutput) string { return t.Title }},
		column[taskOutput]{"assignee", func(t taskOutput) string { return t.Assignee }},
		column[taskOutput]{"status", func(t taskOutput) string { return string(t.Status) }},
		column[taskOutput]{"requester", func(t taskOutput) string { return t.Requester }},
		column[taskOutput]{"parent", func(t taskOutput) string { return t.Parent }},
		column[taskOutput]{"due", func(t taskOutput) string { return a.formatOptionalTime(t.Deadline) }},
		column[taskOutput]{"took", func(t taskOutput) string { return formatDuration(t.TaskView.Elapsed) }},
		column[taskOutput]{"cost", func(t taskOutput) string { return usageCost(t.Usage) }},
	)
}

func usageCost(u parley.Usage) string {
	if u.Cost == 0 {
		return ""
	}
	return formatDollars(u.Cost)
}
