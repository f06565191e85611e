package chat

import (
	"context"
	"errors"

	"github.com/parley-hub/parley"
)

// ErrUnreachable is a cause of a Conversation's error if the hub could not be reached. The same call may be repeated
// when the hub is back.
var ErrUnreachable = errors.New("the hub cannot be reached")

// isTemporary reports whether a failed call may succeed later.
func isTemporary(err error) bool {
	code := parley.CodeOf(err)
	return errors.Is(err, ErrUnreachable) || code == parley.Unavailable || code == parley.TimedOut
}

// Conversation is one conversation of a hub, for one participant.
type Conversation interface {
	Reader
	Writer
	// Follow reports events, and whether the hub can be reached, until the context ends or the hub refuses. It
	// reconnects by itself.
	Follow(ctx context.Context, report func(Signal)) error
}

// Reader reads a conversation.
type Reader interface {
	// Describe returns the conversation and the presence of its members. A conversation that names only its members
	// has no id before its first message.
	Describe(ctx context.Context) (ConversationState, error)
	// Page returns messages, oldest first. It returns none if the conversation does not exist yet.
	Page(ctx context.Context, page parley.Page) ([]parley.Message, error)
	// Message returns one message and its deliveries.
	Message(ctx context.Context, id string) (parley.Shown, error)
}

// Writer changes a conversation.
type Writer interface {
	// Post stores a message. It posts a draft without a conversation to this one.
	Post(ctx context.Context, draft parley.Draft) (parley.Receipt, error)
	// MarkShown tells the hub that the user was shown these messages.
	MarkShown(ctx context.Context, shown []parley.Message) error
	// SetTopic changes the topic of the conversation.
	SetTopic(ctx context.Context, topic string) error
}

// ConversationState describes a conversation, without its messages.
type ConversationState struct {
	View    parley.ConversationView
	Title   string
	Me      string            // id of the user
	Present []parley.Presence // the members, without the user
	Known   []parley.Presence // the participants that the user may mention
}

// Signal is an event of the hub, or a change of the connection to it.
type Signal struct {
	Kind  SignalKind
	Event parley.Event // for EventReceived
	Err   error        // for Disconnected: the reason
}

// SignalKind is the kind of a signal.
type SignalKind int

// The kinds of signal.
const (
	EventReceived SignalKind = iota // Event has an event
	Connected                       // events come from now on; some may have been missed
	Disconnected                    // the connection is lost
)
