package hubtest

import (
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// Node is the process of the hub that runs belong to.
const Node = "node-1"

func patiently(parley.Agent) hub.RunPlan {
	return hub.RunPlan{Deadline: 10 * time.Minute, Token: parley.TokenRun}
}

// NextRunOf makes an agent's next run. It returns nil if no message has woken the agent.
func (f *Fixture) NextRunOf(agent string) *hub.Assignment {
	f.T.Helper()
	return Result[*hub.Assignment](f)(f.NextRun(ctx, agent, hub.RunOptions{Node: Node, Plan: patiently}))
}

// StartRun makes and begins the next run of an agent. It ends the test if no message has woken the agent.
func (f *Fixture) StartRun(agent string) *hub.Assignment {
	f.T.Helper()
	a := f.NextRunOf(agent)
	if a == nil {
		f.T.Fatalf("%s starts no run", agent)
	}
	Result[parley.RunContext](f)(f.RunContext(ctx, a.Run.ID))
	f.NoError(f.BeginRun(ctx, a.Run.ID, parley.Process{}))
	return a
}

// WakeAndStartRun sends an agent a DM of the owner, and starts the run that it wakes.
func (f *Fixture) WakeAndStartRun(agent string) *hub.Assignment {
	f.T.Helper()
	f.SendDM("user", agent, "work")
	return f.StartRun(agent)
}

// EndRun finishes a run with a text.
func (f *Fixture) EndRun(a *hub.Assignment, text string) parley.Run {
	f.T.Helper()
	return Result[parley.Run](f)(f.FinishRun(ctx, a.Run.ID, parley.Result{Text: text}, nil))
}

// EndRunWith finishes a run with a result.
func (f *Fixture) EndRunWith(a *hub.Assignment, r parley.Result) parley.Run {
	f.T.Helper()
	return Result[parley.Run](f)(f.FinishRun(ctx, a.Run.ID, r, nil))
}

// FailRunWith ends a run with a failure.
func (f *Fixture) FailRunWith(a *hub.Assignment, failure parley.Failure) parley.Run {
	f.T.Helper()
	runErr := &parley.RunError{Trouble: parley.Trouble{Failure: failure, Reason: "it broke"}, Hint: "mend it"}
	return Result[parley.Run](f)(f.FailRun(ctx, a.Run.ID, runErr, parley.Result{}, nil))
}

// RunAndAnswer starts the next run of an agent and ends it with a text. It returns the answer.
func (f *Fixture) RunAndAnswer(agent, text string) parley.Shown {
	f.T.Helper()
	r := f.EndRun(f.StartRun(agent), text)
	if r.Answer == "" {
		f.T.Fatalf("the run of %s has no answer", agent)
	}
	return Result[parley.Shown](f)(f.Message(ctx, Owner, r.Answer))
}

// PostFromRun posts a draft as the program of a run.
func (f *Fixture) PostFromRun(a *hub.Assignment, d parley.Draft) parley.Receipt {
	f.T.Helper()
	return Result[parley.Receipt](f)(f.Post(ctx, a.Caller(), d))
}

// RunByID returns a run as the owner sees it.
func (f *Fixture) RunByID(id string) parley.RunView {
	f.T.Helper()
	return Result[parley.RunView](f)(f.Run(ctx, Owner, id))
}

// AssertIdle fails the test if a message has woken one of the agents.
func (f *Fixture) AssertIdle(agents ...string) {
	f.T.Helper()
	for _, agent := range agents {
		if a := f.NextRunOf(agent); a != nil {
			f.T.Errorf("%s was woken by %q", agent, TextsOf(a.Messages))
		}
	}
}

// WokenAgents returns the agents that a message has woken.
func (f *Fixture) WokenAgents(agents ...string) []string {
	f.T.Helper()
	return slices.DeleteFunc(slices.Clone(agents), func(agent string) bool { return f.NextRunOf(agent) == nil })
}
