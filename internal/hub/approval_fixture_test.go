package hub_test

import (
	"errors"
	"slices"

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

// HeldApproval requires that a call is held, and returns what it waits for.
func (w *fixture) HeldApproval(err error) parley.Approval {
	w.T.Helper()
	held, ok := errors.AsType[*parley.Held](err)
	if !ok {
		w.T.Fatalf("it is not held: %v", err)
	}
	return held.Approval
}

// AssertCode requires an error of a code.
func (w *fixture) AssertCode(code parley.Code, err error) {
	w.T.Helper()
	if parley.CodeOf(err) != code {
		w.T.Fatalf("the error is %v, want %s", err, code)
	}
}

func asks(agent, message string) parley.Contact {
	return parley.Contact{Pattern: parley.PatternAsk, Agent: agent, Message: message}
}

func notifies(agent, message string) parley.Contact {
	return parley.Contact{Pattern: parley.PatternNotify, Agent: agent, Message: message}
}

func (w *fixture) TryContact(caller hub.Caller, c parley.Contact) error {
	_, err := w.Contact(ctx, caller, c)
	return err
}

func (w *fixture) DecideAs(who, approval string, d parley.Decision) parley.Approval {
	w.T.Helper()
	return get[parley.Approval](w)(w.Decide(ctx, as(who), approval, d))
}

func (w *fixture) AddPermission(agent, target string, effect parley.Effect, change ...func(*parley.Permission)) {
	w.T.Helper()
	p := parley.Permission{Agent: agent, Target: target, Effect: effect}
	for _, f := range change {
		f(&p)
	}
	_, err := w.Permit(ctx, user, p)
	w.NoError(err)
}

func withApproval(p *parley.Permission) { p.RequiresApproval = true }
func withPerson(p *parley.Permission)   { p.RequiresHuman = true }

// MessagesFrom are the messages of a conversation from somebody, oldest first.
func (w *fixture) MessagesFrom(conversation, from string) (list []parley.Message) {
	w.T.Helper()
	for _, m := range get[[]parley.Message](w)(w.History(ctx, user, conversation, parley.Page{Limit: 1000})) {
		if m.From == from {
			list = append(list, m)
		}
	}
	return list
}

// DMBetween is the conversation of two.
func (w *fixture) DMBetween(a, b string) string {
	w.T.Helper()
	list, _, err := w.Conversations(ctx, user, parley.ListFilter{All: true, Limit: 500})
	w.NoError(err)
	for _, c := range list {
		if c.Kind == parley.DM && slices.Contains(c.Members, a) && slices.Contains(c.Members, b) {
			return c.ID
		}
	}
	w.T.Fatalf("%s and %s have no DM", a, b)
	return ""
}

// startRunInDM starts a run of the intern that the user has woken, in their DM.
func (w *fixture) startRunInDM(agent string) (*hub.Assignment, string) {
	w.T.Helper()
	m := w.PostAs(parley.Owner, parley.Draft{Direct: []string{agent}, Content: text("do it")}).Message
	return w.StartRun(agent), m.Conversation
}

func (w *fixture) ApprovalByID(id string) parley.Approval {
	w.T.Helper()
	return get[parley.Approval](w)(w.Approval(ctx, user, id))
}
