package hub_test

import (
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const node = "node-1"

// AddScriptAgents adds agents whose runs the hub starts.
func (w *fixture) AddScriptAgents(ids ...string) {
	w.T.Helper()
	w.AddAgentsWithRuntime(parley.RuntimeScript, ids...)
}

// AddPollingAgents adds agents that fetch for themselves.
func (w *fixture) AddPollingAgents(ids ...string) {
	w.T.Helper()
	w.AddAgentsWithRuntime(parley.RuntimeAttached, ids...)
}

func (w *fixture) AddAgentsWithRuntime(runtime string, ids ...string) {
	w.T.Helper()
	for _, id := range ids {
		_, err := w.AddAgent(ctx, user, parley.NewAgent{ID: id, Profile: parley.Profile{Runtime: runtime}})
		w.NoError(err)
	}
}

// NextRunOf is the agent's next run, or nil.
func (w *fixture) NextRunOf(agent string) *hub.Assignment {
	w.T.Helper()
	return get[*hub.Assignment](w)(w.NextRun(ctx, agent, hub.RunOptions{Node: node, Plan: patiently}))
}

func patiently(parley.Agent) hub.RunPlan {
	return hub.RunPlan{Deadline: 10 * time.Minute, Token: parley.TokenRun}
}

// ownPlace is where a process of a run calls from.
func ownPlace(a *hub.Assignment) hub.Place {
	return hub.Place{Socket: true, Agent: a.Agent.ID, Run: a.Run.ID}
}

func instantly(parley.Agent) hub.RunPlan { return hub.RunPlan{Instant: true, Token: parley.TokenRun} }

// StartRun is the agent's next run, which there must be, begun.
func (w *fixture) StartRun(agent string) *hub.Assignment {
	w.T.Helper()
	a := w.NextRunOf(agent)
	if a == nil {
		w.T.Fatalf("%s starts no run", agent)
	}
	get[parley.RunContext](w)(w.RunContext(ctx, a.Run.ID))
	w.NoError(w.BeginRun(ctx, a.Run.ID, parley.Process{}))
	return a
}

func (w *fixture) EndRun(a *hub.Assignment, text string) parley.Run {
	w.T.Helper()
	return get[parley.Run](w)(w.FinishRun(ctx, a.Run.ID, parley.Result{Text: text}, nil))
}

func (w *fixture) FailRunWith(a *hub.Assignment, f parley.Failure) parley.Run {
	w.T.Helper()
	why := &parley.RunError{Trouble: parley.Trouble{Failure: f, Reason: "it broke"}, Hint: "mend it"}
	return get[parley.Run](w)(w.FailRun(ctx, a.Run.ID, why, parley.Result{}, nil))
}

// RunAndAnswer has an agent do its next run and end it with a text. It returns the answer.
func (w *fixture) RunAndAnswer(agent, text string) parley.Shown {
	w.T.Helper()
	r := w.EndRun(w.StartRun(agent), text)
	if r.Answer == "" {
		w.T.Fatalf("the run of %s has no answer", agent)
	}
	return get[parley.Shown](w)(w.Message(ctx, user, r.Answer))
}

// AssertIdle requires that agents have nothing to start.
func (w *fixture) AssertIdle(agents ...string) {
	w.T.Helper()
	for _, agent := range agents {
		if a := w.NextRunOf(agent); a != nil {
			w.T.Errorf("%s was woken by %q", agent, textsOf(a.Messages))
		}
	}
}

// WokenAgents are those of some agents who have something to start.
func (w *fixture) WokenAgents(agents ...string) []string {
	w.T.Helper()
	return slices.DeleteFunc(slices.Clone(agents), func(agent string) bool { return w.NextRunOf(agent) == nil })
}

func (w *fixture) RunByID(id string) parley.RunView {
	w.T.Helper()
	return get[parley.RunView](w)(w.Run(ctx, user, id))
}

// PostFromRun is what a run says while it runs.
func (w *fixture) PostFromRun(a *hub.Assignment, d parley.Draft) parley.Receipt {
	w.T.Helper()
	return get[parley.Receipt](w)(w.Post(ctx, a.Caller(), d))
}
