package httpapi

import "net/http"

// bridgeRoutes are for owners, and for the bridges that run as one outside of the hub's process.
func bridgeRoutes() []route {
	return []route{
		answers(Operation{
			ID: "list-bridges", Method: http.MethodGet, Path: "/v1/bridges", Tag: tagBridges,
			Summary: "List bridges",
		}, listBridges),
		answers(Operation{
			ID: "add-bridge", Method: http.MethodPost, Path: "/v1/bridges", Tag: tagBridges,
			Summary:     "Join a directory tree to the hub",
			Description: "Agents that do not exist are added, and live in the tree. Answers once the bridge has looked at the tree, so that every file that appears later is delivered; after 30 seconds at most, and earlier if something keeps the bridge from looking: see state and status.",
			Status:      http.StatusCreated,
			Time:        waitTime,
			Example:     `{"layout":"agentos","root":"/mnt/shared/collab","agents":["claude","codex"]}`,
		}, addBridge),
		answers(Operation{
			ID: "show-bridge", Method: http.MethodGet, Path: "/v1/bridges/{bridge}", Tag: tagBridges,
			Summary:     "Show a bridge and how it gets on",
			Description: "With wait, answers once the first look at the tree is over.",
			Time:        waitTime,
		}, showBridge),
		answers(Operation{
			ID: "change-bridge", Method: http.MethodPatch, Path: "/v1/bridges/{bridge}", Tag: tagBridges,
			Summary:     "Change a bridge",
			Description: "What is absent stays.",
			Example:     `{"paused":true}`,
		}, changeBridge),
		does(Operation{
			ID: "remove-bridge", Method: http.MethodDelete, Path: "/v1/bridges/{bridge}", Tag: tagBridges,
			Summary:     "Remove a bridge",
			Description: "Its tree stays as it is, and so do its agents.",
		}, removeBridge),
		answers(Operation{
			ID: "unknown-files", Method: http.MethodPost, Path: "/v1/bridges/{bridge}/unknown", Tag: tagBridges,
			Summary:     "Which files have not arrived",
			Description: "Those of the files given, in their order.",
			Example:     `{"files":[{"path":"channels/agent-os-paper/msg-20260111-163315-claude-4c78.json"}]}`,
		}, unknownFiles),
		answers(Operation{
			ID: "arrive", Method: http.MethodPost, Path: "/v1/bridges/{bridge}/arrivals", Tag: tagBridges,
			Summary:     "Store what was found in a tree",
			Description: "Each document once, whatever is repeated. What is refused with E001 or E003 is refused for good; anything else may go away by itself.",
			Body:        bodyOfArrivals,
			Example:     `{"arrivals":[{"path":"channels/agent-os-paper/msg-20260111-163315-claude-4c78.json","name":"msg-20260111-163315-claude-4c78","from":"claude","to":"codex","channel":"agent-os-paper","at":"2026-01-11T16:33:15.123Z","draft":{"content":{"text":"hello"}}}]}`,
		}, arrive),
		answers(Operation{
			ID: "list-departures", Method: http.MethodGet, Path: "/v1/bridges/{bridge}/departures", Tag: tagBridges,
			Summary:     "What is to be written into a tree",
			Description: "Each has its name already, and keeps it. With wait, answers as soon as there is something.",
			Time:        waitTime,
		}, departures),
		does(Operation{
			ID: "report-departures", Method: http.MethodPost, Path: "/v1/bridges/{bridge}/reports", Tag: tagBridges,
			Summary:     "Tell what became of departures",
			Description: "Repeating it changes nothing.",
			Example:     `{"reports":[{"id":"7","state":"written"}]}`,
		}, reportDepartures),
		does(Operation{
			ID: "beat", Method: http.MethodPost, Path: "/v1/bridges/{bridge}/beats", Tag: tagBridges,
			Summary: "Tell who of a tree is there",
			Example: `{"beats":[{"agent":"codex","state":"AWAKE","substate":"IDLE","at":"2026-01-11T16:30:00Z"}]}`,
		}, beat),
		does(Operation{
			ID: "note-bridge", Method: http.MethodPut, Path: "/v1/bridges/{bridge}/status", Tag: tagBridges,
			Summary:     "Tell how a bridge gets on",
			Description: "Replaces what was told before.",
			Example:     `{"running":true,"imported":12,"exported":7,"rejected":0,"evicted":0,"waiting":0}`,
		}, noteBridge),
		answers(Operation{
			ID: "list-bridge-tasks", Method: http.MethodGet, Path: "/v1/bridges/{bridge}/tasks", Tag: tagBridges,
			Summary: "The tasks in which somebody of a tree takes part",
		}, bridgeTasks),
	}
}
