package parley

import (
	"context"
	"iter"
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

// Runtime runs agents of one kind, such as programs or agents on the API of a model.
type Runtime interface {
	// Check returns nil if the runtime can run an agent. Otherwise it returns E003, with a suggestion what to install or to set.
	Check(ctx context.Context, a Agent) error
	// Run does one run and returns when the run has ended. No process of the run is left then. The run ends early when ctx is done;
	// the cause of ctx says why. If the run fails, Run returns a *RunError, which says whether a retry may help, or another error,
	// after which the hub does not retry. The result has the usage even if there is an error.
	Run(ctx context.Context, request RunRequest) (Result, error)
}

// RunRequest is one run that a runtime must do.
type RunRequest struct {
	Run       Run
	Agent     Agent
	Prompt    Prompt
	Fresh     func() Prompt // makes the prompt for a new session, in case the client has lost its session
	Triggers  []Message
	Token     string    // the credential of this run
	URL       string    // the hub's address for this token
	Dir       string    // the agent's own directory
	Workspace Workspace // the calls of the hub that this run may make
	Tools     []ToolDoc

	// Begin reports that the turn with the triggers in its context has started, and in which process, if any. The runtime calls it
	// once for each process, so a second time only if it had to restart a client. If Begin fails, the runtime must end the run.
	Begin func(context.Context, Process) error
	// Say shows a text of the live run to participants that follow its events.
	Say func(text string)
	// Log stores raw output of the run, in which people can look for the cause of a failure.
	Log func(output []byte)
}

// Result is the result of a run.
type Result struct {
	Text    string // the answer; empty if there is none
	Session string // the client's session, for a later run to resume
	Usage
}

// RunError is the error of a run that failed.
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

// Workspace has the calls of the hub that one participant may make, in a run or in a session.
//
// Each call returns E001 if the participant may not make it, E002 if the hub cannot make it at present, and E003 if an argument
// is wrong. It returns E003 (NotFound) if a conversation does not exist or the participant may not see it. The calls that read,
// except Named and Peek, return *Held if the mode of the agent requires an approval first.
type Workspace interface {
	Contacts
	Sessions
	Memories
	// Post posts a message and returns its receipt. It returns *Held if the call needs an approval first.
	Post(ctx context.Context, d Draft) (Receipt, error)
	// Read returns the last messages of a conversation before a seq (0: the newest), oldest first. The list is empty if there are
	// none. The names are those of Named.
	Read(ctx context.Context, conversation string, before int64, limit int) (NamedMessages, error)
	// Who returns the presence of every participant.
	Who(ctx context.Context) ([]Presence, error)
	// Named returns the names, kinds and roles of the participants with these ids, and no other fields. It leaves out ids that no
	// participant has. It never needs an approval.
	Named(ctx context.Context, ids ...string) ([]Presence, error)
	// Self returns the participant itself. It never needs an approval.
	Self(ctx context.Context) (Agent, error)
	// Conversations returns the conversations that a filter selects and the participant may see. The list is empty if there are
	// none.
	Conversations(ctx context.Context, f ListFilter) ([]ConversationView, error)
	// Search returns a page of the messages that a query matches and the participant may read. The page is empty if there are none.
	Search(ctx context.Context, r SearchRequest) (SearchResult, error)
	// Peek returns the open deliveries in the participant's inbox, and leaves them there.
	Peek(ctx context.Context, limit int) (Peeked, error)
	// Sleep puts the participant to sleep until a time. It returns E003 if the time is not in the future or more than a year away,
	// or if the participant is not an agent.
	Sleep(ctx context.Context, until time.Time) error
	// Ack acknowledges messages for the participant, and returns their deliveries. With a lease, it acknowledges only deliveries
	// that this lease still holds. It returns E003 if a message was not delivered to the participant.
	Ack(ctx context.Context, lease string, messages ...string) ([]Delivery, error)
	// Events yields the events from now on that a filter selects and the participant may see. It yields a temporary error and goes on by
	// itself, after a pause. If it lost its position by then, it goes on with an event of the kind EventReset, from which on it has all
	// events again. It ends when ctx is done, or after an error that lasts.
	Events(ctx context.Context, f EventFilter) iter.Seq2[Event, error]
	// AwaitOutcome waits for the outcome of a message, an ask, a task or an approval, and returns its state when it has ended or the
	// time is up. It returns E003 if the id names none of them, and E005 if the wait would form a cycle.
	AwaitOutcome(ctx context.Context, id string, wait time.Duration) (Awaited, error)
}
