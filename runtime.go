package parley

import (
	"context"
	"time"
)

// The runtimes that are not programs.
const (
	RuntimeLLM      = "llm"
	RuntimeWebhook  = "webhook"
	RuntimeScript   = "script"
	RuntimeAttached = "attached" // the agent has its own session, which polls the inbox
	RuntimeBridge   = "bridge"   // the agent lives in a bridged directory
)

// Dispatched reports whether the hub starts the runs of an agent. Other agents poll their own inbox.
func (a Agent) Dispatched() bool {
	return a.Kind == KindAgent && a.Runtime != "" && a.Runtime != RuntimeAttached && a.Runtime != RuntimeBridge
}

// Runtime runs agents of one sort.
type Runtime interface {
	// Check returns nil if the runtime can run an agent, else E003 with what to install or to set.
	Check(ctx context.Context, a Agent) error
	// Run does one run and returns when it has ended: no process is left then. It ends early when ctx is
	// done; the cause of ctx says why. A *RunError says whether a retry may help. Any other error is final.
	// The result has the usage even if there is an error.
	Run(ctx context.Context, job Job) (Result, error)
}

// Job is one run for a runtime to do.
type Job struct {
	Run       Run
	Agent     Agent
	Prompt    Prompt
	Fresh     func() Prompt // makes the prompt for a new session, if the client's session is lost
	Triggers  []Message
	Token     string    // the credential of this run
	URL       string    // the hub's address for this token
	Dir       string    // the agent's own directory
	Workspace Workspace // the hub as this run may use it
	Tools     []ToolDoc

	// Begin reports that the turn with the triggers in its context has started, and in which process, if any.
	// The runtime calls it once for each process: a second time only if it had to restart a client.
	// If Begin fails, the run must end.
	Begin func(context.Context, Process) error
	// Say shows the text of a live run to participants that follow its events.
	Say func(text string)
	// Log stores raw output, for finding the cause of a failure.
	Log func(output []byte)
}

// Result is the result of a run.
type Result struct {
	Text    string // the answer; empty: none
	Session string // the client's session, for a later run to resume
	Usage
}

// RunError is why a run failed.
type RunError struct {
	Trouble
	Hint string // what to do about it
}

func (e *RunError) Error() string {
	if e.Hint == "" {
		return e.Reason
	}
	return e.Reason + " (" + e.Hint + ")"
}

// Workspace is the hub as one participant may use it, in a run or in a session.
type Workspace interface {
	Contacts
	// Post posts a message. It returns *Held if the call needs an approval first.
	Post(ctx context.Context, d Draft) (Receipt, error)
	// Read returns the last messages of a conversation before a seq (0: the newest), oldest first.
	Read(ctx context.Context, conversation string, before int64, limit int) ([]Message, error)
	// Who returns what each participant is doing.
	Who(ctx context.Context) ([]Presence, error)
	// Named returns the names, kinds and roles of the participants with these ids, without what they are doing. It never
	// needs an approval. It leaves out ids that nobody has.
	Named(ctx context.Context, ids ...string) ([]Presence, error)
	// Conversations returns the conversations that a filter selects.
	Conversations(ctx context.Context, f ListFilter) ([]ConversationView, error)
	// Search returns a page of the messages that a query matches.
	Search(ctx context.Context, r SearchRequest) (SearchResult, error)
	// Peek returns the open deliveries in the participant's inbox. It consumes nothing.
	Peek(ctx context.Context, limit int) (Peeked, error)
	// Sleep puts the participant to sleep until a time.
	Sleep(ctx context.Context, until time.Time) error
}
