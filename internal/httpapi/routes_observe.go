package httpapi

import "net/http"

func observeRoutes() []route {
	return []route{
		streams(Operation{
			ID: "read-log", Method: http.MethodGet, Path: "/v1/log", Tag: tagHub,
			Summary:     "Read the message log",
			Description: "One JSON object a line, the newest last: timestamp, level, msgId, traceId, from, to, type, latencyMs, status. Never what a message says.",
			Time:        endless, Gives: jsonLines,
		}, readMessageLog),
		streams(Operation{
			ID: "metrics", Method: http.MethodGet, Path: "/metrics", Tag: tagHub,
			Summary:     "What the hub measures of itself",
			Description: "In the text form of Prometheus. A scraper sends a token of an owner, for which the scope read is enough.",
			Gives:       "text/plain",
		}, metrics),
	}
}
