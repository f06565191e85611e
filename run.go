package parley

import "time"

// Run is one invocation of a runtime for an agent: what woke it, how it went, and what it cost.
type Run struct {
	ID           string     `json:"id"`
	Number       int64      `json:"number,omitempty"` // rises; run-12 has 12
	Agent        string     `json:"agent"`
	Conversation string     `json:"conversation"`
	Task         string     `json:"task,omitempty"`
	Runtime      string     `json:"runtime"`
	State        RunState   `json:"state"`
	Triggers     []string   `json:"triggers"`      // the messages that woke it, by seq
	TraceID      string     `json:"trace_id"`      // of the newest trigger
	Attempt      int        `json:"attempt"`       // 1-based
	Hops         int        `json:"hops"`          // the largest of its triggers'
	Chain        int        `json:"chain"`         // exchanges in a row that led to it
	Depth        int        `json:"depth"`         // of what it asks: how many asks it is nested in
	Ask          bool       `json:"ask,omitempty"` // it answers an ask: in a slot of its own, and in a fresh session
	CreatedAt    time.Time  `json:"created_at"`
	StartedAt    *time.Time `json:"started_at,omitempty"`
	EndedAt      *time.Time `json:"ended_at,omitempty"`
	Deadline     time.Time  `json:"deadline"`
	Session      string     `json:"session,omitempty"` // the client's own, to be resumed
	Answer       string     `json:"answer,omitempty"`  // the message it ended with
	Failure      *Error     `json:"failure,omitempty"`
	Cancel       string     `json:"cancel,omitempty"` // why it is to end, once somebody wants it to
	Usage

	Node    string  `json:"node,omitempty"` // which process of the hub has it
	Process Process `json:"-"`
}

// Process is a process of the machine a run is on. Started tells it from a later one with the same number.
type Process struct {
	PID     int
	Started int64
}

// Usage is what a run has cost.
type Usage struct {
	InputTokens  int64   `json:"input_tokens,omitempty"`
	OutputTokens int64   `json:"output_tokens,omitempty"`
	Cost         float64 `json:"cost,omitempty"` // in US dollars
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
	Posts []string `json:"posts,omitempty"` // messages, the answer among them
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

// RunPost is something a run has posted. Digest is of the call, so that a later attempt that makes the same
// call gets the same message.
type RunPost struct {
	Digest  string
	Message string
}

// Spent is what an agent has spent in a while.
type Spent struct {
	Runs int `json:"runs"`
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
