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
	ID                string        `json:"id"` // task-101
	Parent            string        `json:"parent,omitempty"`
	Root              string        `json:"root"`  // of its tree; its own id if it is that
	Depth             int           `json:"depth"` // 0: a root
	Title             string        `json:"title"`
	Requester         string        `json:"requester"`
	OriginalRequester string        `json:"original_requester"` // who asked for the root
	Assignee          string        `json:"assignee"`
	DelegationReason  string        `json:"delegation_reason,omitempty"`
	Source            string        `json:"source"` // agent_delegation, agent_ask, or the door
	Priority          Priority      `json:"priority"`
	Deadline          *time.Time    `json:"deadline,omitempty"`
	DependsOn         []string      `json:"depends_on,omitempty"` // tasks
	Conversation      string        `json:"conversation,omitempty"`
	Message           string        `json:"message,omitempty"` // that began it
	TraceID           string        `json:"trace_id"`
	Status            TaskState     `json:"status"`
	Outcome           TaskOutcome   `json:"outcome,omitempty"`
	Result            *TaskResult   `json:"result,omitempty"`
	Error             *Error        `json:"error,omitempty"`
	Progress          *TaskProgress `json:"progress,omitempty"`
	Attempt           int           `json:"attempt"` // 1-based; more after a retry
	CreatedAt         time.Time     `json:"created_at"`
	UpdatedAt         time.Time     `json:"updated_at"`
	StartedAt         *time.Time    `json:"started_at,omitempty"`
	EndedAt           *time.Time    `json:"ended_at,omitempty"`

	// CallbackTo is the conversation in which the requester is told of the end: none for a task that an agent
	// was given for what woke it, whose answer stands there anyway. Callback is the message that has told it.
	CallbackTo string `json:"callback_to,omitempty"`
	Callback   string `json:"callback,omitempty"`
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
	Text         string             `json:"text,omitempty"`
	Deliverables []string           `json:"deliverables,omitempty"`
	Metrics      map[string]float64 `json:"metrics,omitempty"`
	Issues       []string           `json:"issues,omitempty"`
	NextSteps    []string           `json:"next_steps,omitempty"`
	// Payload is what else the message said by which the task has ended, in the words of its format: an object. It goes into the
	// document by which a requester in a directory tree hears of the end.
	Payload json.RawMessage `json:"payload,omitempty"`
}

// TaskProgress is how far a task has come, by its assignee's word.
type TaskProgress struct {
	Fraction   *float64  `json:"fraction,omitempty"` // 0 to 1
	Current    *int64    `json:"current,omitempty"`
	Total      *int64    `json:"total,omitempty"`
	Message    string    `json:"message,omitempty"`
	Confidence *float64  `json:"confidence,omitempty"` // 0 to 1
	Blockers   []string  `json:"blockers,omitempty"`   // any: it is blocked, and its requester was told
	At         time.Time `json:"at"`
	Untold     bool      `json:"untold,omitempty"` // its requester in a directory tree has too many reports unread to be sent this one
}

// Blocked says that a task cannot go on without help.
func (t Task) Blocked() bool {
	return !t.Status.Ended() && t.Progress != nil && len(t.Progress.Blockers) > 0
}

// TaskView is a task as somebody sees it who may.
type TaskView struct {
	Task
	WaitsOn  WaitsOn       `json:"waits_on,omitzero"`
	Subtasks []string      `json:"subtasks,omitempty"` // its children
	Elapsed  time.Duration `json:"-"`                  // from its creation to its end, or until now
	Usage                  // of its runs, and of all under it

	// Of a task that was just made: what its requester must know about the names in the text, and the names that no participant
	// has. A notice names each of these, with the nearest names.
	Notices         []string `json:"notices,omitempty"`
	UnknownMentions []string `json:"unknown_mentions,omitempty"`
}

// WaitsOn is what an open task waits for.
type WaitsOn struct {
	Subtasks []string `json:"subtasks,omitempty"` // open children
	Approval string   `json:"approval,omitempty"`
	Number   int64    `json:"approval_number,omitempty"` // of the approval
	After    []string `json:"after,omitempty"`           // tasks it depends on that are not completed
}

// ApprovalName is the short name of the approval that is waited for, or nothing.
func (w WaitsOn) ApprovalName() string { return shortName(NounApproval, w.Number, w.Approval) }

// NewTask asks for a piece of work, for somebody else or for oneself.
type NewTask struct {
	Title            string     `json:"title,omitempty"` // default: the first line of the text
	Text             string     `json:"text"`
	Assignee         string     `json:"assignee"` // default: the caller
	Parent           string     `json:"parent,omitempty"`
	Priority         Priority   `json:"priority,omitzero"`
	Deadline         *time.Time `json:"deadline,omitempty"`
	DependsOn        []string   `json:"depends_on,omitempty"`
	DelegationReason string     `json:"delegation_reason,omitempty"`
	Artifacts        []Artifact `json:"artifacts,omitempty"`
	IdempotencyKey   string     `json:"idempotency_key,omitempty"`
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
