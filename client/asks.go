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
func (c *Client) Asks(ctx context.Context, which AsksOptions, from From) (Page[parley.AskView], error) {
	return fetch[Page[parley.AskView]](ctx, c, query("open", flag(which.Open), "cursor", from.Cursor, "limit", count(from.Limit)), "asks")
}
