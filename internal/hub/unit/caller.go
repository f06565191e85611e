package unit

import (
	"time"

	"github.com/parley-hub/parley"
)

// Caller is who calls, as a door has established from its credential, and by which door.
type Caller struct {
	Agent  string
	Source string
	Token  string           // the id of the token it came with; none for the local owner
	Kind   parley.TokenKind // what sort of token that is
	By     string           // the owner who acts as Agent, if one does
	Scopes parley.Scopes    // what the credential may be used for
	Until  *time.Time       // when the credential ends
	Run    string           // the run that calls, if it came with the token of one
	Local  bool             // it came by the local socket
	Trace  string           // the trace that the call is part of, for what neither gives nor inherits one

	Approved bool // it reads now because somebody has approved exactly that; only the hub itself says so

	IsCounted bool   // the call is counted already, see Begin
	AgentUUID string // of the agent with the credential, whose id may be another's by now; none: whoever has the id calls
}

// TheHub is the caller of what the hub does by itself, and for its dispatcher.
var TheHub = Caller{Agent: parley.System}

// Bridged is the source of what comes over a bridge.
const Bridged = "file"

// Key is the name under which a caller's calls are counted. A name that is too long is nobody's: its beginning will do.
func (c Caller) Key() string {
	return parley.Fold(c.Agent[:min(len(c.Agent), parley.MaxNameBytes)])
}

// InProcess reports whether the caller is a part of this program: it did not call from outside, and has no credential.
func (c Caller) InProcess() bool { return c.Token == "" && c.Scopes == nil }

// Counted is the caller of a call that is counted already.
func (c Caller) Counted() Caller {
	c.IsCounted = true
	return c
}
