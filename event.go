package parley

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
	"time"
)

// EventKind is the kind of an event, like message.posted.
type EventKind string

// The kinds of event.
const (
	EventMessagePosted       EventKind = "message.posted"
	EventMessageRedacted     EventKind = "message.redacted"
	EventAgentAdded          EventKind = "agent.added"
	EventAgentChanged        EventKind = "agent.changed"
	EventAgentRemoved        EventKind = "agent.removed"
	EventAgentPresence       EventKind = "agent.presence" // an agent has come online or gone offline
	EventConversationCreated EventKind = "conversation.created"
	EventConversationChanged EventKind = "conversation.changed"
	EventConversationDeleted EventKind = "conversation.deleted"
	EventMemberJoined        EventKind = "member.joined"
	EventMemberLeft          EventKind = "member.left"
	EventCursorMoved         EventKind = "cursor.moved"
	EventTokenCreated        EventKind = "token.created"
	EventTokenRevoked        EventKind = "token.revoked"
	EventOverdue             EventKind = "overdue"       // a recipient has not seen a message in time
	EventLate                EventKind = "late"          // a delivery has missed its deadline
	EventSequenceGap         EventKind = "sequence_gap"  // the sender's count has jumped
	EventAgentHealth         EventKind = "agent.health"  // the health that an agent reports
	EventAgentSummary        EventKind = "agent.summary" // an agent's state, every 15 minutes and after each failed run
	EventRunProgress         EventKind = "run.progress"  // text that a live run writes
	EventLoopOpened          EventKind = "loop.opened"   // two agents woke each other too often: the hub stops further wakes
	EventLoopClosed          EventKind = "loop.closed"
	EventTaskProgress        EventKind = "task.progress" // the progress that the assignee reports
	EventPermission          EventKind = "permission.changed"
	EventSessionOpened       EventKind = "session.opened" // a client session of a participant has begun
	EventSessionEnded        EventKind = "session.ended"
	EventBridgeAdded         EventKind = "bridge.added"
	EventBridgeChanged       EventKind = "bridge.changed"
	EventBridgeRemoved       EventKind = "bridge.removed"
	EventNoteAdded           EventKind = "note.added"
	EventNoteForgotten       EventKind = "note.forgotten"
	EventNoteRedacted        EventKind = "note.redacted"
	EventAlert               EventKind = "alert" // something needs a person's attention, or no longer does
)

// EventReset says that events before it may be missing. It is in no log: Workspace.Events yields it when it goes on after it lost its
// position.
const EventReset EventKind = "reset"

// EventKinds returns all kinds of event.
func EventKinds() []EventKind {
	kinds := []EventKind{
		EventMessagePosted, EventMessageRedacted, EventAgentAdded, EventAgentChanged, EventAgentRemoved, EventAgentPresence,
		EventConversationCreated, EventConversationChanged, EventConversationDeleted, EventMemberJoined, EventMemberLeft,
		EventCursorMoved, EventTokenCreated, EventTokenRevoked, EventOverdue, EventLate, EventSequenceGap, EventAlert,
		EventAgentHealth, EventAgentSummary, EventRunProgress, EventLoopOpened, EventLoopClosed,
		EventTaskProgress, EventPermission, EventSessionOpened, EventSessionEnded, EventBridgeAdded, EventBridgeChanged, EventBridgeRemoved,
		EventNoteAdded, EventNoteForgotten, EventNoteRedacted,
	}
	for _, state := range slices.Sorted(maps.Keys(deliverySteps)) {
		kinds = append(kinds, EventDelivery(state))
	}
	for _, state := range slices.Sorted(maps.Keys(runSteps)) {
		kinds = append(kinds, EventRun(state))
	}
	for _, state := range slices.Sorted(maps.Keys(taskSteps)) {
		kinds = append(kinds, EventTask(state))
	}
	for _, state := range slices.Sorted(maps.Keys(approvalSteps)) {
		kinds = append(kinds, EventApproval(state))
	}
	return kinds
}

// EventDelivery returns the kind of the event for a delivery that reaches a state, such as delivery.seen.
func EventDelivery(s DeliveryState) EventKind { return EventKind("delivery." + string(s)) }

// Within reports whether a kind equals another kind, or begins with it and a dot: delivery.seen is within delivery.
func (k EventKind) Within(other EventKind) bool {
	rest, found := strings.CutPrefix(string(k), string(other))
	return found && (rest == "" || rest[0] == '.')
}

// Event is one entry of the hub's log of changes. Its number comes from the same sequence as the seq of messages. A posted
// message is its own event.
type Event struct {
	Num          int64           `json:"num"`
	At           time.Time       `json:"at"`
	Kind         EventKind       `json:"kind"`
	Conversation string          `json:"conversation,omitempty"` // participants that may read this conversation may see the event
	Agent        string          `json:"agent,omitempty"`        // the agent that the event is about
	By           string          `json:"by,omitempty"`           // the participant that caused the event
	Message      string          `json:"message,omitempty"`
	Data         json.RawMessage `json:"data,omitempty"`
	Body         *Message        `json:"body,omitempty"` // the posted message, if the caller asked for it
}

// EventFilter selects events. The zero value selects all.
type EventFilter struct {
	Kinds        []EventKind // each is a kind, or the part of kinds before a dot: message.posted, delivery
	Conversation string
}

const maxKinds = 64

// Check returns what is wrong with a filter, or nil. The hub checks that the conversation exists.
func (f EventFilter) Check() error {
	if len(f.Kinds) > maxKinds {
		return tooLargeError("kinds", len(f.Kinds), maxKinds, "entries").Suggest("select several kinds by the word before the dot, like message")
	}
	for _, k := range f.Kinds {
		if !eventKindPattern.MatchString(string(k)) {
			return Errorf(BadInput, "%q is not a kind of event", clip(string(k))).Suggest("use words with dots between them, like message.posted")
		}
	}
	return nil
}

var eventKindPattern = regexp.MustCompile(`^[a-z_]+(\.[a-z_]+)*$`)

// Selects reports whether the filter selects an event.
func (f EventFilter) Selects(e Event) bool {
	if f.Conversation != "" && f.Conversation != e.Conversation {
		return false
	}
	return len(f.Kinds) == 0 || slices.ContainsFunc(f.Kinds, e.Kind.Within)
}
