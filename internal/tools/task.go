package tools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/quote"
)

var updateTask = Tool{
	Name:  "update_task",
	Title: "Update Task",
	Description: "Reports the progress of your own task, or ends it. If the hub runs you, you need not end it: when your turn ends and no " +
		"subtask is open, the hub completes it with your final text. If you took it with check_inbox, you must end it; a report acknowledges the request.",
	Schema: json.RawMessage(`{"type":"object","properties":{` +
		`"task":{"type":"string","description":"Default: the task that you are working on, or your only open task"},` +
		`"status":{"type":"string","enum":["completed","failed"]},` +
		`"outcome":{"type":"string","enum":["success","partial"]},` +
		`"result":{"type":"string"},` +
		`"reason":{"type":"string","description":"Why the task failed"},` +
		`"deliverables":{"type":"array","items":{"type":"string"}},` +
		`"metrics":{"type":"object","additionalProperties":{"type":"number"}},` +
		`"issues":{"type":"array","items":{"type":"string"}},` +
		`"next_steps":{"type":"array","items":{"type":"string"}},` +
		`"progress":{"type":"object","properties":{` +
		`"fraction":{"type":"number","minimum":0,"maximum":1},` +
		`"current":{"type":"integer"},"total":{"type":"integer"},` +
		`"message":{"type":"string"},` +
		`"confidence":{"type":"number","minimum":0,"maximum":1},` +
		`"blockers":{"type":"array","items":{"type":"string"},"description":"What stops you; sent to your requester"}},` +
		`"additionalProperties":false}},` +
		`"additionalProperties":false}`),
	Result: json.RawMessage(`{"type":"object","properties":{"task":{"type":"string"},"status":{"type":"string"},"approval":{"type":"string"}}}`),
	call:   withArguments(update),
}

type updateArgs struct {
	Task         string             `json:"task"`
	Status       string             `json:"status"`
	Outcome      string             `json:"outcome"`
	Result       string             `json:"result"`
	Reason       string             `json:"reason"`
	Deliverables []string           `json:"deliverables"`
	Metrics      map[string]float64 `json:"metrics"`
	Issues       []string           `json:"issues"`
	NextSteps    []string           `json:"next_steps"`
	Progress     *progressArgs      `json:"progress"`
}

type progressArgs struct {
	Fraction   *float64 `json:"fraction"`
	Current    *int64   `json:"current"`
	Total      *int64   `json:"total"`
	Message    string   `json:"message"`
	Confidence *float64 `json:"confidence"`
	Blockers   []string `json:"blockers"`
}

// updateData is the structured result of update_task.
type updateData struct {
	Task   string           `json:"task"`
	Status parley.TaskState `json:"status"`
}

func update(ctx context.Context, p Participant, args updateArgs) (Result, error) {
	if args.Task == "" && !p.InRun {
		var err error
		if args.Task, err = onlyTask(ctx, p); err != nil {
			return Result{}, err
		}
	}
	task, err := p.Workspace.UpdateTask(ctx, args.Task, args.change())
	if err != nil {
		return Result{}, err
	}
	return Result{"Noted: " + taskLine(p, task) + "\n", updateData{task.ID, task.Status}}, nil
}

// onlyTask returns the only open task of a participant that no run of the hub works for. It returns E003 with the candidates if there
// are several.
func onlyTask(ctx context.Context, p Participant) (string, error) {
	list, err := p.Workspace.Tasks(ctx, parley.TaskFilter{Assignee: p.ID, Open: true, Limit: maxRows})
	if _, held := errors.AsType[*parley.Held](err); held { // the participant may report on its task, but not list tasks
		return "", require("task", "")
	}
	switch {
	case err != nil:
		return "", err
	case len(list) == 0:
		return "", parley.Errorf(parley.BadInput, "the call names no task, and you have no open task").Suggest("name the task: task-…")
	case len(list) > 1:
		ids := make([]string, len(list))
		for i, t := range list {
			ids[i] = t.ID
		}
		return "", parley.Errorf(parley.BadInput, "the call names no task, and you have %d open tasks", len(list)).Suggest("name one of %s", idList(ids))
	}
	return list[0].ID, nil
}

func (args updateArgs) change() parley.TaskChange {
	c := parley.TaskChange{Status: parley.TaskState(args.Status), Outcome: parley.TaskOutcome(args.Outcome), Reason: args.Reason}
	if args.Result != "" || len(args.Deliverables)+len(args.Metrics)+len(args.Issues)+len(args.NextSteps) > 0 {
		c.Result = &parley.TaskResult{
			Text: args.Result, Deliverables: args.Deliverables, Metrics: args.Metrics, Issues: args.Issues, NextSteps: args.NextSteps,
		}
	}
	if g := args.Progress; g != nil {
		c.Progress = &parley.TaskProgress{
			Fraction: g.Fraction, Current: g.Current, Total: g.Total, Message: g.Message, Confidence: g.Confidence, Blockers: g.Blockers,
		}
	}
	return c
}

// taskData is a task in a list.
type taskData struct {
	ID        string             `json:"id"`
	Title     string             `json:"title"`
	Requester string             `json:"requester"`
	Assignee  string             `json:"assignee"`
	Status    parley.TaskState   `json:"status"`
	Outcome   parley.TaskOutcome `json:"outcome,omitempty"`
}

func listTasks(ctx context.Context, p Participant) (Result, error) {
	list, err := p.Workspace.Tasks(ctx, parley.TaskFilter{Limit: maxRows})
	if err != nil {
		return Result{}, err
	}
	if len(list) == 0 {
		return itemsOf[taskData]("No tasks.\n", nil, 0), nil
	}
	var out strings.Builder
	items := make([]taskData, 0, len(list))
	for _, t := range list {
		out.WriteString("- " + taskLine(p, t) + "\n")
		items = append(items, taskData{t.ID, t.Title, t.Requester, t.Assignee, t.Status, t.Outcome})
	}
	if len(list) == maxRows {
		out.WriteString("(there may be older ones)\n")
	}
	return itemsOf(out.String(), items, 0), nil
}

// ShowTask shows one task. It returns E003 (NotFound) if the participant may not see it.
func ShowTask(ctx context.Context, p Participant, id string) (Result, error) {
	t, err := p.Workspace.Task(ctx, id)
	if err != nil {
		return Result{}, err
	}
	text := "- " + taskLine(p, t) + "\n"
	if t.Progress != nil && t.Progress.Message != "" {
		text += "progress:\n" + quote.Block(t.Progress.Message)
	}
	if t.Result != nil && t.Result.Text != "" {
		text += "result:\n" + quote.ShortBlock(t.Result.Text, maxBytes)
	}
	return Result{text, taskData{t.ID, t.Title, t.Requester, t.Assignee, t.Status, t.Outcome}}, nil
}

func taskLine(p Participant, t parley.TaskView) string {
	line := fmt.Sprintf("%s %s, from %s to %s: %s", quote.Word(t.ID), quote.Inline(t.Title), participantName(p, t.Requester), participantName(p, t.Assignee), quote.Word(string(t.Status)))
	if t.Outcome != "" {
		line += " (" + quote.Word(string(t.Outcome)) + ")"
	}
	if len(t.WaitsOn.Subtasks) > 0 {
		line += ", waits for " + idList(t.WaitsOn.Subtasks)
	}
	if len(t.WaitsOn.After) > 0 {
		line += ", comes after " + idList(t.WaitsOn.After)
	}
	if t.WaitsOn.Approval != "" {
		line += ", waits for " + quote.Word(t.WaitsOn.ApprovalName())
	}
	return line
}

// participantName returns the id of a participant, or "you" for the caller.
func participantName(p Participant, id string) string {
	if id == p.ID {
		return "you"
	}
	return quote.Word(id)
}

// idList joins ids with spaces.
func idList(ids []string) string {
	shown := make([]string, 0, len(ids))
	for _, id := range ids {
		shown = append(shown, quote.Word(id))
	}
	return strings.Join(shown, " ")
}
