package hub_test

import (
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// contactsWith returns every way to give work to senior.
func contactsWith(w *fixture, caller hub.Caller) map[string]error {
	contact := func(c parley.Contact) error {
		c.Agent, c.Message = "senior", "deploy B"
		return w.TryContact(caller, c)
	}
	_, document := w.Post(ctx, caller, parley.Draft{Direct: []string{"senior"}, Type: parley.TypeTask, Content: text("deploy B")})
	return map[string]error{
		"ask":      contact(parley.Contact{Pattern: parley.PatternAsk, Wait: time.Millisecond}),
		"delegate": contact(parley.Contact{Pattern: parley.PatternDelegate}),
		"notify":   contact(parley.Contact{Pattern: parley.PatternNotify}),
		"session":  contact(parley.Contact{Pattern: parley.PatternAsk, Session: "s-1", Wait: time.Millisecond}),
		"document": document,
	}
}

// assertContactsHeld checks that the mode holds every contact with senior, as "permit check" says, but no post in the conversation
// that woke the caller.
func (w *fixture) assertContactsHeld(caller hub.Caller, mode parley.Mode, conversation string) {
	w.T.Helper()
	for name, err := range contactsWith(w, caller) {
		if a := w.HeldApproval(err); a.Rule != "mode "+string(mode) || a.Target != "senior" {
			w.T.Errorf("%s is held by %+v", name, a)
		}
	}
	v := resultOf[parley.Verdict](w)(w.CheckPermission(ctx, user, "intern", "senior"))
	same(w.T, "permit check", []any{v.RequiresApproval, v.Rule}, []any{true, "mode " + string(mode)})
	_, err := w.Post(ctx, caller, parley.Draft{Conversation: conversation, Content: text("I am on it")})
	w.NoError(err)
}

// TestAContactIsHeldWhateverWokeTheCaller: a message of senior lets a supervised agent post in their DM. It lets it give no work to
// senior.
func TestAContactIsHeldWhateverWokeTheCaller(t *testing.T) {
	for _, mode := range []parley.Mode{parley.ModeSupervised, parley.ModeStrict} {
		t.Run(string(mode)+", attached", func(t *testing.T) {
			w := answering(t)
			w.EditAgent("intern", func(a *parley.Agent) { a.Mode = mode })
			told := w.PostAs("senior", parley.Draft{Direct: []string{"intern"}, Type: parley.TypeNotification, Content: text("A is deployed")}).Message
			w.TakeAs("intern", parley.Take{})
			w.assertContactsHeld(as("intern"), mode, told.Conversation)
		})
		t.Run(string(mode)+", run", func(t *testing.T) {
			w := newHub(t)
			w.AddScriptAgents("senior")
			w.addNamedAgent("intern", "InternBot", func(p *parley.Profile) { p.Mode = mode })
			told := w.SendDM("senior", "intern", "A is deployed").Message
			w.assertContactsHeld(w.StartRun("intern").Caller(), mode, told.Conversation)
		})
	}
}

// TestAContactWithTheManagerIsNeverHeld: the mode does not apply to the manager and to reports.
func TestAContactWithTheManagerIsNeverHeld(t *testing.T) {
	for name, manages := range map[string][2]string{"manager": {"intern", "senior"}, "report": {"senior", "intern"}} {
		t.Run(name, func(t *testing.T) {
			w := answering(t)
			w.EditAgent(manages[0], func(a *parley.Agent) { a.Manager = manages[1] })
			w.NoError(w.TryContact(as("intern"), parley.Contact{Pattern: parley.PatternDelegate, Agent: "senior", Message: "deploy B"}))
			w.SendDM("senior", "intern", "A is deployed")
			w.TakeAs("intern", parley.Take{})
			w.NoError(w.TryContact(as("intern"), notifyContact("senior", "deploying B")))
		})
	}
}
