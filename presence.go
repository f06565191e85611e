package parley

import (
	"strings"
	"time"
)

// AwayAfter is how long an agent without a session may be silent before it counts as away.
const AwayAfter = 45 * time.Second

// PresenceInterval is how often an agent that lives in a directory tree gives a sign, unless its presence file says otherwise. It is
// away after twice this time without any.
const PresenceInterval = 15 * time.Minute

// Presence is what one participant is doing, as everybody may see it.
type Presence struct {
	ID            string     `json:"id"`
	Name          string     `json:"name"`
	Kind          Kind       `json:"kind"`
	Access        Access     `json:"access,omitempty"`
	Role          string     `json:"role,omitempty"`
	Status        string     `json:"status"`
	Reason        string     `json:"reason,omitempty"`
	Note          string     `json:"note,omitempty"` // why it was paused or stopped, as whoever did it has said
	State         State      `json:"state"`
	Substate      Substate   `json:"substate,omitempty"`
	SleepingUntil *time.Time `json:"sleeping_until,omitempty"`
	Runtime       string     `json:"runtime,omitempty"`
	LastSeen      *time.Time `json:"last_seen,omitempty"` // none: not since the hub was started
	Inbox         Inbox      `json:"inbox"`
	Work          []Work     `json:"work,omitempty"`   // what it is at, oldest first
	Health        *Health    `json:"health,omitempty"` // what it last said of itself

	Awaiting
}

// Awaiting is what an agent waits for, as far as whoever asks may know: the open tasks it has delegated, and its
// oldest call that somebody has to approve.
type Awaiting struct {
	DelegationIDs []string `json:"awaiting_delegation_ids,omitempty"`
	ApprovalID    string   `json:"awaiting_approval_id,omitempty"`
	Number        int64    `json:"awaiting_approval_number,omitempty"` // of the approval
}

// ApprovalName is the short name of the approval that is waited for, or nothing.
func (a Awaiting) ApprovalName() string { return shortName(NounApproval, a.Number, a.ApprovalID) }

// Work is a live run, as everybody may see it. Where it is, only those see who may read there.
type Work struct {
	Run          string    `json:"run"`
	State        RunState  `json:"state"`
	Since        time.Time `json:"since"`
	Conversation string    `json:"conversation,omitempty"`
	Channel      string    `json:"channel,omitempty"` // its name, if it has one
}

// AgentView is a participant with what it is doing.
type AgentView struct {
	Agent
	Status   string     `json:"status"`
	Reason   string     `json:"reason,omitempty"`
	State    State      `json:"state"`
	Substate Substate   `json:"substate,omitempty"`
	LastSeen *time.Time `json:"last_seen,omitempty"`
	Inbox    Inbox      `json:"inbox"`
	Work     []Work     `json:"work,omitempty"`
	Health   *Health    `json:"health,omitempty"`
	LastHour *Spent     `json:"last_hour,omitempty"`
	LastDay  *Spent     `json:"last_day,omitempty"`

	Awaiting
}

// State is whether a participant is there at all, in the words of S0.
type State string

// Substate is what one that is there is doing.
type Substate string

// The states, and what an awake participant may be doing.
const (
	Awake   State = "AWAKE"
	Offline State = "OFFLINE"

	Idle               Substate = "IDLE"
	Working            Substate = "WORKING"
	AwaitingApproval   Substate = "AWAITING_APPROVAL"
	AwaitingDelegation Substate = "AWAITING_DELEGATION"
	Sleeping           Substate = "SLEEPING"
)

// State is a status as a state and what is done in it.
func (s Status) State() (State, Substate) {
	if s.Status == StatusOffline {
		return Offline, ""
	}
	return Awake, Substate(strings.ToUpper(s.Status))
}
