package parley

import (
	"encoding/json"
	"time"
)

// The limits of a tree of tasks.
const (
	MaxTaskDepth   = 8     // the depth below the root
	MaxTasksOpen   = 1_024 // the open tasks under one root
	MaxTaskTitle   = 80    // characters
	MaxBlockers    = 64
	maxResultItems = 256
)

// Task is a piece of work that a participant has requested. Tasks form trees: a task that an agent delegates while it works
// on another task is a subtask of that one.
type Task struct {
	ID     string `json:"id" doc:"Its id, such as task-101."`
	Parent string `json:"parent,omitempty" doc:"The parent task."`
	// Root is the task's own id if it is the root.
	Root              string        `json:"root" doc:"The root of the task's tree."`
	Depth             int           `json:"depth" doc:"The depth below the root; 0 for a root."`
	Title             string        `json:"title" doc:"The title, in one line."`
	Requester         string        `json:"requester" doc:"The requester."`
	OriginalRequester string        `json:"original_requester" doc:"The requester of the root task."`
	Assignee          string        `json:"assignee" doc:"The agent or person that does the task."`
	DelegationReason  string        `json:"delegation_reason,omitempty" doc:"Why the assignee got the task."`
	Source            string        `json:"source" doc:"agent_delegation, agent_ask, or where the task came from: cli, web, api, run and so on."`
	Priority          Priority      `json:"priority"`
	Deadline          *time.Time    `json:"deadline,omitempty" doc:"The task fails at this time unless it has ended."`
	DependsOn         []string      `json:"depends_on,omitempty" doc:"Tasks that must be completed before it begins."`
	Conversation      string        `json:"conversation,omitempty" doc:"The conversation of the message that began the task."`
	Message           string        `json:"message,omitempty" doc:"The message that began the task."`
	TraceID           string        `json:"trace_id" doc:"The trace it belongs to."`
	Status            TaskState     `json:"status" doc:"queued, active, completed, failed or cancelled."`
	Outcome           TaskOutcome   `json:"outcome,omitempty" doc:"The outcome of a completed task: success or partial."`
	Result            *TaskResult   `json:"result,omitempty" doc:"The result of the task."`
	Error             *Error        `json:"error,omitempty" doc:"Why it failed."`
	Progress          *TaskProgress `json:"progress,omitempty" doc:"The progress that the assignee reports."`
	Attempt           int           `json:"attempt" doc:"The attempt number, from 1."`
	CreatedAt         time.Time     `json:"created_at" doc:"When it was created."`
	UpdatedAt         time.Time     `json:"updated_at" doc:"When it was last changed."`
	StartedAt         *time.Time    `json:"started_at,omitempty" doc:"When work on it began."`
	EndedAt           *time.Time    `json:"ended_at,omitempty" doc:"When it ended."`

	// CallbackTo is the conversation in which the hub tells the requester that the task ended. It is empty for a task that the hub
	// made for the message that woke the assignee, because that message gets an answer anyway. Callback is the message that told the
	// requester.
	CallbackTo string `json:"callback_to,omitempty" doc:"The conversation in which the hub tells the requester that the task ended."`
	Callback   string `json:"callback,omitempty" doc:"The message that told the requester that the task ended."`
}

// The sources of tasks that come from delegations and from asks.
const (
	TaskFromDelegation = "agent_delegation"
	TaskFromAsk        = "agent_ask"
)

// TaskOutcome says how well the assignee has completed a task.
type TaskOutcome string

// The outcomes.
const (
	OutcomeSuccess TaskOutcome = "success"
	OutcomePartial TaskOutcome = "partial"
)

// TaskResult is the result of a task.
type TaskResult struct {
	Text         string             `json:"text,omitempty" doc:"The result in words."`
	Deliverables []string           `json:"deliverables,omitempty" doc:"The things that were made."`
	Metrics      map[string]float64 `json:"metrics,omitempty" doc:"Measurements of the result."`
	Issues       []string           `json:"issues,omitempty" doc:"What went wrong."`
	NextSteps    []string           `json:"next_steps,omitempty" doc:"What should be done next."`
	// Payload has further fields of the message that ended the task, as an object in the terms of its format. A requester that lives
	// in a directory tree gets these fields in the document about the end of the task.
	Payload json.RawMessage `json:"payload,omitempty" doc:"Further fields of the message that ended the task, in the words of its format."`
}

// TaskProgress is the progress that the assignee of a task reports.
type TaskProgress struct {
	Fraction   *float64 `json:"fraction,omitempty" doc:"How much of it is done, from 0 to 1."`
	Current    *int64   `json:"current,omitempty" doc:"How much of the total is done."`
	Total      *int64   `json:"total,omitempty" doc:"How much there is to do."`
	Message    string   `json:"message,omitempty" doc:"The progress in a sentence."`
	Confidence *float64 `json:"confidence,omitempty" doc:"How sure the assignee is, from 0 to 1."`
	// Blockers says what blocks the task. If the list is not empty, the hub tells the requester.
	Blockers   []string  `json:"blockers,omitempty" doc:"What blocks the task."`
	At         time.Time `json:"at" doc:"When the assignee reported it."`
	Unreported bool      `json:"untold,omitempty" doc:"The requester lives in a directory tree and has too many unread reports. The hub writes this one when there is room."`
}

// Blocked reports whether a task cannot continue without help.
func (t Task) Blocked() bool {
	return !t.Status.Ended() && t.Progress != nil && len(t.Progress.Blockers) > 0
}

// TaskView is a task as a participant sees it.
type TaskView struct {
	Task
	WaitsOn  WaitsOn       `json:"waits_on,omitzero" doc:"What the open task waits for."`
	Subtasks []string      `json:"subtasks,omitempty" doc:"The subtasks."`
	Elapsed  time.Duration `json:"-"` // from its creation to its end, or until now
	Usage                  // of the runs of the task and of its subtasks

	// Notices and UnknownMentions are set for a new task. Notices tells the requester about the names in the text. UnknownMentions
	// lists the names that no participant has; a notice names each of them, with the nearest names.
	Notices         []string `json:"notices,omitempty" doc:"Of a new task: what the requester must know about the names in the text."`
	UnknownMentions []string `json:"unknown_mentions,omitempty" doc:"The names that the text mentions and no participant has. A notice names each, with the nearest names."`
}

// WaitsOn says what an open task waits for.
type WaitsOn struct {
	Subtasks []string `json:"subtasks,omitempty" doc:"Open subtasks."`
	Approval string   `json:"approval,omitempty" doc:"The approval that a call of the task needs."`
	Number   int64    `json:"approval_number,omitempty" doc:"The number of the approval: approval-7 has 7."`
	After    []string `json:"after,omitempty" doc:"Tasks that it depends on and that are not completed."`
}

// ApprovalName returns the short name of the approval that the task waits for, or "".
func (w WaitsOn) ApprovalName() string { return shortName(NounApproval, w.Number, w.Approval) }

// NewTask describes a task to create, for another participant or for the caller.
type NewTask struct {
	Title            string     `json:"title,omitempty" doc:"The title, in one line. Default: the first line of the text."`
	Text             string     `json:"text" doc:"The work to do."`
	Assignee         string     `json:"assignee" doc:"The assignee. Default: the caller."`
	Parent           string     `json:"parent,omitempty" doc:"The parent task."`
	Priority         Priority   `json:"priority,omitzero"`
	Deadline         *time.Time `json:"deadline,omitempty" doc:"The task fails at this time unless it has ended."`
	DependsOn        []string   `json:"depends_on,omitempty" doc:"Tasks, or messages, that must be completed before it begins."`
	DelegationReason string     `json:"delegation_reason,omitempty" doc:"Why the assignee gets the task."`
	Artifacts        []Artifact `json:"artifacts,omitempty" doc:"Files that belong to it."`
	IdempotencyKey   string     `json:"idempotency_key,omitempty" doc:"The same key from the same requester within 24 hours creates nothing and returns the first task."`
}

// TaskChange is a report on a task: progress, or with a status the end of the task (completed, failed).
type TaskChange struct {
	Progress *TaskProgress `json:"progress,omitempty"`
	Status   TaskState     `json:"status,omitempty"`  // completed or failed; empty: only progress, or only the result
	Outcome  TaskOutcome   `json:"outcome,omitempty"` // of a completed task; default: success
	Result   *TaskResult   `json:"result,omitempty"`
	Reason   string        `json:"reason,omitempty"` // why the task failed
}

// TaskFilter selects tasks for a list, the newest first.
type TaskFilter struct {
	Assignee  string
	Requester string
	Status    []TaskState
	Open      bool // queued or active
	Roots     bool // only tasks without a parent
	Before    string
	Limit     int
}

// EventTask returns the kind of the event for a task that reaches a state, such as task.completed.
func EventTask(s TaskState) EventKind { return EventKind("task." + string(s)) }
