package server

import (
	"cmp"

	"github.com/parley-hub/parley/internal/config"
	"github.com/parley-hub/parley/internal/hub"
)

// hubLoad converts the configured limits of one participant's calls to those of the hub. In the configuration, 0 means no limit; in
// the hub, 0 means the default and a negative number means no limit.
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
