package parley

import (
	"context"
	"time"
)

// HubStatus is how a hub is doing.
type HubStatus struct {
	Version   string    `json:"version"`
	StartedAt time.Time `json:"started_at"`
	Store     string    `json:"store"` // sqlite or postgres
	PID       int       `json:"pid"`
	Address   string    `json:"address,omitempty"`
	Socket    string    `json:"socket,omitempty"`
	Home      string    `json:"home,omitempty"` // for owners
	Totals
	LastEvent int64   `json:"last_event"`
	DiskFree  int64   `json:"disk_free,omitempty"` // bytes, where they can be known
	DiskTotal int64   `json:"disk_total,omitempty"`
	Alerts    []Alert `json:"alerts"`

	AlertGroups []AlertGroup `json:"alert_groups,omitempty"` // the alerts, those of one name together

	// UnknownClients are agents with a session on the hub's machine whose client was not recognised. The hub cannot tell
	// commands that such a client starts from the owner's. For owners.
	UnknownClients []string `json:"unknown_clients,omitempty"`

	// NotReady says why the hub cannot store anything at present; it is empty when the hub is ready.
	NotReady []NotReady `json:"not_ready,omitempty"`
}

// NotReady is one reason why a hub cannot store anything at present. /readyz, the status and parley doctor show the same.
type NotReady struct {
	Check      string `json:"check"` // disk or store
	Message    string `json:"message"`
	Suggestion string `json:"suggestion,omitempty"`
}

// Prober is implemented by stores that can test whether they can be written.
type Prober interface {
	// Probe commits a change that nobody reads. It returns the error that an update would return.
	Probe(ctx context.Context) error
}

// Totals are how much a hub holds. In a hub with very many conversations they are those of a moment ago.
type Totals struct {
	Agents         int64 `json:"agents"` // people and the hub itself included
	Conversations  int64 `json:"conversations"`
	Messages       int64 `json:"messages"`
	OpenDeliveries int64 `json:"open_deliveries"`
	DeadLetters    int64 `json:"dead_letters"`
}

// OpenWork is how much waits for somebody.
type OpenWork struct {
	QueuedTasks      int64
	ActiveTasks      int64
	PendingApprovals int64
}

// Alert is something that needs a person's attention.
type Alert struct {
	Name       string         `json:"name"`            // disk, write, read, depth, latency, errors …
	Agent      string         `json:"agent,omitempty"` // whom it is about, if it is about one
	Message    string         `json:"message"`
	Suggestion string         `json:"suggestion,omitempty"`
	Since      time.Time      `json:"since,omitzero"`
	Facts      map[string]any `json:"facts,omitempty"`    // the figures behind it
	Severity   float64        `json:"severity,omitempty"` // how far it is past its limit; of one name, the largest is the worst
	Title      string         `json:"-"`                  // of what people are told outside of the hub
}

// Backup is a backup that was made.
type Backup struct {
	Directory string `json:"directory"`
	Seq       int64  `json:"seq"` // of the newest message or event in it
	Files     int    `json:"files"`
	Bytes     int64  `json:"bytes"`
	Messages  int64  `json:"messages"`
}

// Keeper is what a store may be able to do for the safety of what it holds.
type Keeper interface {
	// Backup copies everything into a new directory while others go on, and verifies the copy. If anything
	// fails, nothing is left. E003 Conflict if the directory is there already, E002 StorageFull if the disk
	// is full.
	Backup(ctx context.Context, dir string) (Backup, error)
	// CheckDeep verifies everything that is stored. progress, which may be nil, is told now and then how far
	// it is. An error means that the check could not be made; what it found is in the report.
	CheckDeep(ctx context.Context, progress func(CheckReport)) (CheckReport, error)
}
