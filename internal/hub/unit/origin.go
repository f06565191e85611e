package unit

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"

	"github.com/parley-hub/parley"
)

// SourceContact is the source of the messages by which participants turn to each other.
const SourceContact = parley.SourceContact

// Origin is what a call comes from: a run, or a participant outside of one; and the approval it was given, if it
// needed one.
type Origin struct {
	Caller   Caller
	Run      *parley.Run      // live, and the caller's own
	Call     string           // the digest of a contact that it makes
	Approved *parley.Approval // it is made now because this was approved
	Work     TaskDetails      // what more is said of a task it makes
}

// Hops is how long the chain of automatic messages is that a call of this origin makes longer.
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

// TaskDetails is what is asked for, beside what a contact says.
type TaskDetails struct {
	Title    string // default: the first line of what is said
	Parent   string // default: the task of what asks
	Reason   string // for choosing the assignee
	Original string // who has asked for all of it
	Source   string
	Lenient  bool // what it depends on may be unknown
	Notices  []string
}

// Conversation is where a call comes from, or nothing if that is outside of all runs.
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
	Callback string         // which is settled, so that its recipient gets the outcome once
	Answers  []string       // ids; one may be empty
	Failed   parley.Message // without an answer: the outcome says what the hub has told its sender
}

// CallDigest tells one call from another: the same call of a later attempt is not made again.
func CallDigest(call any) (string, error) {
	raw, err := json.Marshal(call)
	sum := sha256.Sum256(raw)
	return hex.EncodeToString(sum[:]), err
}
