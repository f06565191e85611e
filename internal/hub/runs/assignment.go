package runs

import (
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// RunOptions are the properties of the runs that a dispatcher starts.
type RunOptions struct {
	Node string                     // the name of this process of the hub
	Plan func(parley.Agent) RunPlan // the plan of a run of an agent; also called for runs that do not start

	AsksOnly bool // the dispatcher has slots only for runs that answer an ask
}

// RunPlan is what the dispatcher knows of a run before it starts.
type RunPlan struct {
	Deadline time.Duration    // how long the run may last; default: half an hour
	Token    parley.TokenKind // the kind of the run's token; empty: the run has no process and needs no token
	Instant  bool             // the run begins with the update that assigns it, without a call of BeginRun
}

// ForRun returns the plan of a run of an agent, with defaults.
func (o RunOptions) ForRun(a parley.Agent) RunPlan {
	p := RunPlan{Token: parley.TokenRun}
	if o.Plan != nil {
		p = o.Plan(a)
	}
	unit.SetDefault(&p.Deadline, defaultDeadline)
	return p
}

// Assignment is a run for a dispatcher to start, with everything that the start needs.
type Assignment struct {
	Run        parley.Run
	Agent      parley.Agent
	Token      string // the secret of the run's token, which ends with the run; empty: no token
	Kind       parley.TokenKind
	Messages   []parley.Message  // the triggers, by seq
	Deliveries []parley.Delivery // of each
}

const (
	defaultDeadline = 30 * time.Minute
	// RunLease is for how long each sign of life of a run leases the run its triggers.
	RunLease = time.Minute
	// RunGrace is how long a run may take after its deadline to end and to report its end.
	RunGrace = time.Minute
	// SourceRun is the source of messages that runs post.
	SourceRun = "run"
)

// RunScopes returns the most scopes that the token of a run may have.
func RunScopes(k parley.TokenKind) parley.Scopes {
	switch k {
	case parley.TokenReply:
		return parley.Scopes{parley.ScopeSend}
	case parley.TokenBearer:
		return parley.Scopes{parley.ScopeRead, parley.ScopeSend}
	default:
		return parley.Scopes{parley.ScopeRead, parley.ScopeSend, parley.ScopeDecide}
	}
}

// Caller returns the caller for calls that a runtime inside the hub's process makes for the run.
func (a Assignment) Caller() unit.Caller {
	until := a.Run.Deadline.Add(RunGrace)
	c := unit.Caller{Agent: a.Run.Agent, Source: SourceRun, Scopes: RunScopes(parley.TokenRun), Until: &until, Run: a.Run.ID, AgentUUID: a.Agent.UUID}
	if a.Token != "" {
		c.Token, c.Kind = a.Run.ID, parley.TokenRun
	}
	return c
}
