package unit

import (
	"time"

	"github.com/parley-hub/parley"
)

// Caller is the participant that calls, as the HTTP API, the socket or a bridge established from its credential.
type Caller struct {
	Agent  string
	Source string
	Token  string // the id of its token; empty for the local owner
	Kind   parley.TokenKind
	By     string        // the owner who acts as Agent, if one does
	Scopes parley.Scopes // what the credential may be used for
	Until  *time.Time    // when the credential ends
	Run    string        // the run that calls, if the token is a run's
	Local  bool          // it called over the local socket
	Trace  string        // the trace of the call, for messages that neither name nor inherit one

	Approved bool // this read was approved; only the hub itself sets this

	IsCounted bool   // the call is counted already, see access.Service.Begin
	AgentUUID string // of the agent with the credential, because another agent may have its id by now; empty: not checked
}

// TheHub is the caller of everything that the hub and its dispatcher do themselves.
var TheHub = Caller{Agent: parley.System}

// Bridged is the source of messages that come over a bridge.
const Bridged = "file"

// Key is the name under which the hub counts a caller's calls. Of a name that is too long, which no agent can have, it
// returns the beginning.
func (c Caller) Key() string {
	return parley.Fold(c.Agent[:min(len(c.Agent), parley.MaxNameBytes)])
}

// InProcess reports whether the caller is a part of this program. Such a caller has no credential.
func (c Caller) InProcess() bool { return c.Token == "" && c.Scopes == nil }

// Counted returns the caller, marked as counted, so that the use cases of its call are not counted again.
func (c Caller) Counted() Caller {
	c.IsCounted = true
	return c
}
