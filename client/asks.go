package client

import (
	"context"

	"github.com/parley-hub/parley"
)

// AsksOptions selects asks. The zero value selects all the caller may see: those it made or was asked; an owner everybody's.
type AsksOptions struct {
	Open bool // only those that have not ended
}

// Asks returns a page of asks, the newest first.
func (c *Client) Asks(ctx context.Context, o AsksOptions, page PageRequest) (Page[parley.AskView], error) {
	return fetch[Page[parley.AskView]](ctx, c, query("open", flag(o.Open), "cursor", page.Cursor, "limit", count(page.Limit)), "asks")
}
