package client

import (
	"context"
	"net/http"
	"net/url"

	"github.com/parley-hub/parley"
)

// ConversationsOptions selects conversations. The zero value selects the conversations that the caller is a member of.
type ConversationsOptions struct {
	All       bool // also conversations that the caller may read but is not a member of
	Archived  bool // archived conversations instead of the others
	Ephemeral bool // also ephemeral conversations
}

// Conversations returns a page of conversations, the one with the newest message first.
func (c *Client) Conversations(ctx context.Context, o ConversationsOptions, page PageRequest) (Page[parley.ConversationView], error) {
	q := page.query()
	for name, set := range map[string]bool{"all": o.All, "archived": o.Archived, "ephemeral": o.Ephemeral} {
		if set {
			q.Set(name, flag(set))
		}
	}
	return fetch[Page[parley.ConversationView]](ctx, c, q, "conversations")
}

// CreateConversation creates a channel or a named group.
func (c *Client) CreateConversation(ctx context.Context, n parley.NewConversation) (parley.ConversationView, error) {
	return call[parley.ConversationView](ctx, c, http.MethodPost, n, "conversations")
}

// Conversation returns one conversation. Here and below, ref is the conversation's id, name, #name or display name.
func (c *Client) Conversation(ctx context.Context, ref string) (parley.ConversationView, error) {
	return fetch[parley.ConversationView](ctx, c, nil, "conversations", ref)
}

// ChangeConversation renames a conversation, sets its topic, or archives or unarchives it.
func (c *Client) ChangeConversation(ctx context.Context, ref string, change parley.ConversationChange) (parley.ConversationView, error) {
	return call[parley.ConversationView](ctx, c, http.MethodPatch, change, "conversations", ref)
}

// DeleteConversation deletes a conversation with all its messages. Only owners may call it.
func (c *Client) DeleteConversation(ctx context.Context, ref string) error {
	return c.do(ctx, http.MethodDelete, nil, "conversations", ref)
}

// Join makes the caller a member of a conversation.
func (c *Client) Join(ctx context.Context, ref string) error {
	return c.do(ctx, http.MethodPost, nil, "conversations", ref, "join")
}

// Leave ends the caller's membership of a conversation.
func (c *Client) Leave(ctx context.Context, ref string) error {
	return c.do(ctx, http.MethodPost, nil, "conversations", ref, "leave")
}

// AddMember makes an agent a member of a conversation.
func (c *Client) AddMember(ctx context.Context, ref, agent string) error {
	return c.do(ctx, http.MethodPut, nil, "conversations", ref, "members", agent)
}

// RemoveMember ends an agent's membership of a conversation.
func (c *Client) RemoveMember(ctx context.Context, ref, agent string) error {
	return c.do(ctx, http.MethodDelete, nil, "conversations", ref, "members", agent)
}

// HistoryOptions selects messages of a conversation: the newest messages before a seq, or the oldest messages after a seq. The
// zero value selects the newest messages.
type HistoryOptions struct {
	Before, After int64
	Limit         int
}

// History returns messages of a conversation, the oldest first.
func (c *Client) History(ctx context.Context, ref string, s HistoryOptions) ([]parley.Message, error) {
	page, err := fetch[Page[parley.Message]](ctx, c, s.query(), "conversations", ref, "messages")
	return page.Items, err
}

// HistoryWithNames returns what History returns, and the names of the participants in it.
func (c *Client) HistoryWithNames(ctx context.Context, ref string, s HistoryOptions) (parley.NamedMessages, error) {
	q := s.query()
	q.Set("names", "true")
	page, err := fetch[struct {
		Page[parley.Message]
		Names    []parley.Presence `json:"names"`
		Answered parley.ShortNames `json:"answered"`
	}](ctx, c, q, "conversations", ref, "messages")
	return parley.NamedMessages{Messages: page.Items, Names: page.Names, Answered: page.Answered}, err
}

func (s HistoryOptions) query() url.Values {
	return query("before", count(s.Before), "after", count(s.After), "limit", count(s.Limit))
}

// Context returns the last messages of a conversation, as many as context_messages in the caller's profile says.
func (c *Client) Context(ctx context.Context, ref string) ([]parley.Message, error) {
	page, err := fetch[Page[parley.Message]](ctx, c, nil, "conversations", ref, "context")
	return page.Items, err
}

// MarkRead moves the caller's read cursor forward to a seq; with 0, to the newest message.
func (c *Client) MarkRead(ctx context.Context, ref string, seq int64) error {
	in := struct {
		Seq int64 `json:"seq,omitempty"`
	}{seq}
	return c.do(ctx, http.MethodPost, in, "conversations", ref, "read")
}
