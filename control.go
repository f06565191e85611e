package parley

import (
	"encoding/json"
	"slices"
	"time"
)

// Halt is a pause or a stop of an agent. A paused or stopped agent starts no runs.
type Halt struct {
	At     time.Time  `json:"at" doc:"When it began."`
	Until  *time.Time `json:"until,omitempty" doc:"Of a pause: when the agent resumes by itself. Of a stop: when the hub cancels live runs."`
	By     string     `json:"by" doc:"The participant that paused or stopped the agent."`
	Reason string     `json:"reason,omitempty" doc:"Why."`
}

// InForce reports whether a pause applies at a moment. A pause with an end no longer applies at that end.
func (h *Halt) InForce(now time.Time) bool {
	return h != nil && (h.Until == nil || h.Until.After(now))
}

// Action says what a command asks an agent to do.
type Action string

// The actions.
const (
	ActionStart       Action = "start"
	ActionStop        Action = "stop"
	ActionPause       Action = "pause"
	ActionResume      Action = "resume"
	ActionHealthCheck Action = "health_check"
)

// Actions returns all actions.
func Actions() []Action {
	return []Action{ActionStart, ActionStop, ActionPause, ActionResume, ActionHealthCheck}
}

// Command is the payload of a message of type command.
type Command struct {
	Action     Action            `json:"action" doc:"What to do."`
	Parameters CommandParameters `json:"parameters,omitzero" doc:"The parameters of the action."`
}

// CommandParameters are the parameters of an action.
type CommandParameters struct {
	Reason    string `json:"reason,omitempty" doc:"Why; shown with the agent's status."`
	TimeoutMS int64  `json:"timeout_ms,omitempty" doc:"stop: how long running work may take to end. pause: when to resume. health_check: how long to wait."`
}

const (
	stopTimeout   = 30 * time.Second // how long running work may take to end by itself
	healthTimeout = 30 * time.Second
	maxTimeout    = 30 * 24 * time.Hour
)

// Timeout returns the time limit of a command, or else the default of its action. 0 means no limit.
func (c Command) Timeout() time.Duration {
	if c.Parameters.TimeoutMS > 0 {
		return time.Duration(c.Parameters.TimeoutMS) * time.Millisecond
	}
	switch c.Action {
	case ActionStop:
		return stopTimeout
	case ActionHealthCheck:
		return healthTimeout
	default:
		return 0
	}
}

// Check returns what is wrong with a command, or nil.
func (c Command) Check() error {
	if !slices.Contains(Actions(), c.Action) {
		return Errorf(BadInput, "unknown action %q", clip(string(c.Action))).Suggest("use start, stop, pause, resume or health_check")
	}
	if ms := c.Parameters.TimeoutMS; ms < 0 || ms > maxTimeout.Milliseconds() {
		return Errorf(BadInput, "timeout_ms is %d", ms).Suggest("use 1 to %d, or leave it out", maxTimeout.Milliseconds())
	}
	return CheckReason(c.Parameters.Reason)
}

// Health is the health that an agent reports about itself.
type Health struct {
	Health   string          `json:"health" doc:"The health that the agent reports: healthy, degraded or unhealthy."`
	Metrics  json.RawMessage `json:"metrics,omitempty" doc:"The metrics that the agent reports, as a JSON object."`
	UptimeMS int64           `json:"uptime_ms,omitempty" doc:"Milliseconds since the agent was started."`
	At       time.Time       `json:"at" doc:"When the agent reported it."`
}

// The words for an agent's health.
const (
	Healthy   = "healthy"
	Degraded  = "degraded"
	Unhealthy = "unhealthy"
)

// Check returns the report with compact metrics, or an error that says what is wrong.
func (h Health) Check(limits Limits) (Health, error) {
	if !slices.Contains([]string{Healthy, Degraded, Unhealthy}, h.Health) {
		return h, Errorf(BadInput, "unknown health %q", clip(h.Health)).Suggest("use healthy, degraded or unhealthy")
	}
	if h.UptimeMS < 0 {
		return h, Errorf(BadInput, "uptime_ms is %d", h.UptimeMS).Suggest("use milliseconds since the start, or leave it out")
	}
	var err error
	h.Metrics, err = CompactObject("metrics", h.Metrics, limits)
	return h, err
}

// Answers says which agents answer in a conversation when one message wakes several of them.
type Answers string

// The ways to answer.
const (
	AnswersParallel   Answers = "parallel"    // all agents answer, at once
	AnswersRoundRobin Answers = "round-robin" // the agents answer one after the other, in the order of mention
	AnswersFirst      Answers = "first"       // all agents start, and the first answer counts
)

// Check returns E003 if the word is not one of the ways to answer.
func (a Answers) Check() error {
	switch a {
	case "", AnswersParallel, AnswersRoundRobin, AnswersFirst:
		return nil
	default:
		return Errorf(BadInput, "%q is not an order of answers", clip(string(a))).Suggest("use parallel, round-robin or first")
	}
}

// Stored returns the way to answer as the store keeps it: parallel, the default, is stored as an empty word.
func (a Answers) Stored() Answers {
	if a == AnswersParallel {
		return ""
	}
	return a
}
