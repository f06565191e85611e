package parley

import "time"

// Run is one call of a runtime for an agent: what woke it, how it ended, and what it cost.
type Run struct {
	ID           string   `json:"id" doc:"The id."`
	Number       int64    `json:"number,omitempty" doc:"The number in its short name: run-12 has 12. Numbers rise and are never used again."`
	Agent        string   `json:"agent" doc:"Whose run it is."`
	Conversation string   `json:"conversation" doc:"The conversation's id."`
	Task         string   `json:"task,omitempty" doc:"The task it belongs to."`
	Runtime      string   `json:"runtime" doc:"How the agent is run."`
	State        RunState `json:"state" doc:"starting, running, waiting, succeeded, failed, cancelled or lost."`
	// Triggers are ordered by seq.
	Triggers []string `json:"triggers" doc:"The messages that woke it."`
	// TraceID is the trace of the newest trigger.
	TraceID string `json:"trace_id" doc:"The trace it belongs to."`
	Attempt int    `json:"attempt" doc:"The attempt number for its triggers, from 1."`
	// Hops is the largest value of the triggers.
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

// Process is a process on the machine of a run. Started distinguishes it from a later process with the same PID.
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

// Plus returns the sum of two usages.
func (u Usage) Plus(other Usage) Usage {
	u.InputTokens += other.InputTokens
	u.OutputTokens += other.OutputTokens
	u.Cost += other.Cost
	return u
}

// RunView is a run with the messages that it posted.
type RunView struct {
	Run
	Posts []string `json:"posts,omitempty" doc:"The messages that the run posted, including its answer."`
}

// RunFilter selects runs for a list, the newest first.
type RunFilter struct {
	Agent        string
	Conversation string
	Live         bool
	Failed       bool   // only runs with a failure
	Before       string // only runs with a smaller id
	Limit        int
}

// Spent is the cost of an agent's runs in a period.
type Spent struct {
	Runs int `json:"runs" doc:"How many runs the agent had."`
	Usage
}

// EventRun returns the kind of the event for a run that reaches a state, such as run.running.
func EventRun(s RunState) EventKind { return EventKind("run." + string(s)) }

// RunContext is everything that a run's prompt is made from.
type RunContext struct {
	Run          Run
	Agent        Agent
	Files        []IdentityFile // the existing identity files, in their order
	Conversation Conversation
	Members      []Agent   // the members of the conversation, including the agent
	History      []Message // messages of the conversation before the triggers and among them, oldest first
	Whole        []Message // if Resumed: what History would be in a new session
	Triggers     []Message // by seq
	Senders      []Agent   // senders of messages above that are not members, and parley
	Earlier      []Message // messages that an earlier attempt posted
	Resumed      bool      // the client resumes a session, which knows the messages before History
	Tools        []ToolDoc // the tools that the run may use
	Task         *TaskView // the task of the run
	Request      *Message  // the message that began the task, unless a list above has it
	Needed       []Task    // the tasks that the task depends on, with their results
	Notes        []Note    // notes of the agent and of the conversation that match the triggers, the best first
}

// Fresh returns the context for a new session, which does not know earlier messages.
func (c RunContext) Fresh() RunContext {
	if c.Resumed {
		c.History, c.Whole, c.Resumed = c.Whole, nil, false
	}
	return c
}

// IdentityFile is one of the files that tell an agent about itself.
type IdentityFile struct{ Name, Text string }

// IdentityFiles returns the names of the identity files, in the order of the prompt.
func IdentityFiles() []string {
	return []string{"IDENTITY.md", "SOUL.md", "MEMORY.md", "AGENTS.md", "TOOLS.md"}
}

// ToolDoc describes a tool to an agent.
type ToolDoc struct{ Name, Description string }

// Prompt is the input of a run. System comes from the operator; User has the messages of participants.
type Prompt struct {
	System string
	User   string
}
