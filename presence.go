package parley

import "time"

// AwayAfter is how long an agent without a session may be silent before it counts as away.
const AwayAfter = 45 * time.Second

// Presence is what one participant is doing, as everybody may see it.
type Presence struct {
	ID            string     `json:"id"`
	Name          string     `json:"name"`
	Kind          Kind       `json:"kind"`
	Access        Access     `json:"access,omitempty"`
	Role          string     `json:"role,omitempty"`
	Status        string     `json:"status"`
	Reason        string     `json:"reason,omitempty"`
	SleepingUntil *time.Time `json:"sleeping_until,omitempty"`
	Runtime       string     `json:"runtime,omitempty"`
	LastSeen      *time.Time `json:"last_seen,omitempty"` // none: not since the hub was started
	Inbox         Inbox      `json:"inbox"`
}

// AgentView is a participant with what it is doing.
type AgentView struct {
	Agent
	Status   string     `json:"status"`
	Reason   string     `json:"reason,omitempty"`
	LastSeen *time.Time `json:"last_seen,omitempty"`
	Inbox    Inbox      `json:"inbox"`
}
