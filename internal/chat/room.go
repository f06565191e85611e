package chat

import (
	"context"
	"errors"

	"github.com/parley-hub/parley"
)

// ErrAway is among the causes of an error of a Room when the hub could not be reached. The same call may
// be made again when it is back.
var ErrAway = errors.New("the hub cannot be reached")

// isTemporary says whether a call that failed may go better later.
func isTemporary(err error) bool {
	code := parley.CodeOf(err)
	return errors.Is(err, ErrAway) || code == parley.Unavailable || code == parley.TimedOut
}

// Room is one conversation of a hub, as one participant uses it.
type Room interface {
	Reader
	Writer
	// Follow reports what happens, and whether the hub can be reached, until the context ends or the hub
	// refuses. It connects again by itself.
	Follow(ctx context.Context, report func(Signal)) error
}

// Reader is what can be seen of a conversation.
type Reader interface {
	// Describe says what the conversation is and who is there. The conversation of named participants has no
	// id before its first message.
	Describe(ctx context.Context) (RoomState, error)
	// Page returns messages, oldest first; none as long as there is no conversation.
	Page(ctx context.Context, page parley.Page) ([]parley.Message, error)
	// Message returns one message and what has become of it.
	Message(ctx context.Context, id string) (parley.Shown, error)
}

// Writer is what can be done in a conversation.
type Writer interface {
	// Post stores a message. A draft that names no place goes to the room.
	Post(ctx context.Context, draft parley.Draft) (parley.Receipt, error)
	// MarkShown says that its user was shown these messages.
	MarkShown(ctx context.Context, shown []parley.Message) error
	// SetTopic changes what the conversation is about.
	SetTopic(ctx context.Context, topic string) error
}

// RoomState is what there is to know about a room beside its messages.
type RoomState struct {
	Conversation parley.ConversationView
	Title        string
	Me           string            // the id of who chats
	Present      []parley.Presence // who takes part, without the one who chats
	Known        []parley.Presence // who may be mentioned
}

// Signal is news from a hub.
type Signal struct {
	Kind  SignalKind
	Event parley.Event // with Happened
	Err   error        // with Lost: why
}

// SignalKind says what a signal is about.
type SignalKind int

// The kinds of signal.
const (
	EventReceived SignalKind = iota // there is an event
	Connected                       // events come from now on; there may have been others meanwhile
	Disconnected                    // no events come
)
