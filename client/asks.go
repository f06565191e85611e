package client

import (
	"context"

	"github.com/parley-hub/parley"
)

// AsksOptions selects asks. The zero value selects all that the caller may see: the asks that it made or received. An owner
// sees all asks.
type AsksOptions struct {
	Open bool // only asks that have not ended
}

// Asks returns a page of asks, the newest first.
func (c *Client) Asks(ctx context.Context, o AsksOptions, page PageRequest) (Page[parley.AskView], error) {
	return fetch[Page[parley.AskView]](ctx, c, query("open", flag(o.Open), "cursor", page.Cursor, "limit", count(page.Limit)), "asks")
}
