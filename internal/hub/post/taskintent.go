package post

import (
	"cmp"
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/schema"
)

// The types by which the Multi-Agent OS and the Routing Protocol begin, update and end tasks.
const (
	typeTaskAssign     parley.Type = "task_assign"
	TypeTaskResult     parley.Type = "task_result"
	typeTaskDelegation parley.Type = "task-delegation"
	typeStatusUpdate   parley.Type = "status-update"
)

// taskIntent is what the words and the payload of a message say about a task: they ask for one, or report a change of one.
type taskIntent struct {
	Wanted  *parley.Contact // the task that it asks for, or nil
	details unit.TaskDetails
	change  *parley.TaskChange // the change that it reports, or nil
	reply   bool               // the message is a mere reply: it reports progress only from an assignee that the hub does not run
}

// anyLength allows every length that fits into a message: what a message says about a task is no longer than the message.
var anyLength = parley.Limits{Body: math.MaxInt}

// DecodeTaskIntent reads what a message says about a task, in the types of Parley, the Multi-Agent OS, ClawOS or the Routing Protocol. It
// returns nil for a message that says nothing about a task, or nothing that it understands: such a message is stored all the same.
func DecodeTaskIntent(d parley.Draft) *taskIntent {
	var do *taskIntent
	switch d.Type {
	case parley.TypeTask, typeTaskAssign, typeTaskDelegation:
		do = decodeDelegation(d)
	case parley.TypeRequest:
		do = decodeRequest(d)
	case typeStatusUpdate, parley.TypeStatus:
		do = changeIntent(decodeStatus(d))
	case parley.TypeNotification:
		do = changeIntent(decodeNotification(d))
	case TypeTaskResult, parley.TypeResult:
		do = changeIntent(decodeResult(d))
	case parley.TypeResponse:
		do = decodeResponse(d)
	case parley.TypeError:
		do = changeIntent(decodeError(d))
	case parley.TypeChat:
		do = replyIntent(d)
	}
	if do == nil || do.change != nil && do.change.Check(anyLength) != nil || do.Wanted != nil && parley.TitleOf(do.Wanted.Message) == "" {
		return nil
	}
	if do.Wanted != nil {
		do.Wanted.Pattern, do.Wanted.Priority, do.details.Lenient = parley.PatternDelegate, d.Priority, true
		if d.Deadline != nil {
			do.Wanted.Deadline = d.Deadline
		}
	}
	return do
}

// changeIntent returns the intent to make a change, or nil if there is none.
func changeIntent(c *parley.TaskChange) *taskIntent {
	if c == nil {
		return nil
	}
	return &taskIntent{change: c}
}

// replyIntent is the intent of a reply, which reports progress in words.
func replyIntent(d parley.Draft) *taskIntent {
	return &taskIntent{change: &parley.TaskChange{Progress: &parley.TaskProgress{Message: unit.Clipped(d.Content.Text)}}, reply: true}
}

// decodeRequest reads a request of ClawOS. Only the action task.assign asks for a task.
func decodeRequest(d parley.Draft) *taskIntent {
	var p struct {
		Action   string          `json:"action"`
		Params   json.RawMessage `json:"params"`
		Deadline string          `json:"deadline"`
	}
	if json.Unmarshal(d.Payload, &p) != nil || p.Action != "task.assign" {
		return nil
	}
	var params struct {
		Text string `json:"text"`
		Task string `json:"task"`
	}
	_ = json.Unmarshal(p.Params, &params) // the parameters may have any form
	text := cmp.Or(d.Content.Text, params.Text, params.Task, unit.AsWords(p.Params))
	return &taskIntent{Wanted: &parley.Contact{Message: text, Deadline: parseTime(p.Deadline)}}
}

// delegationPayload is the payload of a task-delegation of the Routing Protocol.
type delegationPayload struct {
	Task    string `json:"task"`
	Context struct {
		Dependencies []string `json:"dependencies"`
		Deadline     string   `json:"deadline"`
	} `json:"context"`
	Metadata struct {
		Original string `json:"original_requester"`
		Reason   string `json:"delegation_reason"`
	} `json:"metadata"`
}

// decodeDelegation reads a task-delegation of the Routing Protocol, and any other message that asks for a task. The text of the others
// says what the payload does not.
func decodeDelegation(d parley.Draft) *taskIntent {
	var p delegationPayload
	if len(d.Payload) > 0 && json.Unmarshal(d.Payload, &p) != nil || parley.CheckNeeded(p.Context.Dependencies) != nil {
		if d.Type == typeTaskDelegation {
			return nil
		}
		p = delegationPayload{}
	}
	if d.Type != typeTaskDelegation {
		p.Task = cmp.Or(d.Content.Text, p.Task)
	}
	return &taskIntent{
		Wanted: &parley.Contact{
			Message: cmp.Or(p.Task, d.Content.Text), After: p.Context.Dependencies, Deadline: parseTime(p.Context.Deadline),
		},
		details: unit.TaskDetails{Original: p.Metadata.Original, Reason: unit.Clipped(p.Metadata.Reason)},
	}
}

// decodeStatus reads a status-update of the Routing Protocol. A message of the type status may have the same payload. Neither ends a
// task: only a result does.
func decodeStatus(d parley.Draft) *parley.TaskChange {
	var p struct {
		Status     string   `json:"status"`
		Progress   *float64 `json:"progress"`
		Message    string   `json:"message"`
		Confidence *float64 `json:"confidence"`
		Blockers   []string `json:"blockers"`
	}
	if json.Unmarshal(d.Payload, &p) != nil || d.Type == parley.TypeStatus && !schema.Fits("routing", string(typeStatusUpdate), d.Payload) {
		return nil
	}
	line := unit.Clipped(cmp.Or(p.Message, d.Content.Text))
	if p.Status == "blocked" && len(p.Blockers) == 0 {
		p.Blockers = []string{cmp.Or(line, "no reason was given")}
	}
	return &parley.TaskChange{Progress: &parley.TaskProgress{
		Fraction: p.Progress, Message: line, Confidence: p.Confidence, Blockers: p.Blockers,
	}}
}

// decodeNotification reads a notification of ClawOS. The events progress and warning update a task, completed and failed end it.
func decodeNotification(d parley.Draft) *parley.TaskChange {
	var p struct {
		Event    string `json:"event"`
		Message  string `json:"message"`
		Progress struct {
			Current *int64   `json:"current"`
			Total   *int64   `json:"total"`
			Percent *float64 `json:"percent"`
		} `json:"progress"`
	}
	if json.Unmarshal(d.Payload, &p) != nil {
		return nil
	}
	line := cmp.Or(p.Message, d.Content.Text)
	switch p.Event {
	case "progress", "warning":
		progress := &parley.TaskProgress{Current: p.Progress.Current, Total: p.Progress.Total, Message: unit.Clipped(line)}
		if p.Progress.Percent != nil {
			fraction := *p.Progress.Percent / 100
			progress.Fraction = &fraction
		}
		return &parley.TaskChange{Progress: progress}
	case "completed":
		return &parley.TaskChange{Status: parley.TaskCompleted, Result: &parley.TaskResult{Text: line}}
	case "failed":
		return &parley.TaskChange{Status: parley.TaskFailed, Reason: unit.Clipped(line)}
	default:
		return nil
	}
}

// decodeResult reads a result of the Routing Protocol, or a task_result of the Multi-Agent OS, which is a text.
func decodeResult(d parley.Draft) *parley.TaskChange {
	var p struct {
		Status       string                     `json:"status"`
		Message      string                     `json:"message"`
		Deliverables json.RawMessage            `json:"deliverables"`
		Metrics      map[string]json.RawMessage `json:"metrics"`
		Issues       []string                   `json:"issues"`
		NextSteps    []string                   `json:"next_steps"`
	}
	if len(d.Payload) > 0 && json.Unmarshal(d.Payload, &p) != nil {
		return nil
	}
	result := &parley.TaskResult{
		Text: cmp.Or(d.Content.Text, p.Message), Deliverables: deliverables(p.Deliverables), Issues: p.Issues, NextSteps: p.NextSteps,
		Payload: unit.WithoutKeys(d.Payload, "status", "message", "issues", "next_steps"),
	}
	for name, raw := range p.Metrics {
		var value float64
		if json.Unmarshal(raw, &value) == nil {
			if result.Metrics == nil {
				result.Metrics = map[string]float64{}
			}
			result.Metrics[name] = value
		}
	}
	return endedChange(p.Status, result, strings.Join(p.Issues, "; "))
}

// deliverables joins the lists of files in a result of the Routing Protocol.
func deliverables(raw json.RawMessage) (all []string) {
	var lists struct {
		Modified  []string `json:"files_modified"`
		Tests     []string `json:"tests_added"`
		Artifacts []string `json:"artifacts"`
	}
	if json.Unmarshal(raw, &all) == nil || json.Unmarshal(raw, &lists) != nil {
		return all
	}
	return append(append(lists.Modified, lists.Tests...), lists.Artifacts...)
}

// decodeResponse reads a response of ClawOS. A response without a status is a reply.
func decodeResponse(d parley.Draft) *taskIntent {
	var p struct {
		Status string          `json:"status"`
		Result json.RawMessage `json:"result"`
		Error  json.RawMessage `json:"error"`
	}
	if len(d.Payload) > 0 && json.Unmarshal(d.Payload, &p) != nil {
		return nil
	}
	if p.Status == "" {
		return replyIntent(d)
	}
	result := &parley.TaskResult{Text: cmp.Or(d.Content.Text, unit.AsWords(p.Result)), Payload: unit.WithoutKeys(d.Payload, "status", "requestId")}
	return changeIntent(endedChange(p.Status, result, unit.AsWords(p.Error)))
}

// decodeError reads an error of ClawOS.
func decodeError(d parley.Draft) *parley.TaskChange {
	var p struct {
		Message string `json:"message"`
	}
	if len(d.Payload) > 0 && json.Unmarshal(d.Payload, &p) != nil {
		return nil
	}
	return &parley.TaskChange{Status: parley.TaskFailed, Reason: unit.Clipped(cmp.Or(p.Message, d.Content.Text))}
}

// endedChange returns the end of a task for a status of ClawOS or the Routing Protocol, or nil for an unknown status.
func endedChange(status string, r *parley.TaskResult, reason string) *parley.TaskChange {
	switch status {
	case "success", "":
		return &parley.TaskChange{Status: parley.TaskCompleted, Outcome: parley.OutcomeSuccess, Result: r}
	case "partial":
		return &parley.TaskChange{Status: parley.TaskCompleted, Outcome: parley.OutcomePartial, Result: r}
	case "failure":
		return &parley.TaskChange{Status: parley.TaskFailed, Result: r, Reason: unit.Clipped(cmp.Or(reason, r.Text))}
	default:
		return nil
	}
}

// parseTime parses a time, or returns nil.
func parseTime(text string) *time.Time {
	at, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return nil
	}
	return &at
}
