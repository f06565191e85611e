package runs

import (
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// RunOptions are what a dispatcher says of the runs it starts.
type RunOptions struct {
	Node string                     // this process of the hub
	Plan func(parley.Agent) RunPlan // of a run of an agent; may be called for one that does not start

	AsksOnly bool // there is no room but for what answers an ask
}

// RunPlan is what is known of a run before it starts.
type RunPlan struct {
	Deadline time.Duration    // how long it may last; default: half an hour
	Token    parley.TokenKind // of the credential that its processes get; none: it has no process, and needs none
	Instant  bool             // it starts at once: running, and its triggers seen, with the same update, without BeginRun
}

func (o RunOptions) ForRun(a parley.Agent) RunPlan {
	p := RunPlan{Token: parley.TokenRun}
	if o.Plan != nil {
		p = o.Plan(a)
	}
	unit.SetDefault(&p.Deadline, defaultDeadline)
	return p
}

// Assignment is a run that was given to a dispatcher, with what it needs to start it.
type Assignment struct {
	Run        parley.Run
	Agent      parley.Agent
	Token      string            // the secret of the run's token, good while it lives; none: its plan wants none
	Kind       parley.TokenKind  // of the token
	Messages   []parley.Message  // the triggers, by seq
	Deliveries []parley.Delivery // of each
}

const (
	defaultDeadline = 30 * time.Minute
	// RunLease is how long what woke a run is leased to it each time the run is kept.
	RunLease = time.Minute
	// RunGrace is what a run gets after its deadline to end, and to say so.
	RunGrace  = time.Minute
	SourceRun = "run"
)

// RunScopes are what the token of a run may be used for at most.
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

// Caller is the run as its runtime calls the hub, within the hub's own process.
func (a Assignment) Caller() unit.Caller {
	until := a.Run.Deadline.Add(RunGrace)
	c := unit.Caller{Agent: a.Run.Agent, Source: SourceRun, Scopes: RunScopes(parley.TokenRun), Until: &until, Run: a.Run.ID, AgentUUID: a.Agent.UUID}
	if a.Token != "" {
		c.Token, c.Kind = a.Run.ID, parley.TokenRun
	}
	return c
}
