package parley

import (
	"encoding/json"
	"time"
)

// Limits of the tree of tasks.
const (
	MaxTaskDepth   = 8     // of a task under its root
	MaxTasksOpen   = 1_024 // under one root
	MaxTaskTitle   = 80    // characters
	MaxBlockers    = 64
	maxResultItems = 256
)

// Task is a piece of work that somebody has asked for. Tasks form trees: what an agent delegates while it is at
// a task is under that one.
type Task struct {
	ID     string `json:"id" doc:"Its id, such as task-101."`
	Parent string `json:"parent,omitempty" doc:"The task it is part of."`
	// Root is its own id, if it is the root.
	Root              string        `json:"root" doc:"The root of its tree."`
	Depth             int           `json:"depth" doc:"How far below its root it is; 0: it is a root."`
	Title             string        `json:"title" doc:"What it is, in a line."`
	Requester         string        `json:"requester" doc:"Who asked for it."`
	OriginalRequester string        `json:"original_requester" doc:"Who asked for the root."`
	Assignee          string        `json:"assignee" doc:"Who does it."`
	DelegationReason  string        `json:"delegation_reason,omitempty" doc:"Why it was given to its assignee."`
	Source            string        `json:"source" doc:"agent_delegation, agent_ask, or the door it came by."`
	Priority          Priority      `json:"priority"`
	Deadline          *time.Time    `json:"deadline,omitempty" doc:"When it fails unless it has ended."`
	DependsOn         []string      `json:"depends_on,omitempty" doc:"Tasks that must be completed before it begins."`
	Conversation      string        `json:"conversation,omitempty" doc:"The conversation of the message that began it."`
	Message           string        `json:"message,omitempty" doc:"The message that began it."`
	TraceID           string        `json:"trace_id" doc:"What it belongs to."`
	Status            TaskState     `json:"status" doc:"queued, active, completed, failed or cancelled."`
	Outcome           TaskOutcome   `json:"outcome,omitempty" doc:"How well it went, once it is completed."`
	Result            *TaskResult   `json:"result,omitempty" doc:"What came of it."`
	Error             *Error        `json:"error,omitempty" doc:"Why it has failed."`
	Progress          *TaskProgress `json:"progress,omitempty" doc:"How far it has come, by its assignee's word."`
	Attempt           int           `json:"attempt" doc:"The how manieth time it is tried, from 1."`
	CreatedAt         time.Time     `json:"created_at" doc:"When it was made."`
	UpdatedAt         time.Time     `json:"updated_at" doc:"When it was last changed."`
	StartedAt         *time.Time    `json:"started_at,omitempty" doc:"When work on it began."`
	EndedAt           *time.Time    `json:"ended_at,omitempty" doc:"When it ended."`

	// CallbackTo is the conversation in which the requester is told of the end: none for a task that an agent
	// was given for what woke it, whose answer stands there anyway. Callback is the message that has told it.
	CallbackTo string `json:"callback_to,omitempty" doc:"The conversation in which its requester is told of the end."`
	Callback   string `json:"callback,omitempty" doc:"The message that has told its requester of the end."`
}

// The sources of tasks that agents make.
const (
	TaskFromDelegation = "agent_delegation"
	TaskFromAsk        = "agent_ask"
)

// TaskOutcome is how well a completed task went.
type TaskOutcome string

// The outcomes.
const (
	OutcomeSuccess TaskOutcome = "success"
	OutcomePartial TaskOutcome = "partial"
)

// TaskResult is what came of a task.
type TaskResult struct {
	Text         string             `json:"text,omitempty" doc:"In words."`
	Deliverables []string           `json:"deliverables,omitempty" doc:"What was made."`
	Metrics      map[string]float64 `json:"metrics,omitempty" doc:"Numbers about it."`
	Issues       []string           `json:"issues,omitempty" doc:"What went wrong."`
	NextSteps    []string           `json:"next_steps,omitempty" doc:"What should be done next."`
	// Payload is what else the message said by which the task has ended, in the words of its format: an object. It goes into the
	// document by which a requester in a directory tree hears of the end.
	Payload json.RawMessage `json:"payload,omitempty" doc:"What else the message said by which the task has ended, in the words of its format."`
}

// TaskProgress is how far a task has come, by its assignee's word.
type TaskProgress struct {
	Fraction   *float64 `json:"fraction,omitempty" doc:"How much of it is done, from 0 to 1."`
	Current    *int64   `json:"current,omitempty" doc:"How much of the total is done."`
	Total      *int64   `json:"total,omitempty" doc:"How much there is to do."`
	Message    string   `json:"message,omitempty" doc:"In a sentence."`
	Confidence *float64 `json:"confidence,omitempty" doc:"How sure its assignee is, from 0 to 1."`
	// Blockers, if there are any, mean that it is blocked, and that its requester was told.
	Blockers []string  `json:"blockers,omitempty" doc:"What it cannot go on without."`
	At       time.Time `json:"at" doc:"When it was said."`
	Untold   bool      `json:"untold,omitempty" doc:"The requester lives in a directory tree and has too many reports unread: this one is written once there is room."`
}

// Blocked says that a task cannot go on without help.
func (t Task) Blocked() bool {
	return !t.Status.Ended() && t.Progress != nil && len(t.Progress.Blockers) > 0
}

// TaskView is a task as somebody sees it who may.
type TaskView struct {
	Task
	WaitsOn  WaitsOn       `json:"waits_on,omitzero" doc:"What it waits for while it is open."`
	Subtasks []string      `json:"subtasks,omitempty" doc:"The tasks that are part of it."`
	Elapsed  time.Duration `json:"-"` // from its creation to its end, or until now
	Usage                  // of its runs, and of all under it

	// Of a task that was just made: what its requester must know about the names in the text, and the names that no participant
	// has. A notice names each of these, with the nearest names.
	Notices         []string `json:"notices,omitempty" doc:"Of a task that was just made: what its requester must know about the names in the text."`
	UnknownMentions []string `json:"unknown_mentions,omitempty" doc:"The names that the text mentions and no participant has. A notice names each, with the nearest names."`
}

// WaitsOn is what an open task waits for.
type WaitsOn struct {
	Subtasks []string `json:"subtasks,omitempty" doc:"Parts of it that are open."`
	Approval string   `json:"approval,omitempty" doc:"The approval of a call it has made."`
	Number   int64    `json:"approval_number,omitempty" doc:"The number of the approval: approval-7 has 7."`
	After    []string `json:"after,omitempty" doc:"Tasks it depends on that are not completed."`
}

// ApprovalName is the short name of the approval that is waited for, or nothing.
func (w WaitsOn) ApprovalName() string { return shortName(NounApproval, w.Number, w.Approval) }

// NewTask asks for a piece of work, for somebody else or for oneself.
type NewTask struct {
	Title            string     `json:"title,omitempty" doc:"What it is, in a line; default: the first line of the text."`
	Text             string     `json:"text" doc:"What is to be done."`
	Assignee         string     `json:"assignee" doc:"Who is to do it; default: the caller."`
	Parent           string     `json:"parent,omitempty" doc:"The task it is part of."`
	Priority         Priority   `json:"priority,omitzero"`
	Deadline         *time.Time `json:"deadline,omitempty" doc:"When it fails unless it has ended."`
	DependsOn        []string   `json:"depends_on,omitempty" doc:"Tasks, or messages, that must be completed before it begins."`
	DelegationReason string     `json:"delegation_reason,omitempty" doc:"Why it is given to its assignee."`
	Artifacts        []Artifact `json:"artifacts,omitempty" doc:"Files that belong to it."`
	IdempotencyKey   string     `json:"idempotency_key,omitempty" doc:"The same key of the same requester within 24 hours makes nothing and returns the first task."`
}

// TaskChange is what is said of a task: progress, or with a status its end (completed, failed).
type TaskChange struct {
	Progress *TaskProgress `json:"progress,omitempty"`
	Status   TaskState     `json:"status,omitempty"`  // completed or failed; none: only progress, or only the result
	Outcome  TaskOutcome   `json:"outcome,omitempty"` // of what is completed; default: success
	Result   *TaskResult   `json:"result,omitempty"`
	Reason   string        `json:"reason,omitempty"` // why it has failed
}

// TaskFilter selects tasks for a list, the newest first.
type TaskFilter struct {
	Assignee  string
	Requester string
	Status    []TaskState
	Open      bool // queued or active
	Roots     bool // only those without a parent
	Before    string
	Limit     int
}

// EventTask is the kind of the event that a task's step to a state is: task.completed and so on.
func EventTask(s TaskState) EventKind { return EventKind("task." + string(s)) }
