package httpapi

import "net/http"

// bridgeRoutes returns the routes for owners, and for bridges that run outside of the hub's process with an owner's token.
func bridgeRoutes() []route {
	return []route{
		jsonRoute(Operation{
			ID: "list-bridges", Method: http.MethodGet, Path: "/v1/bridges", Tag: tagBridges,
			Summary: "List bridges",
		}, listBridges),
		jsonRoute(Operation{
			ID: "add-bridge", Method: http.MethodPost, Path: "/v1/bridges", Tag: tagBridges,
			Summary:     "Connect a directory tree to the hub",
			Description: "The hub adds agents that do not exist; they live in the tree. The hub answers when the bridge has read the tree once: it delivers every file that appears later. The hub answers after 30 seconds at most, and earlier if the bridge cannot read the tree: see state and status.",
			Status:      http.StatusCreated,
			TimeLimit:   waitTime,
			Example:     `{"layout":"agentos","root":"/mnt/shared/collab","agents":["claude","codex"]}`,
		}, addBridge),
		jsonRoute(Operation{
			ID: "show-bridge", Method: http.MethodGet, Path: "/v1/bridges/{bridge}", Tag: tagBridges,
			Summary:     "Show a bridge and its status",
			Description: "With wait, the hub answers when the bridge has read the tree once.",
			TimeLimit:   waitTime,
		}, showBridge),
		jsonRoute(Operation{
			ID: "change-bridge", Method: http.MethodPatch, Path: "/v1/bridges/{bridge}", Tag: tagBridges,
			Summary:     "Change a bridge",
			Description: "Missing fields stay unchanged.",
			Example:     `{"paused":true}`,
		}, changeBridge),
		emptyRoute(Operation{
			ID: "remove-bridge", Method: http.MethodDelete, Path: "/v1/bridges/{bridge}", Tag: tagBridges,
			Summary:     "Remove a bridge",
			Description: "The tree and the agents stay unchanged.",
		}, removeBridge),
		jsonRoute(Operation{
			ID: "unknown-files", Method: http.MethodPost, Path: "/v1/bridges/{bridge}/unknown", Tag: tagBridges,
			Summary:     "List files that were not imported",
			Description: "Returns those of the given files that the hub has not imported, in the given order.",
			Example:     `{"files":[{"path":"channels/agent-os-paper/msg-20260111-163315-claude-4c78.json"}]}`,
		}, unknownFiles),
		jsonRoute(Operation{
			ID: "arrive", Method: http.MethodPost, Path: "/v1/bridges/{bridge}/arrivals", Tag: tagBridges,
			Summary:     "Import documents from a tree",
			Description: "The hub stores each document once, even if the call is repeated. E001 and E003 are final for a document. Retry a document after any other code.",
			MaxBody:     bodyOfArrivals,
			Example:     `{"arrivals":[{"path":"channels/agent-os-paper/msg-20260111-163315-claude-4c78.json","name":"msg-20260111-163315-claude-4c78","from":"claude","to":"codex","channel":"agent-os-paper","at":"2026-01-11T16:33:15.123Z","draft":{"content":{"text":"hello"}}}]}`,
		}, arrive),
		jsonRoute(Operation{
			ID: "list-departures", Method: http.MethodGet, Path: "/v1/bridges/{bridge}/departures", Tag: tagBridges,
			Summary:     "List documents to write into a tree",
			Description: "Each document has its name already, and keeps it. With wait, the hub answers as soon as there is a document to write.",
			TimeLimit:   waitTime,
		}, departures),
		emptyRoute(Operation{
			ID: "report-departures", Method: http.MethodPost, Path: "/v1/bridges/{bridge}/reports", Tag: tagBridges,
			Summary:     "Report the state of departures",
			Description: "Repeating the call changes nothing.",
			Example:     `{"reports":[{"id":"7","state":"written"}]}`,
		}, reportDepartures),
		emptyRoute(Operation{
			ID: "beat", Method: http.MethodPost, Path: "/v1/bridges/{bridge}/beats", Tag: tagBridges,
			Summary: "Report which agents of a tree are present",
			Example: `{"beats":[{"agent":"codex","state":"AWAKE","substate":"IDLE","at":"2026-01-11T16:30:00Z"}]}`,
		}, beat),
		emptyRoute(Operation{
			ID: "note-bridge", Method: http.MethodPut, Path: "/v1/bridges/{bridge}/status", Tag: tagBridges,
			Summary:     "Report the status of a bridge",
			Description: "Replaces the previous report.",
			Example:     `{"running":true,"imported":12,"exported":7,"rejected":0,"evicted":0,"waiting":0}`,
		}, noteBridge),
		jsonRoute(Operation{
			ID: "list-bridge-tasks", Method: http.MethodGet, Path: "/v1/bridges/{bridge}/tasks", Tag: tagBridges,
			Summary: "List the tasks of agents in a tree",
		}, bridgeTasks),
	}
}
