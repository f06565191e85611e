package hubtest

import (
	"slices"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// CreateChannel makes a public channel.
func (f *Fixture) CreateChannel(creator, name string, with ...string) parley.ConversationView {
	f.T.Helper()
	return f.CreateConversationAs(creator, parley.NewConversation{Name: name, With: with})
}

// CreatePrivateChannel makes a private channel.
func (f *Fixture) CreatePrivateChannel(creator, name string, with ...string) parley.ConversationView {
	f.T.Helper()
	return f.CreateConversationAs(creator, parley.NewConversation{Name: name, With: with, Private: true})
}

// CreateGroup makes a named group.
func (f *Fixture) CreateGroup(creator, name string, with ...string) parley.ConversationView {
	f.T.Helper()
	return f.CreateConversationAs(creator, parley.NewConversation{Name: name, With: with, Group: true})
}

// CreateConversationAs makes a conversation as a participant.
func (f *Fixture) CreateConversationAs(creator string, n parley.NewConversation) parley.ConversationView {
	f.T.Helper()
	view, err := f.CreateConversation(ctx, As(creator), n)
	f.NoError(err)
	return view
}

// ConversationAs returns a conversation as a participant sees it.
func (f *Fixture) ConversationAs(reader, ref string) parley.ConversationView {
	f.T.Helper()
	view, err := f.Conversation(ctx, As(reader), ref)
	f.NoError(err)
	return view
}

// ConversationIDs returns the ids in a participant's list of conversations.
func (f *Fixture) ConversationIDs(reader string, filter parley.ListFilter) []string {
	f.T.Helper()
	views, _, err := f.Conversations(ctx, As(reader), filter)
	f.NoError(err)
	ids := []string{}
	for _, v := range views {
		ids = append(ids, v.ID)
	}
	return ids
}

// DMBetween returns the id of the DM of two participants, which must exist.
func (f *Fixture) DMBetween(a, b string) string {
	f.T.Helper()
	list, _, err := f.Conversations(ctx, Owner, parley.ListFilter{All: true, Limit: 500})
	f.NoError(err)
	for _, c := range list {
		if c.Kind == parley.DM && slices.Contains(c.Members, a) && slices.Contains(c.Members, b) {
			return c.ID
		}
	}
	f.T.Fatalf("%s and %s have no DM", a, b)
	return ""
}

// PostAs posts a draft as a participant. A draft without a text and a payload says hello.
func (f *Fixture) PostAs(from string, d parley.Draft) parley.Receipt {
	f.T.Helper()
	if d.Content.Text == "" && d.Payload == nil {
		d.Content.Text = "hello"
	}
	r, err := f.Post(ctx, As(from), d)
	f.NoError(err)
	return r
}

// SayIn posts a text in a conversation.
func (f *Fixture) SayIn(from, conversation, words string) parley.Receipt {
	f.T.Helper()
	return f.PostAs(from, parley.Draft{Conversation: conversation, Content: parley.Content{Text: words}})
}

// SendDM posts a text in the DM of two participants.
func (f *Fixture) SendDM(from, to, words string) parley.Receipt {
	f.T.Helper()
	return f.PostAs(from, parley.Draft{Direct: []string{to}, Content: parley.Content{Text: words}})
}

// SendEphemeralDM posts a text in a new conversation of two participants.
func (f *Fixture) SendEphemeralDM(from, to, words string) parley.Receipt {
	f.T.Helper()
	return f.PostAs(from, parley.Draft{Direct: []string{to}, Ephemeral: true, Content: parley.Content{Text: words}})
}

// ReplyAs answers a message.
func (f *Fixture) ReplyAs(from, parent, words string) parley.Receipt {
	f.T.Helper()
	return f.PostAs(from, parley.Draft{InReplyTo: parent, Content: parley.Content{Text: words}})
}

// TextsIn returns the texts of a conversation's messages as a participant sees them, oldest first.
func (f *Fixture) TextsIn(reader, ref string) []string {
	f.T.Helper()
	list, err := f.History(ctx, As(reader), ref, parley.Page{})
	f.NoError(err)
	return TextsOf(list)
}

// MessagesFrom returns the messages of a conversation from one sender, oldest first.
func (f *Fixture) MessagesFrom(conversation, from string) (list []parley.Message) {
	f.T.Helper()
	for _, m := range Result[[]parley.Message](f)(f.History(ctx, Owner, conversation, parley.Page{Limit: 1000})) {
		if m.From == from {
			list = append(list, m)
		}
	}
	return list
}

// HubMessagesTo returns the messages of the hub to a participant, oldest first.
func (f *Fixture) HubMessagesTo(reader string) (list []parley.Message) {
	f.T.Helper()
	f.NoError(f.Store.View(ctx, func(tx storage.Tx) (err error) {
		list, err = tx.Messages().Scan(0, 10_000)
		return err
	}))
	return slices.DeleteFunc(list, func(m parley.Message) bool { return m.From != parley.System || m.To != reader })
}

// NewestMessage returns the newest message of all.
func (f *Fixture) NewestMessage() parley.Message {
	f.T.Helper()
	var list []parley.Message
	f.NoError(f.Store.View(ctx, func(tx storage.Tx) (err error) {
		list, err = tx.Messages().Scan(0, 10_000)
		return err
	}))
	return list[len(list)-1]
}

// StoredMessage reads a message directly from the store.
func (f *Fixture) StoredMessage(id string) (m parley.Message) {
	f.T.Helper()
	f.NoError(f.Store.View(ctx, func(tx storage.Tx) (err error) {
		m, err = tx.Messages().Get(id)
		return err
	}))
	return m
}

// TextsOf returns the texts of messages.
func TextsOf(list []parley.Message) []string {
	words := []string{}
	for _, m := range list {
		words = append(words, m.Content.Text)
	}
	return words
}
