package httpapi

import "net/http"

func controlRoutes() []route {
	return []route{
		answers(Operation{
			ID: "command", Method: http.MethodPost, Path: "/v1/agents/{agent}/commands", Tag: tagAgents,
			Summary: "Tell an agent to start, stop, pause, resume or say how it is",
			Description: "Posts a message of type command, which the hub obeys at once. pause: no new runs, and with timeout_ms it " +
				"resumes by itself. stop: what runs has timeout_ms (30000) to end, then it is cancelled.",
			Status:  http.StatusCreated,
			Example: `{"action":"pause","parameters":{"reason":"maintenance","timeout_ms":600000}}`,
		}, command),
		answers(Operation{
			ID: "report-health", Method: http.MethodPut, Path: "/v1/agents/{agent}/health", Tag: tagAgents,
			Summary: "Say how one is",
			Example: `{"health":"degraded","metrics":{"cpu":0.93,"tasks":4},"uptime_ms":86400000}`,
		}, reportHealth),
		answers(Operation{
			ID: "resume-pair", Method: http.MethodPost, Path: "/v1/agents/{agent}/resume-pair", Tag: tagAgents,
			Summary:     "Let two agents wake each other again",
			Description: "That were stopped for having done so too often in a row. The manager of either may.",
			Example:     `{"with":"gendry"}`,
		}, resumePair),
	}
}

func runRoutes() []route {
	return []route{
		answers(Operation{
			ID: "list-runs", Method: http.MethodGet, Path: "/v1/runs", Tag: tagRuns,
			Summary:     "List runs",
			Description: "The newest first: for an agent its own, for owners all.",
		}, listRuns),
		answers(Operation{
			ID: "show-run", Method: http.MethodGet, Path: "/v1/runs/{run}", Tag: tagRuns,
			Summary:     "Show a run",
			Description: "What woke it, how it went, what it cost and what it posted.",
		}, showRun),
		streams(Operation{
			ID: "read-output", Method: http.MethodGet, Path: "/v1/runs/{run}/output", Tag: tagRuns,
			Summary:     "What a run has put out",
			Description: "As the program wrote it, from its standard output and error; the end of it, where it is long. Of a live run, what there is so far.",
			Gives:       "application/octet-stream",
		}, runOutput),
		answers(Operation{
			ID: "cancel-run", Method: http.MethodPost, Path: "/v1/runs/{run}/cancel", Tag: tagRuns,
			Summary:     "End a run",
			Description: "It ends soon after; what woke it is not tried again.",
			Example:     `{"reason":"it goes the wrong way"}`,
		}, cancelRun),
	}
}
