package httpapi_test

// bridgeStories show bridges, as their owner and as one that runs outside of the hub uses them.
var bridgeStories = map[string][]step{
	"bridges": {
		{op: "add-bridge", as: "user", body: `{"layout":"agentos","root":"/mnt/shared/collab","agents":["claude","codex"],"channels":["paper"],"outside":true}`},
		{op: "add-bridge", as: "user", body: `{"layout":"agentos","root":"/mnt/shared/collab","agents":["claude"]}`},
		{op: "add-bridge", as: "user", body: `{"layout":"agentos","root":"/mnt/shared/collab/channels","agents":["claude"],"outside":true}`},
		{op: "add-bridge", as: "user", body: `{"layout":"maildir","root":"/mnt/mail","agents":["claude"]}`},
		{op: "add-bridge", as: "user", body: `{"layout":"agentos","root":"collab","agents":["claude"]}`},
		{op: "add-bridge", as: "user", body: `{"layout":"agentos","root":"/mnt/other","agents":[]}`},
		{op: "add-bridge", as: "arya", body: `{"layout":"agentos","root":"/mnt/other","agents":["arya"]}`},
		{op: "list-bridges", as: "user"},
		{op: "unknown-files", as: "user", vars: collab, body: `{"files":[{"path":"channels/paper/msg-20300111-163315-claude-4c78.json"}]}`},
		{op: "arrive", as: "user", vars: collab, body: `{"arrivals":[{"path":"channels/paper/msg-20300111-163315-claude-4c78.json","name":"msg-20300111-163315-claude-4c78","from":"claude","to":"all","channel":"paper","at":"2030-01-11T16:33:15.123Z","draft":{"content":{"text":"Phase 1 is complete"}}},` +
			`{"path":"channels/paper/msg-20300111-163316-hound-4c79.json","name":"msg-20300111-163316-hound-4c79","from":"hound","to":"all","channel":"paper","at":"2030-01-11T16:33:16Z","draft":{"content":{"text":"I may not"}}}]}`},
		{op: "unknown-files", as: "user", vars: collab, body: `{"files":[{"path":"channels/paper/msg-20300111-163315-claude-4c78.json"}]}`},
		{op: "arrive", as: "user", vars: collab, body: `{"arrivals":[{"path":"x","name":"x","from":"claude","at":"2030-01-11T16:33:15Z","draft":{"content":{"text":"x"}},"source":"web"}]}`},
		{op: "post-message", as: "arya", body: `{"conversation":"paper","to":"codex","content":{"text":"Please review"}}`},
		{op: "list-departures", as: "user", vars: collab, query: "channels=paper&limit=5&wait=5", keep: in("departure", "items.0.id")},
		{op: "report-departures", as: "user", vars: collab, body: `{"reports":[{"id":"{departure}","state":"written"}]}`},
		{op: "report-departures", as: "user", vars: collab, body: `{"reports":[{"id":"{departure}","state":"lost"}]}`},
		{op: "list-departures", as: "user", vars: collab, query: "channels=paper"},
		{op: "list-departures", as: "user", vars: collab, query: "wait=51"},
		{op: "beat", as: "user", vars: collab, body: `{"beats":[{"agent":"codex","state":"AWAKE","substate":"IDLE","at":"2030-01-11T16:30:00Z"}]}`},
		{op: "note-bridge", as: "user", vars: collab, body: `{"running":true,"imported":1,"exported":1,"rejected":1,"evicted":0,"waiting":0,"trouble":"the disk is full"}`},
		{op: "list-bridge-tasks", as: "user", vars: collab},
		{op: "show-bridge", as: "user", vars: collab},
		{op: "show-bridge", as: "arya", vars: collab},
		{op: "show-bridge", as: "user", vars: in("bridge", "agentos-colab")},
		{op: "change-bridge", as: "user", vars: collab, body: `{"agents":["claude"],"paused":true}`},
		{op: "change-bridge", as: "user", vars: collab, body: `{"root":"/elsewhere"}`},
		{op: "remove-bridge", as: "user", vars: collab},
		{op: "remove-bridge", as: "user", vars: collab},
	},
}

var collab = in("bridge", "agentos-collab")
