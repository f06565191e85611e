package parley

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"
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
	EventAgentPresence       EventKind = "agent.presence" // it has come, or gone
	EventConversationCreated EventKind = "conversation.created"
	EventConversationChanged EventKind = "conversation.changed"
	EventConversationDeleted EventKind = "conversation.deleted"
	EventMemberJoined        EventKind = "member.joined"
	EventMemberLeft          EventKind = "member.left"
	EventCursorMoved         EventKind = "cursor.moved"
	EventTokenCreated        EventKind = "token.created"
	EventTokenRevoked        EventKind = "token.revoked"
	EventOverdue             EventKind = "overdue"       // a delivery was not seen in time
	EventLate                EventKind = "late"          // a delivery's deadline was missed
	EventSequenceGap         EventKind = "sequence_gap"  // the sender's count has jumped
	EventAgentHealth         EventKind = "agent.health"  // what an agent says of itself
	EventAgentSummary        EventKind = "agent.summary" // its state, every 15 minutes and after each failed run
	EventRunProgress         EventKind = "run.progress"  // what a live run says meanwhile
	EventLoopOpened          EventKind = "loop.opened"   // two agents woke each other too often: further wakes are held
	EventLoopClosed          EventKind = "loop.closed"
	EventTaskProgress        EventKind = "task.progress" // what its assignee says of an open task
	EventPermission          EventKind = "permission.changed"
	EventBridgeAdded         EventKind = "bridge.added"
	EventBridgeChanged       EventKind = "bridge.changed"
	EventBridgeRemoved       EventKind = "bridge.removed"
	EventAlert               EventKind = "alert" // something needs a person's attention, or no longer does
)

// EventKinds are all kinds of event.
func EventKinds() []EventKind {
	kinds := []EventKind{
		EventMessagePosted, EventMessageRedacted, EventAgentAdded, EventAgentChanged, EventAgentRemoved, EventAgentPresence,
		EventConversationCreated, EventConversationChanged, EventConversationDeleted, EventMemberJoined, EventMemberLeft,
		EventCursorMoved, EventTokenCreated, EventTokenRevoked, EventOverdue, EventLate, EventSequenceGap, EventAlert,
		EventAgentHealth, EventAgentSummary, EventRunProgress, EventLoopOpened, EventLoopClosed,
		EventTaskProgress, EventPermission, EventBridgeAdded, EventBridgeChanged, EventBridgeRemoved,
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

// EventDelivery is the kind of the event that a delivery's step to a state is: delivery.seen and so on.
func EventDelivery(s DeliveryState) EventKind { return EventKind("delivery." + string(s)) }

// Within says whether a kind is another, or begins with it up to a dot: delivery.seen is within delivery.
func (k EventKind) Within(other EventKind) bool {
	rest, found := strings.CutPrefix(string(k), string(other))
	return found && (rest == "" || rest[0] == '.')
}

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
	Body         *Message        `json:"body,omitempty"` // what was posted, where that was asked for
}

// EventFilter selects events. The zero value selects all.
type EventFilter struct {
	Kinds        []EventKind // each a kind, or the beginning of kinds up to a dot: message.posted, delivery
	Conversation string
}

const maxKinds = 64

// Check says what is wrong with a filter, or nil. Whether its conversation exists is for the hub.
func (f EventFilter) Check() error {
	if len(f.Kinds) > maxKinds {
		return tooLarge("kinds", len(f.Kinds), maxKinds, "entries").Suggest("name what several kinds begin with")
	}
	for _, k := range f.Kinds {
		if !eventKind.MatchString(string(k)) {
			return Errorf(BadInput, "%q is no kind of event", clip(string(k))).Suggest("use words with dots between them, like message.posted")
		}
	}
	return nil
}

var eventKind = regexp.MustCompile(`^[a-z_]+(\.[a-z_]+)*$`)

// Selects says whether an event is among those the filter selects.
func (f EventFilter) Selects(e Event) bool {
	if f.Conversation != "" && f.Conversation != e.Conversation {
		return false
	}
	return len(f.Kinds) == 0 || slices.ContainsFunc(f.Kinds, e.Kind.Within)
}
