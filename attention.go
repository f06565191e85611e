package parley

import "time"

// AttentionKind says what a participant must do.
type AttentionKind string

// The kinds of attention, in the order of lists.
const (
	AttentionApproval   AttentionKind = "approval"    // decide on a held call
	AttentionDeadLetter AttentionKind = "dead_letter" // retry or drop the delivery
	AttentionAsk        AttentionKind = "ask"         // answer the question
	AttentionTask       AttentionKind = "task"        // do the task
	AttentionAck        AttentionKind = "ack"         // acknowledge the message
	AttentionReply      AttentionKind = "reply"       // answer the message by its deadline
)

// AttentionItem is an approval, a dead letter, an ask, a task or a message that a participant must act on.
type AttentionItem struct {
	Kind AttentionKind `json:"kind" doc:"approval, dead_letter, ask, task, ack or reply."`
	// ID is the id of the approval, message or task.
	ID        string     `json:"id" doc:"The id."`
	Name      string     `json:"name" doc:"What people call it by, like approval-7, m1234 or task-101."`
	From      string     `json:"from" doc:"The participant that made the call, sent the message or requested the task."`
	Recipient string     `json:"recipient,omitempty" doc:"The target of the call, or the recipient that the dead letter did not reach."`
	Text      string     `json:"text" doc:"Its first line. Of an approval: the call in one line."`
	Since     time.Time  `json:"since" doc:"When it was created."`
	Due       *time.Time `json:"due,omitempty" doc:"When it is due, or expires."`
}

// Attention lists everything that a participant must act on, the newest items of each kind first.
type Attention struct {
	Items  []AttentionItem       `json:"items" doc:"The newest of each kind first."`
	Totals map[AttentionKind]int `json:"totals" doc:"How many there are of each kind; the items may be fewer."`
	Unread int                   `json:"unread" doc:"Other open messages in the inbox."`
}
