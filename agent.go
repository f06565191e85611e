package parley

import (
	"encoding/json"
	"math"
	"slices"
	"time"
	"unicode/utf8"
)

// Kind is the kind of a participant: a program, a person or the hub.
type Kind string

// The kinds of participant.
const (
	KindAgent  Kind = "agent"
	KindHuman  Kind = "human"
	KindSystem Kind = "system"
)

// Access says what a person may do. An owner may do everything; a member may do what an agent may do.
type Access string

// The levels of access.
const (
	AccessOwner  Access = "owner"
	AccessMember Access = "member"
)

// Tier is an agent's level in a command hierarchy.
type Tier string

// The tiers.
const (
	TierCommand Tier = "command"
	TierPM      Tier = "pm"
	TierWorker  Tier = "worker"
)

// Mode says how much an agent may do without an approval.
type Mode string

// The modes.
const (
	ModeAutonomous Mode = "autonomous"
	ModeSupervised Mode = "supervised"
	ModeStrict     Mode = "strict"
)

// Overflow says what the hub does with a message when the inbox of its recipient is full.
type Overflow string

// The settings for a full inbox.
const (
	OverflowEvict     Overflow = "evict-oldest"
	OverflowReject    Overflow = "reject"
	OverflowUnbounded Overflow = "unbounded"
)

// Agent is a participant: a program, a person, or the hub itself.
type Agent struct {
	ID   string `json:"id" doc:"A short name: a-z, 0-9, _ and -."`
	UUID string `json:"uuid" doc:"The permanent id, which stays the same when the agent is renamed."`
	Name string `json:"name" doc:"The display name."`
	Kind Kind   `json:"kind" doc:"agent, human or system."`
	// Access is set for people only.
	Access    Access     `json:"access,omitempty" doc:"What a person may do: an owner may do everything, a member may do what an agent may do."`
	CreatedAt time.Time  `json:"created_at" doc:"When it was created."`
	UpdatedAt time.Time  `json:"updated_at" doc:"When it was last changed."`
	RemovedAt *time.Time `json:"removed_at,omitempty" doc:"When it was removed."`
	// SleepingUntil is when the agent wants to be woken again. Asks wake it earlier.
	SleepingUntil *time.Time `json:"sleeping_until,omitempty" doc:"When the agent wants to be woken again."`
	Paused        *Halt      `json:"paused,omitempty" doc:"When and why the agent was paused. A paused agent starts no runs."`
	Stopped       *Halt      `json:"stopped,omitempty" doc:"When and why the agent was stopped."`
	Profile
}

// Asleep reports whether an agent sleeps at a moment.
func (a Agent) Asleep(now time.Time) bool {
	return a.SleepingUntil != nil && a.SleepingUntil.After(now)
}

// Halted reports whether an agent is stopped or paused at a moment, and so starts no runs.
func (a Agent) Halted(now time.Time) bool { return a.Stopped != nil || a.Paused.InForce(now) }

// Profile has everything about an agent that an owner may change.
type Profile struct {
	Role            string          `json:"role,omitempty" doc:"The agent's role, in a word."`
	Description     string          `json:"description,omitempty" doc:"What the agent does."`
	Skills          []string        `json:"skills,omitempty" doc:"What the agent can do."`
	Guardrails      string          `json:"guardrails,omitempty" doc:"What the agent is told never to do."`
	Tier            Tier            `json:"tier,omitempty" doc:"Its level in a command hierarchy."`
	Manager         string          `json:"manager,omitempty" doc:"The agent's manager."`
	Mode            Mode            `json:"mode" doc:"How much the agent may do without an approval."`
	Runtime         string          `json:"runtime,omitempty" doc:"How the agent is run."`
	RuntimeConfig   json.RawMessage `json:"runtime_config,omitempty" doc:"Settings of its runtime; for owners."`
	ContextMessages int             `json:"context_messages" doc:"How many messages of the conversation a run sees when the agent is woken."`
	ContextTokens   int             `json:"context_tokens,omitempty" doc:"The limit on the tokens of these messages, estimated; 0: no limit."`
	InboxDepth      int             `json:"inbox_depth" doc:"How many open waking deliveries the inbox holds."`
	InboxOverflow   Overflow        `json:"inbox_overflow" doc:"What happens to a message when the inbox is full."`
	Attempts        int             `json:"attempts" doc:"The largest number of attempts for a delivery."`
	Concurrency     int             `json:"concurrency" doc:"How many runs the agent may have at once."`
	Budget          Budget          `json:"budget,omitzero" doc:"Caps on what the agent may spend."`
	Protocols       []string        `json:"protocols,omitempty" doc:"The formats that the agent supports."`
}

// Bounded reports whether the inbox has a limit on the number of its open waking deliveries.
func (p Profile) Bounded() bool { return p.InboxOverflow != OverflowUnbounded && p.InboxDepth > 0 }

// Budget caps what an agent may spend. Zero means no cap.
type Budget struct {
	RunsPerHour  int     `json:"runs_per_hour,omitempty" doc:"0: no cap."`
	TokensPerDay int64   `json:"tokens_per_day,omitempty" doc:"0: no cap."`
	CostPerDay   float64 `json:"cost_per_day,omitempty" doc:"In US dollars; 0: no cap."`
}

// DefaultProfile returns the profile of an agent that an owner adds without settings.
func DefaultProfile() Profile {
	return Profile{
		Mode:            ModeAutonomous,
		ContextMessages: 20,
		InboxDepth:      100,
		InboxOverflow:   OverflowEvict,
		Attempts:        5,
		Concurrency:     4,
	}
}

const (
	maxText            = 64 << 10 // role, description, guardrails and the like
	maxList            = 256
	maxContextMessages = 1000
	maxContextTokens   = 10_000_000
	maxInboxDepth      = 1_000_000
	maxAttemptsOrRuns  = 100 // attempts for a delivery, and runs at once
)

// Check returns what is wrong with a profile, or nil. The hub checks that the manager exists.
func (p Profile) Check() error {
	for name, text := range map[string]string{
		"role": p.Role, "description": p.Description, "guardrails": p.Guardrails, "runtime": p.Runtime,
	} {
		if err := checkText(name, text, maxText); err != nil {
			return err
		}
	}
	for name, list := range map[string][]string{"skills": p.Skills, "protocols": p.Protocols} {
		if len(list) > maxList {
			return tooLargeError(name, len(list), maxList, "entries")
		}
		for _, entry := range list {
			if err := checkText(name, entry, maxText); err != nil {
				return err
			}
		}
	}
	return checkSettings(p)
}

func checkSettings(p Profile) error {
	if p.Tier != "" && !slices.Contains([]Tier{TierCommand, TierPM, TierWorker}, p.Tier) {
		return Errorf(BadInput, "unknown tier %q", clip(string(p.Tier))).Suggest("use command, pm or worker")
	}
	if !slices.Contains([]Mode{ModeAutonomous, ModeSupervised, ModeStrict}, p.Mode) {
		return Errorf(BadInput, "unknown mode %q", clip(string(p.Mode))).Suggest("use autonomous, supervised or strict")
	}
	if !slices.Contains([]Overflow{OverflowEvict, OverflowReject, OverflowUnbounded}, p.InboxOverflow) {
		return Errorf(BadInput, "unknown inbox overflow %q", clip(string(p.InboxOverflow))).
			Suggest("use evict-oldest, reject or unbounded")
	}
	for _, n := range []struct {
		name         string
		value, limit int
	}{
		{"context_messages", p.ContextMessages, maxContextMessages},
		{"inbox_depth", p.InboxDepth, maxInboxDepth},
		{"attempts", p.Attempts, maxAttemptsOrRuns},
		{"concurrency", p.Concurrency, maxAttemptsOrRuns},
	} {
		if n.value < 1 || n.value > n.limit {
			return Errorf(BadInput, "%s is %d", n.name, n.value).Suggest("use a number from 1 to %d", n.limit)
		}
	}
	if p.ContextTokens < 0 || p.ContextTokens > maxContextTokens {
		return Errorf(BadInput, "context_tokens is %d", p.ContextTokens).Suggest("use a number up to %d, or 0 for no limit", maxContextTokens)
	}
	if b := p.Budget; b.RunsPerHour < 0 || b.TokensPerDay < 0 || !(b.CostPerDay >= 0 && b.CostPerDay <= math.MaxFloat64) {
		return Errorf(BadInput, "a budget is negative or not a number").Suggest("use 0 for no limit")
	}
	if len(p.RuntimeConfig) > 0 {
		if _, err := CompactObject("runtime_config", p.RuntimeConfig, DefaultLimits()); err != nil {
			return err
		}
	}
	return nil
}

// checkText refuses a text with more bytes than the limit. It also refuses a text that one of the databases cannot store: one
// that is not UTF-8, or that contains a NUL character. name is the name of the text in the error.
func checkText(name, text string, limit int) error {
	if len(text) > limit {
		return tooLargeError(name, len(text), limit, "bytes")
	}
	if !utf8.ValidString(text) {
		return Errorf(BadInput, "%s is not valid UTF-8", name).Suggest("encode it as UTF-8")
	}
	for i := range len(text) {
		if text[i] == 0 {
			return Errorf(BadInput, "%s contains a NUL character", name).Suggest("remove it")
		}
	}
	return nil
}

func tooLargeError(name string, size, limit int, unit string) *Error {
	return Errorf(BadInput, "%s has %d %s, the limit is %d", name, size, unit, limit).Because(TooLarge).
		Suggest("shorten it, or send an artifact")
}

// Facts are the facts from which StatusAt derives the status of an agent.
type Facts struct {
	Kind             Kind
	Stopped          bool
	Away             bool // it has no session, its hub process has ended, or its heartbeat is missing
	LiveRuns         int
	Busy             bool // the agent itself reports that it works
	AwaitingApproval bool
	OpenSubtasks     int
	SleepingUntil    time.Time
	Paused           bool
}

// Status says what an agent is doing. Some statuses have a reason.
type Status struct {
	Status string    `json:"status"`
	Reason string    `json:"reason,omitempty"`
	Until  time.Time `json:"sleeping_until,omitzero"`
}

// The statuses, in the order in which StatusAt checks them.
const (
	StatusOffline            = "offline"
	StatusWorking            = "working"
	StatusAwaitingApproval   = "awaiting_approval"
	StatusAwaitingDelegation = "awaiting_delegation"
	StatusSleeping           = "sleeping"
	StatusIdle               = "idle"
)

// The reasons of a status.
const (
	ReasonStopped    = "stopped"
	ReasonAway       = "away"
	ReasonPaused     = "paused"
	ReasonOverBudget = "over budget"
)

// StatusAt returns the status of an agent at a moment. It checks the statuses in the order above and returns the first whose
// condition is met.
func (f Facts) StatusAt(now time.Time) Status {
	asleep, paused := f.SleepingUntil.After(now), ""
	if f.Paused {
		paused = ReasonPaused
	}
	switch {
	case f.Kind != KindAgent:
		return Status{Status: StatusIdle} // people and the hub are never offline
	case f.Stopped:
		return Status{Status: StatusOffline, Reason: ReasonStopped}
	case f.Away:
		return Status{Status: StatusOffline, Reason: ReasonAway}
	case f.LiveRuns > 0 || f.Busy:
		return Status{Status: StatusWorking, Reason: paused}
	case f.AwaitingApproval:
		return Status{Status: StatusAwaitingApproval}
	case f.OpenSubtasks > 0:
		return Status{Status: StatusAwaitingDelegation}
	case asleep:
		return Status{Status: StatusSleeping, Until: f.SleepingUntil}
	default:
		return Status{Status: StatusIdle, Reason: paused}
	}
}
