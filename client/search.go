package client

import (
	"context"

	"github.com/parley-hub/parley"
)

// Found is what a search has found, the best first.
type Found struct {
	Page[parley.Hit]
	Behind bool `json:"behind,omitempty"` // the caller's own last message cannot be found yet
}

// Search looks for words, "phrases", and messages by from: in: to: type: before: after: is:unanswered task:.
func (c *Client) Search(ctx context.Context, words string, from From) (Found, error) {
	q := from.query()
	q.Set("q", words)
	return fetch[Found](ctx, c, q, "search")
}
