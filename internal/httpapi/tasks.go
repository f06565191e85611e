package httpapi

import (
	"context"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
)

// Task is the JSON of a task.
type Task struct {
	parley.TaskView
	Elapsed float64 `json:"elapsed" doc:"Seconds from the creation to the end, or until now."`
}

func taskOf(view parley.TaskView, err error) (Task, error) {
	return Task{view, view.Elapsed.Seconds()}, err
}

func tasksOf(views []parley.TaskView) []Task {
	list := make([]Task, len(views))
	for i, v := range views {
		list[i] = Task{v, v.Elapsed.Seconds()}
	}
	return list
}

type listTasksInput struct {
	Assignee  string `query:"assignee" doc:"Only tasks of this assignee."`
	Requester string `query:"requester" doc:"Only tasks that this participant requested."`
	Status    string `query:"status" doc:"Only tasks in these states, separated by commas: queued, active, completed, failed, cancelled." example:"queued,active"`
	Open      bool   `query:"open" doc:"Only tasks that have not ended."`
	Roots     bool   `query:"roots" doc:"Only tasks without a parent."`
	Limit     int    `query:"limit" minimum:"0" doc:"The most items to return; 0 or missing: the default."`
	Cursor    string `query:"cursor" doc:"Where to continue: next of the previous page."`
}

func listTasks(ctx context.Context, c *call, in *listTasksInput) (page List[Task], err error) {
	size := pageInput{Limit: in.Limit}.size()
	filter := parley.TaskFilter{Assignee: in.Assignee, Requester: in.Requester, Open: in.Open, Roots: in.Roots, Limit: size, Status: taskStates(in.Status)}
	if place, err := decodeCursor[string](in.Cursor); err != nil {
		return page, err
	} else if place != nil {
		filter.Before = *place
	}
	views, err := c.hub.Tasks(ctx, c.caller, filter)
	if page.Items = tasksOf(views); len(views) == size {
		page.Next = encodeCursor(views[size-1].ID)
	}
	return page, err
}

// taskStates splits a list of states separated by commas. The hub refuses unknown states.
func taskStates(word string) (list []parley.TaskState) {
	if word == "" {
		return nil
	}
	for one := range strings.SplitSeq(word, ",") {
		if state := parley.TaskState(one); !slices.Contains(list, state) {
			list = append(list, state)
		}
	}
	return list
}

type makeTaskInput struct {
	Key  string `header:"Idempotency-Key" doc:"The same as idempotency_key in the body. The hub does not create a task again if the requester used the key within 24 hours."`
	Body TaskRequest
}

// TaskRequest is a new task.
type TaskRequest struct {
	parley.NewTask
	From string `json:"from,omitempty" doc:"Refused unless it is the caller."`
}

func makeTask(ctx context.Context, c *call, in *makeTaskInput) (Task, error) {
	made := in.Body.NewTask
	var err error
	if made.IdempotencyKey, err = idempotencyKey(in.Key, made.IdempotencyKey); err != nil {
		return Task{}, err
	}
	if err := c.checkSender(ctx, "make-task", in.Body.From); err != nil {
		return Task{}, err
	}
	return taskOf(c.hub.NewTask(ctx, c.caller, made))
}

type taskInput struct {
	Task string `path:"task" doc:"The task's id." example:"task-101"`
}

func showTask(ctx context.Context, c *call, in *taskInput) (Task, error) {
	return taskOf(c.hub.Task(ctx, c.caller, in.Task))
}

func taskTree(ctx context.Context, c *call, in *taskInput) (List[Task], error) {
	views, err := c.hub.TaskTree(ctx, c.caller, in.Task)
	return List[Task]{Items: tasksOf(views)}, err
}

type updateTaskInput struct {
	Task string `path:"task" doc:"The task's id." example:"task-101"`
	Body TaskChange
}

// TaskChange reports the progress or the end of a task.
type TaskChange struct {
	Progress *ProgressReport    `json:"progress,omitempty" doc:"The progress of the task."`
	Status   parley.TaskState   `json:"status,omitempty" enum:"completed,failed" doc:"The final status; missing: the task goes on."`
	Outcome  parley.TaskOutcome `json:"outcome,omitempty" enum:"success,partial" doc:"The outcome of a completed task; default: success."`
	Result   *parley.TaskResult `json:"result,omitempty" doc:"The result of the task."`
	Reason   string             `json:"reason,omitempty" doc:"Why the task failed."`
}

// ProgressReport is the progress of a task that its assignee reports.
type ProgressReport struct {
	Fraction   *float64 `json:"fraction,omitempty" minimum:"0" maximum:"1" doc:"From 0 to 1."`
	Current    *int64   `json:"current,omitempty" minimum:"0" doc:"How much of the total is done."`
	Total      *int64   `json:"total,omitempty" minimum:"0" doc:"How much there is to do."`
	Message    string   `json:"message,omitempty" doc:"The progress in a sentence."`
	Confidence *float64 `json:"confidence,omitempty" minimum:"0" maximum:"1" doc:"From 0 to 1."`
	Blockers   []string `json:"blockers,omitempty" maxItems:"64" doc:"What blocks the task. The hub tells the requester."`
}

func (p *ProgressReport) progress() *parley.TaskProgress {
	if p == nil {
		return nil
	}
	return &parley.TaskProgress{
		Fraction: p.Fraction, Current: p.Current, Total: p.Total, Message: p.Message, Confidence: p.Confidence, Blockers: p.Blockers,
	}
}

func updateTask(ctx context.Context, c *call, in *updateTaskInput) (Task, error) {
	b := in.Body
	change := parley.TaskChange{Progress: b.Progress.progress(), Status: b.Status, Outcome: b.Outcome, Result: b.Result, Reason: b.Reason}
	return taskOf(c.hub.UpdateTask(ctx, c.caller, in.Task, change))
}

type cancelTaskInput struct {
	Task string `path:"task" doc:"The task's id." example:"task-101"`
	Body CancelRequest
}

func cancelTask(ctx context.Context, c *call, in *cancelTaskInput) (Task, error) {
	return taskOf(c.hub.CancelTask(ctx, c.caller, in.Task, in.Body.Reason))
}

func retryTask(ctx context.Context, c *call, in *taskInput) (Task, error) {
	return taskOf(c.hub.RetryTask(ctx, c.caller, in.Task))
}

type reassignTaskInput struct {
	Task string `path:"task" doc:"The task's id." example:"task-101"`
	Body ReassignRequest
}

// ReassignRequest names the new assignee of a task.
type ReassignRequest struct {
	Assignee string `json:"assignee" doc:"The new assignee." example:"gendry"`
}

func reassignTask(ctx context.Context, c *call, in *reassignTaskInput) (Task, error) {
	return taskOf(c.hub.ReassignTask(ctx, c.caller, in.Task, in.Body.Assignee))
}
