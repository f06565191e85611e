package client

import (
	"context"
	"net/http"

	"github.com/parley-hub/parley"
)

// DeadLetters returns a page of the deliveries that ran out of attempts. Owners only, as all here.
func (c *Client) DeadLetters(ctx context.Context, page PageRequest) (Page[parley.Delivery], error) {
	return fetch[Page[parley.Delivery]](ctx, c, page.query(), "dead")
}

// RetryDead gives a dead letter all its attempts again.
func (c *Client) RetryDead(ctx context.Context, message, recipient string) (parley.Delivery, error) {
	return call[parley.Delivery](ctx, c, http.MethodPost, nil, "dead", message, recipient, "retry")
}

// DropDead gives a dead letter up.
func (c *Client) DropDead(ctx context.Context, message, recipient string) (parley.Delivery, error) {
	return call[parley.Delivery](ctx, c, http.MethodPost, nil, "dead", message, recipient, "drop")
}
