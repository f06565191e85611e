package parley

import (
	"time"
)

// HubStatus is the status of a hub.
type HubStatus struct {
	Version   string    `json:"version" doc:"The program's version."`
	StartedAt time.Time `json:"started_at" doc:"When the hub was started."`
	Store     string    `json:"store" doc:"sqlite or postgres."`
	PID       int       `json:"pid" doc:"The hub's process id."`
	Address   string    `json:"address,omitempty" doc:"The address that the hub listens on."`
	Socket    string    `json:"socket,omitempty" doc:"The path of the hub's local socket."`
	Home      string    `json:"home,omitempty" doc:"The hub's directory; for owners."`
	Totals
	LastEvent int64 `json:"last_event" doc:"The number of the newest event."`
	// DiskFree and DiskTotal are 0 if the hub cannot determine them.
	DiskFree  int64   `json:"disk_free,omitempty" doc:"Free bytes on the hub's disk."`
	DiskTotal int64   `json:"disk_total,omitempty" doc:"Size of the hub's disk in bytes."`
	Alerts    []Alert `json:"alerts" doc:"What needs a person's attention."`

	AlertGroups []AlertGroup `json:"alert_groups,omitempty" doc:"The same, as one entry for each name."`

	// UnknownClients are agents with a session on the hub's machine whose client the hub does not recognise. The hub cannot
	// tell commands that such a client starts from the owner's. Only owners see them.
	UnknownClients []string `json:"unknown_clients,omitempty" doc:"Agents with a session on the hub's machine whose client was not recognised. The hub cannot tell commands that such a client starts from the owner's. For owners."`

	// ClientProcesses are the processes on the hub's machine that act as agents, because "parley mcp" or a hook has called from
	// them. Only owners see them.
	ClientProcesses []ClientProcess `json:"client_processes,omitempty" doc:"Processes of connected clients on the hub's machine. They and all their descendants act as the agent. For owners."`

	// NotReady says why the hub cannot store anything at present; it is empty when the hub is ready.
	NotReady []NotReady `json:"not_ready,omitempty" doc:"Why the hub cannot store anything at present; missing when it is ready."`
}

// ClientProcess is a process that acts as an agent, with all its descendants.
type ClientProcess struct {
	Agent   string `json:"agent" doc:"The agent's id."`
	PID     int    `json:"pid" doc:"The process id."`
	Program string `json:"program,omitempty" doc:"The client that the hub recognised. Missing if it recognised none: then the process stands only for itself, and not for its parent."`
}

// NotReady is one reason why a hub cannot store anything at present. /readyz, the status and parley doctor show it.
type NotReady struct {
	Check      string `json:"check" doc:"disk or store."`
	Message    string `json:"message" doc:"What is wrong."`
	Suggestion string `json:"suggestion,omitempty" doc:"What to do."`
}

// Totals counts the rows that a hub stores. In a hub with very many conversations the counts are a moment old.
type Totals struct {
	Agents         int64 `json:"agents" doc:"How many participants there are, people and the hub itself included."`
	Conversations  int64 `json:"conversations" doc:"How many conversations there are."`
	Messages       int64 `json:"messages" doc:"How many messages there are."`
	OpenDeliveries int64 `json:"open_deliveries" doc:"Open deliveries."`
	DeadLetters    int64 `json:"dead_letters" doc:"Deliveries that are out of attempts."`
}

// Alert says that something needs a person's attention.
type Alert struct {
	// Name is disk, write, read, depth, latency, errors …
	Name string `json:"name" doc:"The name of the alert."`
	// Agent is the agent that the alert is about, if it is about one.
	Agent      string         `json:"agent,omitempty" doc:"The agent's id."`
	Message    string         `json:"message" doc:"What needs attention, in a sentence."`
	Suggestion string         `json:"suggestion,omitempty" doc:"What to do next."`
	Since      time.Time      `json:"since,omitzero" doc:"When it began."`
	Facts      map[string]any `json:"facts,omitempty" doc:"The figures behind it."`
	Severity   float64        `json:"severity,omitempty" doc:"How far the value is past its limit. The largest is the worst of the alerts with one name."`
	Title      string         `json:"-"` // the title of notices outside of the hub
}

// Backup describes a backup that the hub has made.
type Backup struct {
	Directory string `json:"directory" doc:"The backup's directory."`
	Seq       int64  `json:"seq" doc:"The number of the newest message or event in it."`
	Files     int    `json:"files" doc:"How many files it has."`
	Bytes     int64  `json:"bytes" doc:"The size in bytes."`
	Messages  int64  `json:"messages" doc:"How many messages are in it."`
}
