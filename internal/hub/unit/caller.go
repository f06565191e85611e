package unit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

// SourceFile is the source of messages that come over a bridge.
const SourceFile = "file"

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

// SourceContact is the source of the messages that ask, delegate and notify make.
const SourceContact = parley.SourceContact

// Origin is where a call comes from: a run, or a participant outside of a run. It also holds the approval of the call, if
// one was needed.
type Origin struct {
	Caller   Caller
	Run      *parley.Run      // a live run of the caller
	Call     string           // the digest of the contact that the run makes
	Approved *parley.Approval // the approval of the call
	Task     TaskDetails      // details of the task that the call makes
}

// Hops returns the length of the chain of automatic messages before the call.
func (o Origin) Hops() int {
	switch {
	case o.Run != nil:
		return o.Run.Hops
	case o.Approved != nil:
		return o.Approved.Hops
	default:
		return 0
	}
}

// TaskDetails are the details of a task beyond those of a contact.
type TaskDetails struct {
	Title    string // default: the first line of the message
	Parent   string // default: the task of the caller's run
	Reason   string // why this assignee was chosen
	Original string // the requester of the first task in the chain
	Source   string
	Lenient  bool // ignore unknown tasks that it depends on
	Notices  []string
}

// Conversation returns the id of the conversation of the run or of the approval, or "" outside of both.
func (o Origin) Conversation() string {
	switch {
	case o.Run != nil:
		return o.Run.Conversation
	case o.Approved != nil:
		return o.Approved.Conversation
	default:
		return ""
	}
}

// ReturnedMessages are the messages whose content a call returns.
type ReturnedMessages struct {
	Callback string         // settled with the call, so that its recipient gets the outcome once
	Answers  []string       // ids; one may be empty
	Failed   parley.Message // the awaited message, if its delivery failed; the call returns the error that the hub also sent to its sender
}

// CallDigest returns a hash of a call. The hub does not repeat a call with the same hash in a later attempt of a run.
func CallDigest(call any) (string, error) {
	raw, err := json.Marshal(call)
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), err
}
