package server

import (
	"cmp"

	"github.com/parley-hub/parley/internal/config"
	"github.com/parley-hub/parley/internal/hub"
)

// hubLoad is what one participant may have under way, as it is configured. There, 0 is no limit; in the hub it is the
// default.
func hubLoad(c *config.Config) hub.Load {
	calls, unlimited := c.Calls, -1
	return hub.Load{
		Reads:     hub.Rate{PerSecond: cmp.Or(c.Reads.PerSecond, float64(unlimited)), Burst: c.Reads.Burst},
		Reading:   cmp.Or(calls.Reads, unlimited),
		Searching: cmp.Or(calls.Searches, unlimited),
		Changing:  cmp.Or(calls.Changes, unlimited),
		Waiting:   cmp.Or(calls.Waits, unlimited),
		Streaming: cmp.Or(calls.Streams, unlimited),
		Uploading: cmp.Or(calls.Uploads, unlimited),
		Sending:   cmp.Or(calls.Downloads, unlimited),

		AllStreaming: cmp.Or(calls.AllStreams, unlimited),
		Stored:       cmp.Or(c.Stored, int64(unlimited)),
	}
}
