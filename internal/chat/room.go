package chat

import (
	"context"
	"errors"

	"github.com/parley-hub/parley"
)

// ErrAway is among the causes of an error of a Room when the hub could not be reached. The same call may
// be made again when it is back.
var ErrAway = errors.New("the hub cannot be reached")

// passes says whether a call that failed may go better later.
func passes(err error) bool {
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
	// Look says what the conversation is and who is there. The conversation of named participants has no
	// id before its first message.
	Look(ctx context.Context) (Scene, error)
	// Page returns messages, oldest first; none as long as there is no conversation.
	Page(ctx context.Context, page parley.Page) ([]parley.Message, error)
	// Message returns one message and what has become of it.
	Message(ctx context.Context, id string) (parley.Shown, error)
}

// Writer is what can be done in a conversation.
type Writer interface {
	// Post stores a message. A draft that names no place goes to the room.
	Post(ctx context.Context, draft parley.Draft) (parley.Receipt, error)
	// Read says that its user was shown these messages.
	Read(ctx context.Context, shown []parley.Message) error
	// SetTopic changes what the conversation is about.
	SetTopic(ctx context.Context, topic string) error
}

// Scene is what there is to know about a room beside its messages.
type Scene struct {
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
	Happened SignalKind = iota // there is an event
	Back                       // events come from now on; there may have been others meanwhile
	Lost                       // no events come
)
