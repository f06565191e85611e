package parley

import "time"

// AttentionKind is what a participant must do about something.
type AttentionKind string

// The kinds of what needs somebody, in the order in which they are listed.
const (
	AttentionApproval   AttentionKind = "approval"    // decide about a call
	AttentionDeadLetter AttentionKind = "dead_letter" // retry or drop it
	AttentionAsk        AttentionKind = "ask"         // answer it
	AttentionTask       AttentionKind = "task"        // do it
	AttentionAck        AttentionKind = "ack"         // acknowledge the message
	AttentionReply      AttentionKind = "reply"       // answer the message by its deadline
)

// AttentionItem is one thing that needs somebody.
type AttentionItem struct {
	Kind      AttentionKind `json:"kind"`
	ID        string        `json:"id"`   // of the approval, message or task
	Name      string        `json:"name"` // what people call it by, like approval-7, m1234 or task-101
	From      string        `json:"from"` // whose call, message or task it is
	Recipient string        `json:"recipient,omitempty"`
	Text      string        `json:"text"` // its first line
	Since     time.Time     `json:"since"`
	Due       *time.Time    `json:"due,omitempty"`
}

// Attention is what needs a participant, the newest of each kind first.
type Attention struct {
	Items  []AttentionItem       `json:"items"`
	Totals map[AttentionKind]int `json:"totals"` // how many there are of each kind; the items may be fewer
	Unread int                   `json:"unread"` // other open messages in the inbox
}
