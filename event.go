package parley

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"time"
)

// EventKind names what has happened.
type EventKind string

// The kinds of event.
const (
	EventMessagePosted       EventKind = "message.posted"
	EventMessageRedacted     EventKind = "message.redacted"
	EventAgentAdded          EventKind = "agent.added"
	EventAgentChanged        EventKind = "agent.changed"
	EventAgentRemoved        EventKind = "agent.removed"
	EventConversationCreated EventKind = "conversation.created"
	EventConversationChanged EventKind = "conversation.changed"
	EventConversationDeleted EventKind = "conversation.deleted"
	EventMemberJoined        EventKind = "member.joined"
	EventMemberLeft          EventKind = "member.left"
	EventCursorMoved         EventKind = "cursor.moved"
	EventOverdue             EventKind = "overdue"      // a delivery was not seen in time
	EventLate                EventKind = "late"         // a delivery's deadline was missed
	EventSequenceGap         EventKind = "sequence_gap" // the sender's count has jumped
	EventAlert               EventKind = "alert"        // something needs a person's attention, or no longer does
)

// EventDelivery is the kind of the event that a delivery's step to a state is: delivery.seen and so on.
func EventDelivery(s DeliveryState) EventKind { return EventKind("delivery." + string(s)) }

// Event is one line of the hub's log of changes. Its number is drawn from the same order as the seq
// of messages; a message is its own event.
type Event struct {
	Num          int64           `json:"num"`
	At           time.Time       `json:"at"`
	Kind         EventKind       `json:"kind"`
	Conversation string          `json:"conversation,omitempty"` // whoever may read it may see the event
	Agent        string          `json:"agent,omitempty"`        // whom it is about
	By           string          `json:"by,omitempty"`           // who did it
	Message      string          `json:"message,omitempty"`
	Data         json.RawMessage `json:"data,omitempty"`
}

// AuditEntry is one line of the append-only record of administrative acts. Each carries the hash
// of the one before it.
type AuditEntry struct {
	Num     int64           `json:"num"`
	At      time.Time       `json:"at"`
	Actor   string          `json:"actor"`
	Act     string          `json:"act"`
	Subject string          `json:"subject"`
	Detail  json.RawMessage `json:"detail,omitempty"`
	Hash    string          `json:"hash"`
}

// Chain is the hash of an entry that follows one with the hash before.
func (e AuditEntry) Chain(before string) string {
	c := make(canonical, 0, 256)
	c.add("parley-audit-1")
	c.add(before)
	c.num(e.Num)
	c.time(&e.At)
	c.add(e.Actor)
	c.add(e.Act)
	c.add(e.Subject)
	c.add(string(e.Detail))
	sum := sha256.Sum256(c)
	return hex.EncodeToString(sum[:])
}
