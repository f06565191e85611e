package cli

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/client"
	"github.com/parley-hub/parley/internal/tasktree"
)

func (a *app) taskShow() *cobra.Command {
	return &cobra.Command{
		Use:               "show TASK",
		Short:             "Show a task: its progress, what it waits for, and its result",
		Example:           "  parley task show task-101\n  parley task show task-101 -o json",
		Args:              argCount(1, 1),
		ValidArgsFunction: completeArgs(a.completeTasks, completeNothing),
		RunE: a.withClient(func(ctx context.Context, c *client.Client, args []string) error {
			v, err := c.Task(ctx, args[0])
			if err != nil {
				return err
			}
			return a.printValue(newTaskOutput(v), func() { a.showTask(ctx, c, v) })
		}),
	}
}

func (a *app) showTask(ctx context.Context, c *client.Client, v parley.TaskView) {
	titles, names := newConversationTitles(c), newMessageNames(c)
	place := func(conversation string) string {
		if conversation == "" {
			return ""
		}
		return titles.title(ctx, conversation)
	}
	fields := []string{
		"task", v.ID, "title", v.Title, "status", taskStatus(v), "assignee", v.Assignee, "requester", v.Requester,
		"original requester", v.OriginalRequester, "reason", v.DelegationReason, "parent", v.Parent,
		"subtasks", strings.Join(v.Subtasks, ", "), "priority", v.Priority.String(), "deadline", a.formatOptionalTime(v.Deadline),
		"depends on", strings.Join(v.DependsOn, ", "), "waits for", strings.Join(taskWaits(v.WaitsOn), ", "),
	}
	fields = append(fields, a.progressFields(v.Progress)...)
	fields = append(fields,
		"where", place(v.Conversation), "message", names.of(ctx, v.Message), "source", v.Source, "trace", v.TraceID,
		"attempt", strconv.Itoa(v.Attempt), "requested", a.formatTime(v.CreatedAt), "started", a.formatOptionalTime(v.StartedAt), "ended", a.formatOptionalTime(v.EndedAt),
		"took", formatDuration(v.Elapsed), "tokens", usageTokens(v.Usage), "cost", usageCost(v.Usage),
		"result goes to", place(v.CallbackTo), "callback", names.of(ctx, v.Callback))
	if v.Error != nil {
		fields = append(fields, "error", v.Error.Error())
	}
	a.printFields(append(fields, resultFields(v.Result)...)...)
	if v.Result != nil && v.Result.Text != "" {
		a.printWords("")
		a.printWording(parley.Wording{}.Quote(v.Assignee, v.Result.Text))
	}
}

func taskStatus(v parley.TaskView) string {
	if v.Outcome == parley.OutcomePartial {
		return string(v.Status) + ", " + string(v.Outcome)
	}
	return string(v.Status)
}

// taskSituation returns what blocks a task, or its progress, and what it waits for.
func taskSituation(v parley.TaskView) (parts []string) {
	switch {
	case v.Error != nil:
		parts = append(parts, v.Error.Message)
	case v.Blocked():
		parts = append(parts, "blocked: "+strings.Join(v.Progress.Blockers, ", "))
	case v.Progress != nil && !v.Status.Ended():
		parts = append(parts, tasktree.ProgressText(*v.Progress))
	}
	if waits := taskWaits(v.WaitsOn); len(waits) > 0 {
		parts = append(parts, "waits for "+strings.Join(waits, ", "))
	}
	return parts
}

// taskWaits returns what a task waits for.
func taskWaits(w parley.WaitsOn) []string {
	waits := append(slices.Clone(w.After), w.Subtasks...)
	if w.Approval != "" {
		waits = append(waits, w.ApprovalName())
	}
	return waits
}

// progressFields returns the progress of a task, as fields.
func (a *app) progressFields(p *parley.TaskProgress) []string {
	if p == nil {
		return nil
	}
	fields := []string{"progress", strings.TrimPrefix(tasktree.ProgressText(*p)+", "+a.formatTime(p.At), ", "), "blocked by", strings.Join(p.Blockers, ", ")}
	if p.Confidence != nil {
		fields = append(fields, "confidence", fmt.Sprintf("%.0f %%", *p.Confidence*100))
	}
	return fields
}

// resultFields returns the result of a task besides its text, as fields.
func resultFields(r *parley.TaskResult) []string {
	if r == nil {
		return nil
	}
	var metrics []string
	for _, name := range slices.Sorted(maps.Keys(r.Metrics)) {
		metrics = append(metrics, name+" "+strconv.FormatFloat(r.Metrics[name], 'g', -1, 64))
	}
	return []string{
		"deliverables", strings.Join(r.Deliverables, ", "), "metrics", strings.Join(metrics, ", "),
		"issues", strings.Join(r.Issues, ", "), "next steps", strings.Join(r.NextSteps, ", "),
	}
}

func usageTokens(u parley.Usage) string { return runTokens(parley.Run{Usage: u}) }
