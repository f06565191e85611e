package parley

import (
	"context"
	"regexp"
	"slices"
	"time"
)

// Session is a client session: a live connection of one participant to the hub, such as a "parley mcp" process, an open MCP
// stream, a waiting hook, "parley chat" or "parley watch". (A browser that has signed in has another kind of session: a token of
// the kind TokenSession.)
//
// Several connections of one participant can share a session, by the same key. The session lives while one of them is open, and
// for SessionGrace after the last one was lost. What it took with Take.Session is leased to it as long. When it ends, everything
// that it has not settled is ready in the inbox again.
type Session struct {
	Key      string      `json:"key" doc:"The key, which the client has chosen. It is unique among the live sessions of its participant."`
	Agent    string      `json:"agent" doc:"The id of the participant."`
	Client   string      `json:"client,omitempty" doc:"The client's name and version, as the client reports them."`
	Kind     SessionKind `json:"kind" doc:"The kind of the first connection, or of the first one that is no hook: stdio, http, hook, chat or watch."`
	Wake     SessionWake `json:"wake" doc:"How an idle client is woken: hook, task, queue, plugin or none."`
	Since    time.Time   `json:"since" doc:"When the session began."`
	LastSign time.Time   `json:"last_sign" doc:"When the hub last heard of the session."`
	Held     int         `json:"held,omitempty" doc:"How many deliveries are leased to the session or wait for it. Only the participant itself and owners see it."`
}

// NewSession describes a client session to open.
type NewSession struct {
	Key    string      `json:"key"`
	Client string      `json:"client,omitempty"` // such as "claude-code 2.1.325"
	Kind   SessionKind `json:"kind"`
	Wake   SessionWake `json:"wake,omitempty"` // default: none
}

// SessionKind is the kind of connection that a client session has.
type SessionKind string

// The kinds of client sessions.
const (
	SessionStdio SessionKind = "stdio" // a "parley mcp" process
	SessionHTTP  SessionKind = "http"  // an open MCP stream
	SessionHook  SessionKind = "hook"  // a hook of a client, which waits for messages
	SessionChat  SessionKind = "chat"
	SessionWatch SessionKind = "watch"
)

// SessionKinds returns all kinds of client sessions.
func SessionKinds() []SessionKind {
	return []SessionKind{SessionStdio, SessionHTTP, SessionHook, SessionChat, SessionWatch}
}

// SessionWake says how an idle client begins a turn when a message comes.
type SessionWake string

// The ways to wake a client.
const (
	WakeNone   SessionWake = "none"
	WakeHook   SessionWake = "hook"   // a waiting hook ends and so wakes it
	WakeTask   SessionWake = "task"   // an MCP task ends and so wakes it
	WakeQueue  SessionWake = "queue"  // a command puts a prompt into its queue
	WakePlugin SessionWake = "plugin" // its plugin sends it a prompt
)

// SessionWakes returns all ways to wake a client.
func SessionWakes() []SessionWake {
	return []SessionWake{WakeNone, WakeHook, WakeTask, WakeQueue, WakePlugin}
}

// SessionGrace is how long a client session outlives its last connection, and a restart of the hub, so that a client can connect
// again and keep what it took. The hub gives back what the session has not settled within a second after the grace.
const SessionGrace = 4 * time.Second

const (
	maxSessionKey    = 128
	maxSessionClient = 128
)

var sessionKeys = regexp.MustCompile(`^[A-Za-z0-9._:-]{1,128}$`)

// CheckSessionKey returns why a text cannot be the key of a client session, or nil.
func CheckSessionKey(key string) error {
	if sessionKeys.MatchString(key) {
		return nil
	}
	return Errorf(BadInput, "%q cannot be the key of a session", clip(key)).
		Suggest("use 1 to %d letters, digits and the characters . _ : -", maxSessionKey)
}

// Check returns the session with its defaults, or E003 if it cannot be opened.
func (n NewSession) Check() (NewSession, error) {
	if n.Wake == "" {
		n.Wake = WakeNone
	}
	if err := CheckSessionKey(n.Key); err != nil {
		return n, err
	}
	switch {
	case !slices.Contains(SessionKinds(), n.Kind):
		return n, Errorf(BadInput, "%q is not a kind of session", clip(string(n.Kind))).Suggest("use stdio, http, hook, chat or watch")
	case !slices.Contains(SessionWakes(), n.Wake):
		return n, Errorf(BadInput, "%q is not a way to wake a client", clip(string(n.Wake))).Suggest("use hook, task, queue, plugin or none")
	}
	return n, checkText("client", n.Client, maxSessionClient)
}

// UnknownSession returns the error for a key that names no live client session of a participant. The error does not depend on
// whether another participant has such a session.
func UnknownSession(key string) *Error {
	return Errorf(BadInput, "no live session has the key %q", clip(key)).Because(NotFound).
		Suggest("list the live sessions: parley session list")
}

// SessionSign is what the hub tells a client session: how many deliveries the inbox of the participant holds.
type SessionSign struct {
	Inbox Inbox `json:"inbox" doc:"The open deliveries of the participant."`
}

// SessionStream is one open connection of a client session. The session lives while the connection is open.
type SessionStream interface {
	// Session returns the session as it was when the connection was opened.
	Session() Session
	// Next waits for the next sign and returns it. The first sign comes at once. Further signs come when there is something new to
	// take, and some seconds after any other change of the inbox. If several changes happen between two calls, Next returns only
	// the newest state. Next returns the error of ctx when ctx is done, E001 when the credential has ended or the participant was
	// removed, E003 (Gone) after Close, and E002 if the hub ends the connection. After an error other than that of ctx the
	// connection is closed. Only one call of Next may run at a time.
	Next(ctx context.Context) (SessionSign, error)
	// Close closes the connection. If no other connection has the session, the session ends after SessionGrace. A second call
	// does nothing.
	Close() error
}

// Sessions has the calls of a participant about client sessions, and about the deliveries that its own sessions hold.
//
// OpenSession, AckSession, SettleSession and Take are for the participant itself: they return E001 for an owner that acts as
// another participant. A key of another participant's session, of a session that has ended and of one that never was give the
// same error, UnknownSession (E003, NotFound).
type Sessions interface {
	// OpenSession opens a connection of a client session. If a live session of the participant has the key, the connection joins
	// it; the session keeps its kind and client then, unless they are those of a hook, and takes a wake other than none. OpenSession
	// returns E002 if the participant or the hub has too many sessions or connections, or if the session lives at another hub on the
	// same database. ctx limits the opening only; Close ends the connection.
	OpenSession(ctx context.Context, n NewSession) (SessionStream, error)
	// Sessions returns the live client sessions of all participants, oldest first. The list is empty if there are none. It returns
	// *Held if the mode of the agent requires an approval first.
	Sessions(ctx context.Context) ([]Session, error)
	// Take leases ready deliveries to the caller and returns them: to a client session if t.Session names one. It returns an empty
	// result if nothing comes within t.Wait.
	Take(ctx context.Context, t Take) (Taken, error)
	// See marks what a lease holds as seen. It returns E003 if the lease has ended.
	See(ctx context.Context, lease, run string) ([]Delivery, error)
	// AckSession acknowledges deliveries that a live client session of the caller holds. It returns E003 if the session does not
	// hold one of them; then nothing changes.
	AckSession(ctx context.Context, key string, messages ...string) ([]Delivery, error)
	// SettleSession ends the turn of a live client session of the caller: everything that the session has taken is answered,
	// acknowledged or given back, as the outcome says. With an empty outcome, it gives back what was taken and not marked as seen.
	// It returns an empty list if the session holds nothing. Messages that wait for the session and that it has not taken stay there.
	SettleSession(ctx context.Context, key string, outcome Outcome) ([]Delivery, error)
}
