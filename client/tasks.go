package client

import (
	"context"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/parley-hub/parley"
)

// TasksOptions selects tasks. The zero value selects all that the caller may see: the tasks that it requested or must do, and
// their subtasks. An owner sees all tasks.
type TasksOptions struct {
	Assignee  string
	Requester string
	Status    []parley.TaskState
	Open      bool // only tasks that have not ended
	Roots     bool // only tasks without a parent
}

func (o TasksOptions) query(page PageRequest) url.Values {
	states := make([]string, len(o.Status))
	for i, s := range o.Status {
		states[i] = string(s)
	}
	return query(
		"assignee", o.Assignee, "requester", o.Requester, "status", strings.Join(states, ","), "open", flag(o.Open), "roots", flag(o.Roots),
		"cursor", page.Cursor, "limit", count(page.Limit),
	)
}

// task is the JSON of a parley.TaskView.
type task struct {
	parley.TaskView
	Elapsed float64 `json:"elapsed"`
}

func (t task) view() parley.TaskView {
	t.TaskView.Elapsed = time.Duration(t.Elapsed * float64(time.Second))
	return t.TaskView
}

func viewsOf(list []task) []parley.TaskView {
	views := make([]parley.TaskView, len(list))
	for i, t := range list {
		views[i] = t.view()
	}
	return views
}

// Tasks returns a page of tasks, the newest first.
func (c *Client) Tasks(ctx context.Context, o TasksOptions, page PageRequest) (Page[parley.TaskView], error) {
	answer, err := fetch[Page[task]](ctx, c, o.query(page), "tasks")
	return Page[parley.TaskView]{Items: viewsOf(answer.Items), Next: answer.Next}, err
}

// NewTask creates a task for another participant or for the caller. If the call needs an approval, it returns *parley.Held.
func (c *Client) NewTask(ctx context.Context, n parley.NewTask) (parley.TaskView, error) {
	r := request{method: http.MethodPost, key: n.IdempotencyKey}
	made, err := callWith[task](ctx, c, r, n, 0, "tasks")
	return made.view(), err
}

// Task returns one task.
func (c *Client) Task(ctx context.Context, id string) (parley.TaskView, error) {
	got, err := fetch[task](ctx, c, nil, "tasks", id)
	return got.view(), err
}

// TaskTree returns a task and all subtasks below it, each after its parent.
func (c *Client) TaskTree(ctx context.Context, id string) ([]parley.TaskView, error) {
	answer, err := fetch[Page[task]](ctx, c, nil, "tasks", id, "tree")
	return viewsOf(answer.Items), err
}

// progress is the JSON of a parley.TaskProgress in a call. It leaves out the time, which the hub sets.
type progress struct {
	*parley.TaskProgress
	At *time.Time `json:"at,omitempty"` // always nil; it hides TaskProgress.At
}

// UpdateTask reports the progress of a task, or ends it.
func (c *Client) UpdateTask(ctx context.Context, id string, change parley.TaskChange) (parley.TaskView, error) {
	in := struct {
		parley.TaskChange
		Progress *progress `json:"progress,omitempty"`
	}{TaskChange: change}
	if change.Progress != nil {
		in.Progress = &progress{TaskProgress: change.Progress}
	}
	return c.changeTask(ctx, http.MethodPatch, in, id)
}

// CancelTask cancels a task and all subtasks below it.
func (c *Client) CancelTask(ctx context.Context, id, reason string) (parley.TaskView, error) {
	in := struct {
		Reason string `json:"reason,omitempty"`
	}{reason}
	return c.changeTask(ctx, http.MethodPost, in, id, "cancel")
}

// RetryTask queues a failed or cancelled task again.
func (c *Client) RetryTask(ctx context.Context, id string) (parley.TaskView, error) {
	return c.changeTask(ctx, http.MethodPost, nil, id, "retry")
}

// ReassignTask gives a task to another assignee.
func (c *Client) ReassignTask(ctx context.Context, id, assignee string) (parley.TaskView, error) {
	in := struct {
		Assignee string `json:"assignee"`
	}{assignee}
	return c.changeTask(ctx, http.MethodPost, in, id, "reassign")
}

func (c *Client) changeTask(ctx context.Context, method string, in any, steps ...string) (parley.TaskView, error) {
	changed, err := call[task](ctx, c, method, in, append([]string{"tasks"}, steps...)...)
	return changed.view(), err
}
