// Package hook answers the hooks of agents' clients. A client runs a hook at an event, such as the start of a turn, with JSON on
// standard input. The hook brings the agent its mail, waits for mail while the client is idle, and passes requests for permissions to a
// person. There is a file for each client, which says what its events mean and how it reads answers.
//
// A hook never stands in the way of its client: if anything fails, it prints nothing and returns 0.
package hook

import (
	"cmp"
	"context"
	"io"
	"slices"
	"time"

	"github.com/parley-hub/parley"
)

// Hub is a hub as the agent of a client uses it. A call fails at once if the hub cannot be reached.
type Hub interface {
	// OpenSession, Take and SettleSession are those of parley.Sessions.
	OpenSession(ctx context.Context, n parley.NewSession) (parley.SessionStream, error)
	Take(ctx context.Context, t parley.Take) (parley.Taken, error)
	SettleSession(ctx context.Context, key string, outcome parley.Outcome) ([]parley.Delivery, error)
	// See marks the deliveries of a lease as seen. It returns E003 if the lease has ended.
	See(ctx context.Context, lease, run string) ([]parley.Delivery, error)
	// Nack gives back deliveries of a lease.
	Nack(ctx context.Context, lease string, failure parley.Trouble, messages ...string) ([]parley.Delivery, error)
	// Named is that of parley.Workspace.
	Named(ctx context.Context, ids ...string) ([]parley.Presence, error)
	// RequestToolUse asks a person whether the client may use a tool, and waits for the decision. See client.Client.RequestToolUse.
	RequestToolUse(ctx context.Context, use parley.ToolUse, wait time.Duration) (parley.Approval, error)
}

// Call is one call of a hook.
type Call struct {
	Hub    Hub
	Agent  string // the id of the agent
	Client string // the name of the client
	Event  string // the client's name of the event
	Wait   time.Duration
	// Session is the key of the client session that the MCP server of the client has too, or "" if the id of the client's own session is
	// the key.
	Session string
	// Elsewhere reports whether a hook of the project in a directory answers instead of this one. It may be nil.
	Elsewhere func(dir string) bool
	Waits     Waits               // the hooks of this machine that wait
	Env       func(string) string // the environment of the hook
	// Detach starts a hook for another event of the same session, which goes on after this one. Queue makes the client begin a turn with
	// a text in its session, by a command of the client. Both may be nil.
	Detach func(event, session string)
	Queue  func(ctx context.Context, session, text string) error
	In     io.Reader
	Out    io.Writer
	Err    io.Writer
}

// DefaultWait as the wait of a call means that of the client.
const DefaultWait time.Duration = -1

// Quick is how long a hook that does not wait may take.
const Quick = 130 * time.Millisecond

// maxOutput is the most, in bytes, that a hook prints. Claude Code cuts the output of hooks at 10,000 characters.
const maxOutput = 9_900

// meaning is what an event means, whatever a client calls it.
type meaning string

const (
	sessionBegins meaning = "a session begins"
	turnBegins    meaning = "a turn begins"
	toolEnded     meaning = "a tool has ended"
	toolAsks      meaning = "a tool needs a permission"
	clientIdles   meaning = "a client is idle" // the event of a detached hook
	turnEnds      meaning = "a turn ends"
	sessionEnds   meaning = "a session ends"
)

// answer is what a hook prints, and the exit code.
type answer struct {
	out, err string
	code     int
}

// client is what a hook must know of a client.
type client struct {
	events map[string]meaning
	// wake says how mail reaches the idle client.
	wake parley.SessionWake
	// wait is how long the hook waits for mail at the end of a turn, unless the call says otherwise.
	wait time.Duration
	// shares says that the MCP server of the client knows the id of the client's own session, and so has the same client session. It
	// holds mail until the turn ends.
	shares bool
	// queues is the event of a detached hook that waits while the client is idle, and then puts a prompt into its queue.
	queues string
	// blocks says that the client is not idle while the hook waits: each mail then prolongs the turn, and maxBlocks bounds it.
	blocks bool

	// attended reports whether the client outlives the turn, by the environment of the hook.
	attended func(env func(string) string) bool

	addContext func(event, text string) answer // puts a text into the context of the model
	beginTurn  func(event, text string) answer // begins a turn with a text, or prolongs the turn that ends
	// decisionWait is how long the hook waits for a person who decides about a permission, unless the call says otherwise.
	decisionWait time.Duration
	decide       func(allow bool, why string) answer // decides about a permission; nil if the client cannot be told
}

// clients are the clients by name.
var clients = map[string]client{
	"claude": claude, "codex": codex, "gemini": gemini, "opencode": opencode, "cursor": cursor,
}

// Known reports whether there is such an event of such a client.
func Known(name, event string) bool {
	_, known := clients[name].events[event]
	return known
}

// Run answers the call, and returns the exit code.
func (c Call) Run(ctx context.Context) int {
	of, known := clients[c.Client]
	does, known2 := of.events[c.Event]
	if !known || !known2 {
		return 0
	}
	quick, cancel := context.WithTimeout(ctx, Quick)
	defer cancel()
	in, err := readInput(quick, c.In)
	if err != nil || in.key() == "" {
		return 0
	}
	if c.Elsewhere != nil && slices.ContainsFunc(c.projectDirs(in), c.Elsewhere) {
		return 0
	}
	h := hook{Call: c, client: of, input: in, session: in.key()}
	h.key, h.shares = cmp.Or(c.Session, h.session), of.shares || c.Session != ""
	switch does {
	case sessionBegins:
		return h.greet(quick)
	case turnBegins:
		c.Waits.End(h.session)
		return h.bringMail(quick)
	case toolEnded:
		c.Waits.EndRequest(in.toolUse(c.Client, h.session)) // the client has used the tool, so it needs no permission any more
		return h.bringMail(quick)
	case toolAsks:
		return h.askPermission(ctx)
	case turnEnds:
		return h.endTurn(ctx, quick)
	case clientIdles:
		return h.queueTurn(ctx)
	default:
		c.Waits.End(h.session)
		return 0
	}
}

// hook is one call with its input.
type hook struct {
	Call
	client
	input   input
	session string // the id of the client's own session
	key     string // of the client session
}

// print prints an answer.
func (h hook) print(a answer) error {
	if _, err := io.WriteString(h.Err, a.err); err != nil {
		return err
	}
	_, err := io.WriteString(h.Out, a.out)
	return err
}

// greet opens the session, and tells the model who it is and what is in its inbox.
func (h hook) greet(ctx context.Context) int {
	stream, err := h.open(ctx)
	if err != nil {
		return 0
	}
	defer func() { _ = stream.Close() }() // the MCP server of the client has the session too
	sign, err := stream.Next(ctx)
	if err != nil {
		return 0
	}
	_ = h.print(h.addContext(h.Event, primer(h.Agent, sign.Inbox)))
	return 0
}

func (h hook) open(ctx context.Context) (parley.SessionStream, error) {
	return h.Hub.OpenSession(ctx, parley.NewSession{Key: h.key, Client: h.Call.Client, Kind: parley.SessionHook, Wake: h.wake})
}
