package client

import (
	"context"
	"net/http"
	"time"

	"github.com/parley-hub/parley"
)

// Wait waits for the answer to a message, an ask, a task or an approval, and returns its state. Done says whether it has
// ended. If it has failed, Awaited.Error says why; the returned error is nil. Wait waits at most MaxWait.
func (c *Client) Wait(ctx context.Context, id string, wait time.Duration) (parley.Awaited, error) {
	wait = min(wait, MaxWait)
	r := request{method: http.MethodGet, query: query("wait", seconds(wait))}
	return callWith[parley.Awaited](ctx, c, r, nil, wait, "wait", id)
}
