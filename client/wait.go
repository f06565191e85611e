package client

import (
	"context"
	"net/http"
	"time"

	"github.com/parley-hub/parley"
)

// Wait waits for a message's answer, an ask, a task or an approval, and returns how far it has come: Done says whether it is
// over. That it has failed is no error of this call, but Awaited.Error. It waits at most LongestWait.
func (c *Client) Wait(ctx context.Context, id string, wait time.Duration) (parley.Awaited, error) {
	wait = min(wait, LongestWait)
	r := request{method: http.MethodGet, query: query("wait", seconds(wait))}
	return callWith[parley.Awaited](ctx, c, r, nil, wait, "wait", id)
}
