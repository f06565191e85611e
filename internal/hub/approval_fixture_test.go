package hub_test

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// addInternOffice adds S4's example: an intern, supervised, whom boss manages, and a senior. All are run by the hub.
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

// startRunInDM starts a run of the intern that the user has woken, in their DM.
func (w *fixture) startRunInDM(agent string) (*hub.Assignment, string) {
	w.T.Helper()
	m := w.PostAs(parley.Owner, parley.Draft{Direct: []string{agent}, Content: text("do it")}).Message
	return w.StartRun(agent), m.Conversation
}
