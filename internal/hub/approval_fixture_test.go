package hub_test

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// addInternOffice adds three agents that the hub runs: intern, which is supervised and reports to boss; boss; and senior.
func (w *fixture) addInternOffice() {
	w.T.Helper()
	w.AddScriptAgents("boss", "senior")
	w.addNamedAgent("intern", "InternBot", func(p *parley.Profile) { p.Mode, p.Manager = parley.ModeSupervised, "boss" })
}

// addNamedAgent adds an agent that the hub runs, with a name of its own.
func (w *fixture) addNamedAgent(id, name string, change func(*parley.Profile)) {
	w.T.Helper()
	n := parley.NewAgent{ID: id, Name: name, Profile: parley.Profile{Runtime: parley.RuntimeScript}}
	change(&n.Profile)
	_, err := w.AddAgent(ctx, user, n)
	w.NoError(err)
}

func askContact(agent, message string) parley.Contact {
	return parley.Contact{Pattern: parley.PatternAsk, Agent: agent, Message: message}
}

func notifyContact(agent, message string) parley.Contact {
	return parley.Contact{Pattern: parley.PatternNotify, Agent: agent, Message: message}
}

func withApproval(p *parley.Permission) { p.RequiresApproval = true }
func withPerson(p *parley.Permission)   { p.RequiresHuman = true }

// startRunInDM posts a message of the owner to an agent, and starts the run that it wakes in their DM.
func (w *fixture) startRunInDM(agent string) (*hub.Assignment, string) {
	w.T.Helper()
	m := w.PostAs(parley.Owner, parley.Draft{Direct: []string{agent}, Content: text("do it")}).Message
	return w.StartRun(agent), m.Conversation
}
