package client

import (
	"context"
	"net/http"

	"github.com/parley-hub/parley"
)

// ConversationsOptions selects conversations for a list. The zero value selects those the caller takes part in.
type ConversationsOptions struct {
	All       bool // also those the caller only may read
	Archived  bool
	Ephemeral bool // also ephemeral ones
}

// Conversations returns a page of conversations, those with the newest messages first.
func (c *Client) Conversations(ctx context.Context, o ConversationsOptions, page PageRequest) (Page[parley.ConversationView], error) {
	q := page.query()
	for name, set := range map[string]bool{"all": o.All, "archived": o.Archived, "ephemeral": o.Ephemeral} {
		if set {
			q.Set(name, flag(set))
		}
	}
	return fetch[Page[parley.ConversationView]](ctx, c, q, "conversations")
}

// CreateConversation makes a channel or a named group.
func (c *Client) CreateConversation(ctx context.Context, n parley.NewConversation) (parley.ConversationView, error) {
	return call[parley.ConversationView](ctx, c, http.MethodPost, n, "conversations")
}

// Conversation returns one conversation. Here and below ref is its id, its name or #name.
func (c *Client) Conversation(ctx context.Context, ref string) (parley.ConversationView, error) {
	return fetch[parley.ConversationView](ctx, c, nil, "conversations", ref)
}

// ChangeConversation renames a conversation, sets its topic, archives or unarchives it.
func (c *Client) ChangeConversation(ctx context.Context, ref string, change parley.ConversationChange) (parley.ConversationView, error) {
	return call[parley.ConversationView](ctx, c, http.MethodPatch, change, "conversations", ref)
}

// DeleteConversation deletes a conversation with all its messages. Owners only.
func (c *Client) DeleteConversation(ctx context.Context, ref string) error {
	return c.do(ctx, http.MethodDelete, nil, "conversations", ref)
}

// Join makes the caller a member.
func (c *Client) Join(ctx context.Context, ref string) error {
	return c.do(ctx, http.MethodPost, nil, "conversations", ref, "join")
}

// Leave ends the caller's membership.
func (c *Client) Leave(ctx context.Context, ref string) error {
	return c.do(ctx, http.MethodPost, nil, "conversations", ref, "leave")
}

// AddMember makes an agent a member.
func (c *Client) AddMember(ctx context.Context, ref, agent string) error {
	return c.do(ctx, http.MethodPut, nil, "conversations", ref, "members", agent)
}

// RemoveMember ends an agent's membership.
func (c *Client) RemoveMember(ctx context.Context, ref, agent string) error {
	return c.do(ctx, http.MethodDelete, nil, "conversations", ref, "members", agent)
}

// Span selects a piece of a history: what is before a seq, the newest of it, or what is after one, the
// oldest of it. The zero value is the newest messages.
type HistoryOptions struct {
	Before, After int64
	Limit         int
}

// History returns a piece of a conversation's messages, the oldest first.
func (c *Client) History(ctx context.Context, ref string, s HistoryOptions) ([]parley.Message, error) {
	q := query("before", count(s.Before), "after", count(s.After), "limit", count(s.Limit))
	page, err := fetch[Page[parley.Message]](ctx, c, q, "conversations", ref, "messages")
	return page.Items, err
}

// Context returns the last messages of a conversation, as many as the caller's context_messages.
func (c *Client) Context(ctx context.Context, ref string) ([]parley.Message, error) {
	page, err := fetch[Page[parley.Message]](ctx, c, nil, "conversations", ref, "context")
	return page.Items, err
}

// MarkRead moves the caller's read cursor to a seq, or to the newest message with 0.
func (c *Client) MarkRead(ctx context.Context, ref string, seq int64) error {
	in := struct {
		Seq int64 `json:"seq,omitempty"`
	}{seq}
	return c.do(ctx, http.MethodPost, in, "conversations", ref, "read")
}
