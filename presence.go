package parley

import (
	"strings"
	"time"
)

// AwayAfter is the time after which an agent without a session counts as away, if the hub has heard nothing from it.
const AwayAfter = 45 * time.Second

// PresenceInterval is how often an agent that lives in a directory tree renews its presence file, unless the file sets another
// interval. The agent is away after twice this time without renewal.
const PresenceInterval = 15 * time.Minute

// Presence says what one participant is doing. Every participant may see it.
type Presence struct {
	ID            string     `json:"id" doc:"The id."`
	Name          string     `json:"name" doc:"The display name."`
	Kind          Kind       `json:"kind" doc:"agent, human or system."`
	Access        Access     `json:"access,omitempty" doc:"What a person may do: an owner may do everything, a member may do what an agent may do."`
	Role          string     `json:"role,omitempty" doc:"The agent's role, in a word."`
	Status        string     `json:"status" doc:"offline, working, awaiting_approval, awaiting_delegation, sleeping or idle."`
	Reason        string     `json:"reason,omitempty" doc:"Why it is offline (stopped, away) or idle (paused)."`
	Note          string     `json:"note,omitempty" doc:"The reason that was given for the pause or the stop."`
	State         State      `json:"state" doc:"AWAKE or OFFLINE."`
	Substate      Substate   `json:"substate,omitempty" doc:"What the participant does while it is awake: IDLE, WORKING, AWAITING_APPROVAL, AWAITING_DELEGATION or SLEEPING."`
	SleepingUntil *time.Time `json:"sleeping_until,omitempty" doc:"When the agent wants to be woken again."`
	Runtime       string     `json:"runtime,omitempty" doc:"How the agent is run."`
	LastSeen      *time.Time `json:"last_seen,omitempty" doc:"When the hub last heard of the participant. If missing: not since the hub was started."`
	Inbox         Inbox      `json:"inbox" doc:"The open deliveries of the participant."`
	Work          []Work     `json:"work,omitempty" doc:"The live runs, the oldest first."`
	Health        *Health    `json:"health,omitempty" doc:"The health that the agent reports: healthy, degraded or unhealthy."`

	Sessions []OpenSession `json:"sessions,omitempty" doc:"The live client sessions, the oldest first."`

	Awaiting
}

// OpenSession is a live client session, as part of the presence of its participant.
type OpenSession struct {
	Key      string      `json:"key" doc:"The key of the session."`
	Client   string      `json:"client,omitempty" doc:"The client's name and version, as the client reports them."`
	Wake     SessionWake `json:"wake" doc:"How an idle client is woken: hook, task, queue, plugin or none."`
	LastSign time.Time   `json:"last_sign" doc:"When the hub last heard of the session."`
}

// Awaiting says what an agent waits for, as far as the caller may know: the open tasks that the agent has delegated, and its
// oldest pending approval.
type Awaiting struct {
	DelegationIDs []string `json:"awaiting_delegation_ids,omitempty" doc:"The tasks that the agent has delegated and waits for."`
	ApprovalID    string   `json:"awaiting_approval_id,omitempty" doc:"The approval that the agent waits for."`
	Number        int64    `json:"awaiting_approval_number,omitempty" doc:"The number of that approval: approval-7 has 7."`
}

// ApprovalName returns the short name of the approval that the agent waits for, or "".
func (a Awaiting) ApprovalName() string { return shortName(NounApproval, a.Number, a.ApprovalID) }

// Work is a live run. Every participant may see it, but only participants that may read its conversation see which one it is.
type Work struct {
	Run          string    `json:"run" doc:"The run's id."`
	State        RunState  `json:"state" doc:"starting, running or waiting."`
	Since        time.Time `json:"since" doc:"When the hub gave out the run."`
	Conversation string    `json:"conversation,omitempty" doc:"The conversation of the run, if the caller may read it."`
	Channel      string    `json:"channel,omitempty" doc:"The conversation's name, if it has one and the caller may read it."`
}

// AgentView is a participant, its profile and what it is doing.
type AgentView struct {
	Agent
	Status   string     `json:"status" doc:"offline, working, awaiting_approval, awaiting_delegation, sleeping or idle."`
	Reason   string     `json:"reason,omitempty" doc:"Why it is offline (stopped, away) or idle (paused)."`
	State    State      `json:"state" doc:"AWAKE or OFFLINE."`
	Substate Substate   `json:"substate,omitempty" doc:"What the participant does while it is awake: IDLE, WORKING, AWAITING_APPROVAL, AWAITING_DELEGATION or SLEEPING."`
	LastSeen *time.Time `json:"last_seen,omitempty" doc:"When the hub last heard of the participant. If missing: not since the hub was started."`
	Inbox    Inbox      `json:"inbox" doc:"The open deliveries of the participant."`
	Work     []Work     `json:"work,omitempty" doc:"The live runs, the oldest first."`
	Health   *Health    `json:"health,omitempty" doc:"The health that the agent reports: healthy, degraded or unhealthy."`
	LastHour *Spent     `json:"last_hour,omitempty" doc:"The cost of the agent's runs in the last hour."`
	LastDay  *Spent     `json:"last_day,omitempty" doc:"The cost of the agent's runs in the last 24 hours."`

	Awaiting
}

// State says whether a participant is online, in the words of the Multi-Agent OS format.
type State string

// Substate says what an awake participant is doing.
type Substate string

// The states, and the substates of an awake participant.
const (
	Awake   State = "AWAKE"
	Offline State = "OFFLINE"

	Idle               Substate = "IDLE"
	Working            Substate = "WORKING"
	AwaitingApproval   Substate = "AWAITING_APPROVAL"
	AwaitingDelegation Substate = "AWAITING_DELEGATION"
	Sleeping           Substate = "SLEEPING"
)

// State returns the state and the substate of a status.
func (s Status) State() (State, Substate) {
	if s.Status == StatusOffline {
		return Offline, ""
	}
	return Awake, Substate(strings.ToUpper(s.Status))
}
