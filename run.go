package parley

import "time"

// Run is one invocation of a runtime for an agent: what woke it, how it went, and what it cost.
type Run struct {
	ID           string   `json:"id" doc:"The id."`
	Number       int64    `json:"number,omitempty" doc:"The number in its short name: run-12 has 12. Numbers rise and are never used again."`
	Agent        string   `json:"agent" doc:"Whose run it is."`
	Conversation string   `json:"conversation" doc:"The conversation's id."`
	Task         string   `json:"task,omitempty" doc:"The task it belongs to."`
	Runtime      string   `json:"runtime" doc:"How the agent is run."`
	State        RunState `json:"state" doc:"starting, running, waiting, succeeded, failed, cancelled or lost."`
	// Triggers are in the order of seq.
	Triggers []string `json:"triggers" doc:"The messages that woke it."`
	// TraceID is that of the newest trigger.
	TraceID string `json:"trace_id" doc:"The trace it belongs to."`
	Attempt int    `json:"attempt" doc:"The attempt number for its triggers, from 1."`
	// Hops is the largest of its triggers'.
	Hops      int        `json:"hops" doc:"The length of the chain of automatic messages that led to it."`
	Chain     int        `json:"chain" doc:"Automatic wakes in a row that led to it."`
	Depth     int        `json:"depth" doc:"The number of asks that the run is nested in."`
	Ask       bool       `json:"ask,omitempty" doc:"Whether the run answers an ask, in a slot of its own and in a fresh session."`
	CreatedAt time.Time  `json:"created_at" doc:"When the hub gave out the run."`
	StartedAt *time.Time `json:"started_at,omitempty" doc:"When the run's turn began."`
	EndedAt   *time.Time `json:"ended_at,omitempty" doc:"When it ended."`
	Deadline  time.Time  `json:"deadline" doc:"When the hub ends the run."`
	Session   string     `json:"session,omitempty" doc:"The session of the client. A later run resumes it."`
	Answer    string     `json:"answer,omitempty" doc:"The message that the run ended with."`
	Failure   *Error     `json:"failure,omitempty" doc:"Why it failed."`
	Cancel    string     `json:"cancel,omitempty" doc:"Why the run must end, after a request to cancel it."`
	Usage

	Node    string  `json:"node,omitempty" doc:"The hub process that owns the run."`
	Process Process `json:"-"`
}

// Process is a process of the machine a run is on. Started tells it from a later one with the same number.
type Process struct {
	PID     int
	Started int64
}

// Usage is what a run has cost.
type Usage struct {
	InputTokens  int64   `json:"input_tokens,omitempty" doc:"Tokens that the model read."`
	OutputTokens int64   `json:"output_tokens,omitempty" doc:"Tokens that the model wrote."`
	Cost         float64 `json:"cost,omitempty" doc:"In US dollars."`
}

// Plus adds what another run, or another part of one, has cost.
func (u Usage) Plus(other Usage) Usage {
	u.InputTokens += other.InputTokens
	u.OutputTokens += other.OutputTokens
	u.Cost += other.Cost
	return u
}

// RunView is a run with what it posted.
type RunView struct {
	Run
	Posts []string `json:"posts,omitempty" doc:"The messages that the run posted, including its answer."`
}

// RunFilter selects runs for a list, the newest first.
type RunFilter struct {
	Agent        string
	Conversation string
	Live         bool
	Failed       bool   // only those with a failure
	Before       string // only those with a smaller id
	Limit        int
}

// Spent is what an agent has spent in a while.
type Spent struct {
	Runs int `json:"runs" doc:"The runs that the messages woke."`
	Usage
}

// EventRun is the kind of the event that a run's step to a state is: run.running and so on.
func EventRun(s RunState) EventKind { return EventKind("run." + string(s)) }

// RunContext is everything that a run's prompt is made from.
type RunContext struct {
	Run          Run
	Agent        Agent
	Files        []IdentityFile // those there are, in their order
	Conversation Conversation
	Members      []Agent   // who takes part in it, the agent itself too
	History      []Message // of the conversation, before the triggers and among them, oldest first
	Whole        []Message // where a session is resumed: what History would be without it
	Triggers     []Message // by seq
	Senders      []Agent   // of everything above that are not members (any more), and parley
	Earlier      []Message // what an earlier attempt has posted
	Resumed      bool      // the client's session knows what came before History
	Tools        []ToolDoc // that it may use
	Task         *TaskView // that the run is in
	Request      *Message  // that began the task, if it is in none of the lists above
	Needed       []Task    // that the task depends on, with their results
}

// Fresh is the same for a session that knows nothing.
func (c RunContext) Fresh() RunContext {
	if c.Resumed {
		c.History, c.Whole, c.Resumed = c.Whole, nil, false
	}
	return c
}

// IdentityFile is one of the files that say who an agent is.
type IdentityFile struct{ Name, Text string }

// IdentityFiles are their names, in the order in which an agent is given them.
func IdentityFiles() []string {
	return []string{"IDENTITY.md", "SOUL.md", "MEMORY.md", "AGENTS.md", "TOOLS.md"}
}

// ToolDoc is a tool as an agent is told of it.
type ToolDoc struct{ Name, Description string }

// Prompt is what a run is told: by its operator, and by those who talk to it.
type Prompt struct {
	System string
	User   string
}
