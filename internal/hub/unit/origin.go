package unit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/parley-hub/parley"
)

// SourceContact is the source of the messages that ask, delegate and notify make.
const SourceContact = parley.SourceContact

// Origin is where a call comes from: a run, or a participant outside of a run. It also holds the approval of the call, if
// one was needed.
type Origin struct {
	Caller   Caller
	Run      *parley.Run      // a live run of the caller
	Call     string           // the digest of the contact that the run makes
	Approved *parley.Approval // the approval of the call
	Work     TaskDetails      // details of the task that the call makes
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

// Brought are the messages whose content a call returns.
type Brought struct {
	Callback string         // settled with the call, so that its recipient gets the outcome once
	Answers  []string       // ids; one may be empty
	Failed   parley.Message // the failed message, whose outcome repeats what the hub told its sender
}

// CallDigest returns a hash of a call. The hub does not repeat a call with the same hash in a later attempt of a run.
func CallDigest(call any) (string, error) {
	raw, err := json.Marshal(call)
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), err
}
