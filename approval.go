package parley

import (
	"encoding/json"
	"time"
)

// HeldText is what the caller of a held call is told.
const HeldText = "This action requires approval. Waiting for approval..."

// HeldCall is a call that needs an approval: what was called, and with which arguments, in canonical form.
type HeldCall struct {
	Tool string          `json:"tool"` // contact_agent, send_channel_message, reply, update_task, read_conversation …
	Args json.RawMessage `json:"args"`
}

// Approval is a call that waits for somebody's yes. It is good for exactly that call, once.
type Approval struct {
	ID            string        `json:"id"`
	Number        int64         `json:"number,omitempty"` // rises; approval-7 has 7
	State         ApprovalState `json:"state"`
	Agent         string        `json:"agent"`            // whose call it is
	Target        string        `json:"target,omitempty"` // whom it contacts
	Call          HeldCall      `json:"call"`
	Digest        string        `json:"digest"`                   // SHA-256 of the call's canonical form, in hex
	Summary       string        `json:"summary"`                  // the request in words, as whoever decides sees it
	Rule          string        `json:"rule"`                     // that demands it
	Decider       string        `json:"decider,omitempty"`        // the agent's manager; none: the owners
	RequiresHuman bool          `json:"requires_human,omitempty"` // only a person may decide
	CreatedAt     time.Time     `json:"created_at"`
	ExpiresAt     *time.Time    `json:"expires_at,omitempty"`
	RemindAt      *time.Time    `json:"remind_at,omitempty"`
	DecidedBy     string        `json:"decided_by,omitempty"`
	DecidedAt     *time.Time    `json:"decided_at,omitempty"`
	Note          string        `json:"note,omitempty"`
	ExecutedAt    *time.Time    `json:"executed_at,omitempty"`
	Result        string        `json:"result,omitempty"`  // what the call returned, in words
	Failure       *Error        `json:"failure,omitempty"` // why it could not be made
	Outcome       string        `json:"outcome,omitempty"` // the message that told the caller

	// What the call came from, and returns to.
	Run          string `json:"run,omitempty"`
	Conversation string `json:"conversation,omitempty"`
	Task         string `json:"task,omitempty"`
	Trigger      string `json:"trigger,omitempty"` // the message that had woken the run
	TraceID      string `json:"trace_id"`
	Hops         int    `json:"hops"`
	Depth        int    `json:"-"` // of what the run asks
	Source       string `json:"source"`
}

// Refused says that the call was approved, and refused when it was made: Failure says why.
func (a Approval) Refused() bool { return a.State == ApprovalWithdrawn && a.Failure != nil }

// ApprovalFilter selects approvals for a list, the newest first.
type ApprovalFilter struct {
	State  ApprovalState // none: all
	Agent  string        // whose calls
	Mine   bool          // only what the caller may decide
	Before string        // only those with a smaller id
	Limit  int
}

// Decision is somebody's answer to a request for an approval.
type Decision struct {
	Approve bool   `json:"approve"`
	Note    string `json:"note,omitempty"`
}

// Check says what is wrong with a decision, or nil.
func (d Decision) Check() error { return checkText("note", d.Note, 4<<10) }

// Held says that a call was not made: it waits for an approval. It is no failure.
type Held struct{ Approval Approval }

func (h *Held) Error() string { return HeldText }

// Unwrap is for doors that know nothing of approvals.
func (h *Held) Unwrap() error {
	return Errorf(Unavailable, "%s", HeldText).Because(NeedsApproval)
}

// EventApproval is the kind of the event that an approval's step to a state is: approval.pending and so on.
func EventApproval(s ApprovalState) EventKind { return EventKind("approval." + string(s)) }
