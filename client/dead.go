package client

import (
	"context"
	"net/http"

	"github.com/parley-hub/parley"
)

// DeadLetters returns a page of the dead letters: deliveries that have no attempts left. Only owners may call this, RetryDead
// and DropDead.
func (c *Client) DeadLetters(ctx context.Context, page PageRequest) (Page[parley.Delivery], error) {
	return fetch[Page[parley.Delivery]](ctx, c, page.query(), "dead")
}

// RetryDead makes a dead letter pending again, with all its attempts.
func (c *Client) RetryDead(ctx context.Context, message, recipient string) (parley.Delivery, error) {
	return call[parley.Delivery](ctx, c, http.MethodPost, nil, "dead", message, recipient, "retry")
}

// DropDead drops a dead letter: the hub does not deliver it any more.
func (c *Client) DropDead(ctx context.Context, message, recipient string) (parley.Delivery, error) {
	return call[parley.Delivery](ctx, c, http.MethodPost, nil, "dead", message, recipient, "drop")
}
