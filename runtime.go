package parley

import (
	"context"
	"time"
)

// The runtimes that are no programs.
const (
	RuntimeLLM      = "llm"
	RuntimeWebhook  = "webhook"
	RuntimeScript   = "script"
	RuntimeAttached = "attached" // a session of its own, which fetches for itself
	RuntimeBridge   = "bridge"   // lives in a bridged directory
)

// Dispatched says whether the hub starts the runs of an agent. Others fetch for themselves.
func (a Agent) Dispatched() bool {
	return a.Kind == KindAgent && a.Runtime != "" && a.Runtime != RuntimeAttached && a.Runtime != RuntimeBridge
}

// Runtime runs agents of one sort.
type Runtime interface {
	// Check says why an agent cannot be run by it, or nil. E003, with what to install or to set.
	Check(ctx context.Context, a Agent) error
	// Run does one run, and ends with it: no process is left when it returns. It ends early when ctx is
	// done, whose cause says why. A *RunError says whether another try may help; any other error is final.
	// The result has what was used, in either case.
	Run(ctx context.Context, job Job) (Result, error)
}

// Job is one run, as a runtime is given it.
type Job struct {
	Run       Run
	Agent     Agent
	Prompt    Prompt
	Fresh     func() Prompt // the same for a client whose session is lost: it says again what that knew
	Triggers  []Message
	Token     string    // good for this run only
	URL       string    // where the hub can be reached with it
	Dir       string    // the agent's own directory
	Workspace Workspace // the hub, as this run uses it
	Tools     []ToolDoc

	// Begin says that the turn which has the triggers in its context has started, and with which process, if
	// with one. It is called once for each process: a second time only where a client had to be started anew.
	// If it fails, the run must end.
	Begin func(context.Context, Process) error
	// Say tells those who watch what the run says meanwhile.
	Say func(text string)
	// Log keeps raw output for those who look for the cause of a failure.
	Log func(output []byte)
}

// Result is how a run went.
type Result struct {
	Text    string // the answer; empty: none
	Session string // the client's own, to be resumed
	Usage
}

// RunError is why a run has failed.
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

// Workspace is the hub as one participant uses it: a run, or a session.
type Workspace interface {
	Contacts
	Post(ctx context.Context, d Draft) (Receipt, error)
	// Read returns the last messages of a conversation before a seq (0: the newest), oldest first.
	Read(ctx context.Context, conversation string, before int64, limit int) ([]Message, error)
	Who(ctx context.Context) ([]Presence, error)
	// Named says who those are whose ids one has: their names, kinds and roles, nothing of what they do. It is never
	// held. Those that there are not are left out.
	Named(ctx context.Context, ids ...string) ([]Presence, error)
	Conversations(ctx context.Context, f ListFilter) ([]ConversationView, error)
	Search(ctx context.Context, r SearchRequest) (SearchResult, error)
	Peek(ctx context.Context, limit int) (Peeked, error)
	// Sleep puts the participant itself to sleep until a time.
	Sleep(ctx context.Context, until time.Time) error
}
