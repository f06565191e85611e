package httpapi

import "net/http"

func controlRoutes() []route {
	return []route{
		jsonRoute(Operation{
			ID: "command", Method: http.MethodPost, Path: "/v1/agents/{agent}/commands", Tag: tagAgents,
			Summary: "Tell an agent to start, stop, pause, resume or report its health",
			Description: "Posts a message of type command, which the hub obeys at once. pause: the agent starts no runs; with timeout_ms it " +
				"resumes after that time. stop: live runs have timeout_ms (30000) to end; then the hub cancels them.",
			Status:  http.StatusCreated,
			Example: `{"action":"pause","parameters":{"reason":"maintenance","timeout_ms":600000}}`,
		}, command),
		jsonRoute(Operation{
			ID: "report-health", Method: http.MethodPut, Path: "/v1/agents/{agent}/health", Tag: tagAgents,
			Summary: "Report an agent's health",
			Example: `{"health":"degraded","metrics":{"cpu":0.93,"tasks":4},"uptime_ms":86400000}`,
		}, reportHealth),
		jsonRoute(Operation{
			ID: "resume-pair", Method: http.MethodPost, Path: "/v1/agents/{agent}/resume-pair", Tag: tagAgents,
			Summary:     "Let two agents wake each other again",
			Description: "The hub stopped them because they woke each other too often. The manager of either agent may resume them.",
			Example:     `{"with":"gendry"}`,
		}, resumePair),
	}
}

func runRoutes() []route {
	return []route{
		jsonRoute(Operation{
			ID: "list-runs", Method: http.MethodGet, Path: "/v1/runs", Tag: tagRuns,
			Summary:     "List runs",
			Description: "Returns an agent's own runs, the newest first. Owners see all.",
		}, listRuns),
		jsonRoute(Operation{
			ID: "show-run", Method: http.MethodGet, Path: "/v1/runs/{run}", Tag: tagRuns,
			Summary:     "Show a run",
			Description: "Returns the run with its triggers, its result, its cost and its messages.",
		}, showRun),
		streamRoute(Operation{
			ID: "read-output", Method: http.MethodGet, Path: "/v1/runs/{run}/output", Tag: tagRuns,
			Summary:     "Read the output of a run",
			Description: "Returns the program's standard output and error. Of long output, returns the end. Of a live run, returns the output so far.",
			AnswerType:  "application/octet-stream",
		}, runOutput),
		jsonRoute(Operation{
			ID: "cancel-run", Method: http.MethodPost, Path: "/v1/runs/{run}/cancel", Tag: tagRuns,
			Summary:     "End a run",
			Description: "The run ends soon after. The hub does not retry its triggers.",
			Example:     `{"reason":"it goes the wrong way"}`,
		}, cancelRun),
	}
}
