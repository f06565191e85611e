package httpapi

import "net/http"

func observeRoutes() []route {
	return []route{
		streamRoute(Operation{
			ID: "read-log", Method: http.MethodGet, Path: "/v1/log", Tag: tagHub,
			Summary:     "Read the message log",
			Description: "Returns one JSON object per line, the newest last: timestamp, level, msgId, traceId, from, to, type, latencyMs, status. The log never holds the text of a message.",
			TimeLimit:   noTimeLimit, AnswerType: jsonLines,
		}, readMessageLog),
		streamRoute(Operation{
			ID: "metrics", Method: http.MethodGet, Path: "/metrics", Tag: tagHub,
			Summary:     "Read the hub's metrics",
			Description: "Returns the text format of Prometheus. A scraper sends an owner's token; the scope read is enough.",
			AnswerType:  "text/plain",
		}, metrics),
	}
}
