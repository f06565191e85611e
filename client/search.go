package client

import (
	"context"

	"github.com/parley-hub/parley"
)

// SearchPage is a page of search results, the best first.
type SearchPage struct {
	Page[parley.Hit]
	Behind bool `json:"behind,omitempty"` // the hub has not indexed the caller's own last message yet
}

// Search returns the messages that match a query: words, "phrases", -words that must not occur, and the filters from: in: to:
// type: task: trace: before: after: is:unanswered.
func (c *Client) Search(ctx context.Context, words string, page PageRequest) (SearchPage, error) {
	q := page.query()
	q.Set("q", words)
	return fetch[SearchPage](ctx, c, q, "search")
}
