package client

import (
	"bufio"
	"context"
	"encoding/json"
	"iter"
	"net/http"
	"time"

	"github.com/parley-hub/parley"
)

// Log yields lines of the message log, the newest last. With follow it also yields new lines, until ctx is done. It ends after
// an error. Only owners may call it.
func (c *Client) Log(ctx context.Context, f parley.LogFilter, follow bool) iter.Seq2[parley.LogLine, error] {
	return func(yield func(parley.LogLine, error) bool) {
		q := query("trace", f.Trace, "agent", f.Agent, "status", f.Status, "limit", count(int64(f.Limit)), "follow", flag(follow))
		if !f.Since.IsZero() {
			q.Set("since", f.Since.UTC().Format(time.RFC3339Nano))
		}
		body, err := c.open(ctx, request{method: http.MethodGet, query: q}, "log")
		if err != nil {
			yield(parley.LogLine{}, err)
			return
		}
		defer func() { _ = body.Close() }()
		lines := bufio.NewScanner(body)
		for lines.Scan() {
			var line parley.LogLine
			if err := json.Unmarshal(lines.Bytes(), &line); err != nil {
				yield(line, c.notAHub("a line that is not JSON of the message log").From(err))
				return
			}
			if !yield(line, nil) {
				return
			}
		}
		if err := lines.Err(); err != nil {
			yield(parley.LogLine{}, err)
		}
	}
}
