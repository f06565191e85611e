package client

import (
	"context"

	"github.com/parley-hub/parley"
)

// Found is what a search has found, the best first.
type SearchPage struct {
	Page[parley.Hit]
	Behind bool `json:"behind,omitempty"` // the caller's own last message cannot be found yet
}

// Search looks for words, "phrases", and messages by from: in: to: type: before: after: is:unanswered task:.
func (c *Client) Search(ctx context.Context, words string, page PageRequest) (SearchPage, error) {
	q := page.query()
	q.Set("q", words)
	return fetch[SearchPage](ctx, c, q, "search")
}
