package parley

import (
	"encoding/json"
	"time"
)

// HeldText is the sentence that the caller of a held call gets.
const HeldText = "This action requires approval. Waiting for approval..."

// HeldCall is a call that needs an approval: the tool and its arguments, in canonical form.
type HeldCall struct {
	// Tool is contact_agent, send_channel_message, reply, update_task, read_conversation …
	Tool string          `json:"tool" doc:"What was called."`
	Args json.RawMessage `json:"args" doc:"Its arguments, in canonical form."`
}

// Approval is a request to approve one call. It covers exactly that call, once.
type Approval struct {
	ID            string        `json:"id" doc:"The id."`
	Number        int64         `json:"number,omitempty" doc:"The number in its short name: approval-7 has 7. Numbers rise and are never used again."`
	State         ApprovalState `json:"state" doc:"pending, approved, executed, denied, expired or withdrawn. If it is withdrawn and has a failure, the call was approved, but the hub refused to make it."`
	Agent         string        `json:"agent" doc:"The agent that made the call."`
	Target        string        `json:"target,omitempty" doc:"The participant that the call contacts."`
	Call          HeldCall      `json:"call" doc:"The exact call. The approval covers nothing else."`
	Digest        string        `json:"digest" doc:"The SHA-256 of the call in its canonical form, in lower-case hexadecimal."`
	Summary       string        `json:"summary" doc:"The request in words, as the approver sees it."`
	Rule          string        `json:"rule" doc:"The rule that requires the approval."`
	Decider       string        `json:"decider,omitempty" doc:"The approver: the agent's manager. If missing, the owners decide."`
	RequiresHuman bool          `json:"requires_human,omitempty" doc:"Only a person may decide."`
	CreatedAt     time.Time     `json:"created_at" doc:"When it was created."`
	ExpiresAt     *time.Time    `json:"expires_at,omitempty" doc:"When the approval expires. If missing, it does not expire."`
	RemindAt      *time.Time    `json:"remind_at,omitempty" doc:"When the hub reminds the approver."`
	DecidedBy     string        `json:"decided_by,omitempty" doc:"The participant that decided."`
	DecidedAt     *time.Time    `json:"decided_at,omitempty" doc:"When it was decided."`
	Note          string        `json:"note,omitempty" doc:"The approver's note."`
	ExecutedAt    *time.Time    `json:"executed_at,omitempty" doc:"When the call was made."`
	Result        string        `json:"result,omitempty" doc:"What the call returned, in words."`
	Failure       *Error        `json:"failure,omitempty" doc:"Why the hub refused the call, or the error with which the call failed."`
	Outcome       string        `json:"outcome,omitempty" doc:"The message that told the caller the outcome."`

	// The fields below say where the call came from. The hub reports the outcome there.
	Run          string `json:"run,omitempty" doc:"The run that made the call."`
	Conversation string `json:"conversation,omitempty" doc:"The conversation of the call. The hub tells the caller the outcome there."`
	Task         string `json:"task,omitempty" doc:"The task it belongs to."`
	Trigger      string `json:"trigger,omitempty" doc:"The message that woke the run."`
	TraceID      string `json:"trace_id" doc:"The trace it belongs to."`
	Hops         int    `json:"hops" doc:"The length of the chain of automatic messages that caused it."`
	Depth        int    `json:"-"` // how deep the run's asks are nested
	Source       string `json:"source" doc:"Where the call came from: cli, web, api, run and so on."`
}

// Refused reports whether the call was approved, but the hub refused to make it. Failure says why.
func (a Approval) Refused() bool { return a.State == ApprovalWithdrawn && a.Failure != nil }

// ApprovalFilter selects approvals for a list, the newest first.
type ApprovalFilter struct {
	State  ApprovalState // empty: all
	Agent  string        // only calls of this agent
	Mine   bool          // only approvals that the caller may decide
	Before string        // only approvals with a smaller id
	Limit  int
}

// Decision is what the approver decides about a held call.
type Decision struct {
	Approve bool   `json:"approve"`
	Note    string `json:"note,omitempty"`
}

// Check returns what is wrong with a decision, or nil.
func (d Decision) Check() error { return checkText("note", d.Note, 4<<10) }

// Held is the error for a call that needs an approval first. The hub has stored the call and not made it. Held is not a failure.
type Held struct{ Approval Approval }

func (h *Held) Error() string { return HeldText }

// Unwrap returns E002 for callers that do not handle approvals.
func (h *Held) Unwrap() error {
	return Errorf(Unavailable, "%s", HeldText).Because(NeedsApproval)
}

// EventApproval returns the kind of the event for an approval that reaches a state, such as approval.pending.
func EventApproval(s ApprovalState) EventKind { return EventKind("approval." + string(s)) }
