package client

import (
	"context"
	"net/http"
	"unicode/utf8"

	"github.com/parley-hub/parley"
)

// Remember stores a note. A caller can repeat the call after an error with the same idempotency key: the hub stores the note once.
func (c *Client) Remember(ctx context.Context, n parley.NewNote) (parley.Note, error) {
	if !utf8.ValidString(n.Text) {
		return parley.Note{}, notUTF8(n.Text) // JSON would change it
	}
	// If the key is a header, net/http itself retries when an idle connection turns out to be closed.
	r := request{method: http.MethodPost, key: n.IdempotencyKey}
	return callWith[parley.Note](ctx, c, r, n, 0, "notes")
}

// Recall returns notes of one memory: the newest, or with a query the ones that match best.
func (c *Client) Recall(ctx context.Context, f parley.NoteFilter) ([]parley.Note, error) {
	q := query("scope", string(f.Scope), "agent", f.Agent, "conversation", f.Conversation, "q", f.Query, "limit", count(f.Limit))
	page, err := fetch[Page[parley.Note]](ctx, c, q, "notes")
	return page.Items, err
}

// Forget erases a note. Its author, the creator of its conversation and owners may call it.
func (c *Client) Forget(ctx context.Context, note string) error {
	return c.do(ctx, http.MethodDelete, nil, "notes", note)
}

// RedactNote erases the text of a note. Its digest stays. Only owners may call it.
func (c *Client) RedactNote(ctx context.Context, note, reason string) (parley.Note, error) {
	return call[parley.Note](ctx, c, http.MethodPost, map[string]string{"reason": reason}, "notes", note, "redact")
}
