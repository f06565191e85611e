package cli

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
)

func (a *app) taskProgress() *cobra.Command {
	var p parley.TaskProgress
	cmd := &cobra.Command{
		Use:   "progress TASK [TEXT]",
		Short: "Report the progress of your task",
		Long: `Report the progress of your task. With --blocked, the hub tells the requester that the task needs help. The next report
without --blocked says that the task continues.`,
		Example: `  parley task progress task-101 "The first half is written" --fraction 0.5
  parley task progress task-101 --current 30 --total 120 --confidence 0.8
  parley task progress task-101 --blocked "The archive needs a key"`,
		Args:              argCount(1, 2),
		ValidArgsFunction: completeArgs(a.completeTasks, completeNothing),
	}
	flags := cmd.Flags()
	flags.Var(optionalFlag[float64]{&p.Fraction, parseShare}, "fraction", "completed share, a `number` from 0 to 1")
	flags.Var(optionalFlag[int64]{&p.Current, parseCount}, "current", "`number` of completed parts")
	flags.Var(optionalFlag[int64]{&p.Total, parseCount}, "total", "`number` of parts in total")
	flags.Var(optionalFlag[float64]{&p.Confidence, parseShare}, "confidence", "your confidence, a `number` from 0 to 1")
	flags.StringArrayVar(&p.Blockers, "blocked", nil, "`text` that says what blocks the task; repeat the flag for several")
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) (err error) {
		if p.Message, err = a.optionalText(ctx, cmd, args[1:]); err != nil {
			return err
		}
		return a.printChangedTask(c.UpdateTask(ctx, args[0], parley.TaskChange{Progress: &p}))
	})
	return cmd
}

// optionalText returns the text argument of a command, which may be missing. It refuses an empty text, because a
// program that should have written it has failed.
func (a *app) optionalText(ctx context.Context, cmd *cobra.Command, args []string) (string, error) {
	if len(args) == 0 {
		return "", nil
	}
	text, err := a.readTextArg(ctx, args[0])
	if err == nil && strings.TrimSpace(text) == "" {
		err = usagef(cmd, "the text is empty")
	}
	return text, err
}

func (a *app) taskComplete() *cobra.Command {
	var r parley.TaskResult
	var partial bool
	var metrics []string
	cmd := &cobra.Command{
		Use:   "complete TASK [TEXT]",
		Short: "Complete your task with its result",
		Example: `  parley task complete task-101 "The draft is in docs/q4.md"
  parley task complete task-101 --partial --deliverable docs/q4.md --issue "No figures for May" --next "Ask finance"
  make report | parley task complete task-101 - --metric pages=12`,
		Args:              argCount(1, 2),
		ValidArgsFunction: completeArgs(a.completeTasks, completeNothing),
	}
	flags := cmd.Flags()
	flags.BoolVar(&partial, "partial", false, "mark the result as partial")
	flags.StringArrayVar(&r.Deliverables, "deliverable", nil, "`name` of a deliverable; repeat the flag for several")
	flags.StringArrayVar(&metrics, "metric", nil, "measured value as `name=number`, such as pages=12; repeat the flag for several")
	flags.StringArrayVar(&r.Issues, "issue", nil, "`text` that describes a problem of the result; repeat the flag for several")
	flags.StringArrayVar(&r.NextSteps, "next", nil, "`text` that describes a next step; repeat the flag for several")
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) (err error) {
		change := parley.TaskChange{Status: parley.TaskCompleted, Result: &r}
		if partial {
			change.Outcome = parley.OutcomePartial
		}
		if r.Text, err = a.optionalText(ctx, cmd, args[1:]); err != nil {
			return err
		}
		if r.Metrics, err = parseMetrics(metrics); err != nil {
			return usagef(cmd, "--metric: %w", err)
		}
		return a.printChangedTask(c.UpdateTask(ctx, args[0], change))
	})
	return cmd
}

func parseMetrics(given []string) (map[string]float64, error) {
	metrics := map[string]float64{}
	for _, one := range given {
		name, value, _ := strings.Cut(one, "=")
		number, err := strconv.ParseFloat(value, 64)
		if name == "" || err != nil {
			return nil, errors.New("write a name and a number, such as pages=12")
		}
		metrics[name] = number
	}
	return metrics, nil
}

func (a *app) taskFail() *cobra.Command {
	cmd := &cobra.Command{
		Use:               "fail TASK REASON",
		Short:             "Fail your task, and say why",
		Example:           "  parley task fail task-101 \"The archive is missing\"",
		Args:              argCount(2, 2),
		ValidArgsFunction: completeArgs(a.completeTasks, completeNothing),
	}
	cmd.RunE = a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
		reason, err := a.optionalText(ctx, cmd, args[1:])
		if err != nil {
			return err
		}
		return a.printChangedTask(c.UpdateTask(ctx, args[0], parley.TaskChange{Status: parley.TaskFailed, Reason: reason}))
	})
	return cmd
}

func (a *app) taskCancel() *cobra.Command {
	var reason string
	cmd := &cobra.Command{
		Use:               "cancel TASK",
		Short:             "Cancel a task and its subtasks, and stop their runs",
		Example:           "  parley task cancel task-100\n  parley task cancel task-100 --reason \"The meeting is off\"",
		Args:              argCount(1, 1),
		ValidArgsFunction: completeArgs(a.completeTasks, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			return a.printChangedTask(c.CancelTask(ctx, args[0], reason))
		}),
	}
	cmd.Flags().StringVar(&reason, "reason", "", "`text` for the requester that says why")
	return cmd
}

func (a *app) taskRetry() *cobra.Command {
	return &cobra.Command{
		Use:               "retry TASK",
		Short:             "Retry a failed or cancelled task",
		Example:           "  parley task retry task-101",
		Args:              argCount(1, 1),
		ValidArgsFunction: completeArgs(a.completeTasks, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			return a.printChangedTask(c.RetryTask(ctx, args[0]))
		}),
	}
}

func (a *app) taskReassign() *cobra.Command {
	return &cobra.Command{
		Use:               "reassign TASK AGENT",
		Short:             "Assign a task to another agent or person",
		Example:           "  parley task reassign task-101 analyst",
		Args:              argCount(2, 2),
		ValidArgsFunction: completeArgs(a.completeTasks, a.completeAgents, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			return a.printChangedTask(c.ReassignTask(ctx, args[0], args[1]))
		}),
	}
}
