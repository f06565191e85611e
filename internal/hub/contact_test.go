package hub_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// standings are the statuses of an agent. Each function brings an idle agent into the status.
var standings = map[string]func(w *fixture, id string){
	"idle":    func(*fixture, string) {},
	"working": func(w *fixture, id string) { w.WakeAndStartRun(id) },
	"sleeping": func(w *fixture, id string) {
		resultOf[parley.Agent](w)(w.Sleep(ctx, user, id, began.Add(time.Hour)))
	},
	"paused": func(w *fixture, id string) {
		resultOf[parley.Receipt](w)(w.Command(ctx, user, id, parley.Command{Action: parley.ActionPause}))
	},
	"stopped": func(w *fixture, id string) { w.stopAgent(id, 0) },
	"away": func(w *fixture, id string) {
		w.EditAgent(id, func(a *parley.Agent) { a.Runtime = parley.RuntimeAttached })
	},
	"over budget": func(w *fixture, id string) {
		w.EditAgent(id, func(a *parley.Agent) { a.Budget.RunsPerHour = 1 })
		w.EndRun(w.WakeAndStartRun(id), "")
	},
}

// TestStatusDecidesWhichContactsAreTaken is the table of statuses and patterns.
func TestStatusDecidesWhichContactsAreTaken(t *testing.T) {
	t.Parallel()
	offline := "E002 Error: B is offline and cannot be asked. Use 'notify' to leave a message."
	waits, queued := "", "Delegated to B (subtask task-1). You'll receive the result automatically when B finishes."
	later := " and cannot be asked. Use 'delegate' to have it work on this later."
	for name, want := range map[string][2]string{
		"idle":        {waits, queued},
		"working":     {waits, queued},
		"sleeping":    {waits, queued},
		"paused":      {"E002 Error: B is paused" + later, queued},
		"stopped":     {offline, "E002 Error: B is offline and cannot take work. Use 'notify' to leave a message."},
		"away":        {offline, queued},
		"over budget": {"E002 Error: B is over budget (1 of 1 runs in an hour)" + later, queued},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			named(w, parley.RuntimeScript, "A", "B")
			standings[name](w, "b")
			note := resultOf[parley.Contacted](w)(w.Contact(ctx, as("a"), parley.Contact{Pattern: parley.PatternNotify, Agent: "B", Message: "fyi"}))
			same(t, "notify", []any{note.Text, note.Outcome}, []any{"Notification sent to B.", parley.ContactNotified})
			m := w.NewestMessage()
			same(t, "the note", []any{m.Content.Text, m.Type, wakesByRecipient([]parley.Delivery{w.DeliveryOf(m.ID, "b")})},
				[]any{"[Agent Notification from A]\n\nfyi", parley.TypeNotification, map[string]bool{"b": false}})
			a := w.beginAsk(as("a"), "b", "well?")
			if want[0] == waits {
				a.assertWaiting()
				same(t, "the ask", textsOf(w.StartRun("b").Messages), []string{a.request.Content.Text})
			} else {
				same(t, "ask", a.resultText(), want[0])
			}
			d := w.beginContact(as("a"), parley.Contact{Pattern: parley.PatternDelegate, Agent: "b", Message: "do it"})
			same(t, "delegate", d.resultText(), want[1])
		})
	}
}

func TestContactRefuses(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("arya", "bran")
	contact := func(c parley.Contact) func() error {
		if c.Message == "" {
			c.Message = "hello"
		}
		return func() error { return errorOf(w.Contact(ctx, as("arya"), c)) }
	}
	due := began.Add(time.Hour)
	past := began.Add(-time.Hour)
	w.assertRefusals(t, []refusal{
		{"an unknown action", contact(parley.Contact{Pattern: "shout", Agent: "bran"}), refusalError(parley.BadInput, "", `unknown action "shout"`, "use ask, delegate or notify")},
		{"nobody", contact(parley.Contact{Pattern: parley.PatternAsk}), refusalError(parley.BadInput, "", "no recipient is named", "name an agent, or a person")},
		{"a stranger", contact(parley.Contact{Pattern: parley.PatternAsk, Agent: "brann"}), notFoundError("agent", "brann", "did you mean bran?")},
		{"nothing", contact(parley.Contact{Pattern: parley.PatternAsk, Agent: "bran", Message: " "}), refusalError(parley.BadInput, "", "the message is empty", "write the question, the work or the notification")},
		{"oneself", contact(parley.Contact{Pattern: parley.PatternAsk, Agent: "arya"}), refusalError(parley.BadInput, "", "arya cannot contact itself", "name another participant")},
		{"the hub", contact(parley.Contact{Pattern: parley.PatternNotify, Agent: "parley"}), refusalError(parley.BadInput, "", "parley cannot receive messages", "name an agent or a person")},
		{"a priority", contact(parley.Contact{Pattern: parley.PatternAsk, Agent: "bran", Priority: level(8)}), refusalError(parley.BadInput, "", "only delegate can have a priority", "leave priority out, or use delegate")},
		{"other tasks", contact(parley.Contact{Pattern: parley.PatternNotify, Agent: "bran", After: []string{"task-1"}}), refusalError(parley.BadInput, "", "only delegate can wait for other tasks", "leave after out, or use delegate")},
		{"a deadline of a note", contact(parley.Contact{Pattern: parley.PatternNotify, Agent: "bran", Deadline: &due}), refusalError(parley.BadInput, "", "a notification gets no answer", "leave deadline and wait out, or use ask")},
		{"a deadline that has passed", contact(parley.Contact{Pattern: parley.PatternAsk, Agent: "bran", Deadline: &past}), refusalError(parley.BadInput, "", "the deadline 2026-03-01T08:00:00Z has passed", "use a time in the future, or leave the deadline out")},
		{"a negative wait", contact(parley.Contact{Pattern: parley.PatternAsk, Agent: "bran", Wait: -1}), refusalError(parley.BadInput, "", "the wait is -1ns", "wait 0s to 24h0m0s")},
	})
}

// A chain of automatic messages ends at a contact too, and a person is told of it once.
func TestContactAfterTooManyHops(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Loops = hub.Loops{Hops: 2} })
	w.AddScriptAgents("a", "b", "c")
	by := w.WakeAndStartRun("a").Caller()
	for _, next := range []string{"b", "c"} {
		w.beginAsk(by, next, "well?").assertWaiting()
		by = w.StartRun(next).Caller()
	}
	for range 2 {
		for _, how := range []parley.Pattern{parley.PatternAsk, parley.PatternDelegate, parley.PatternNotify} {
			err := errorOf(w.Contact(ctx, by, parley.Contact{Pattern: how, Agent: "a", Message: "and so on"}))
			wantError(t, err, refusalError(parley.DependencyFailed, "", "Error: this call follows 3 automatic messages in a row, and the limit is 2",
				"ask a person to continue"))
		}
	}
	same(t, "told", textsOf(w.HubMessagesTo("user")), []string{
		"c could not contact another agent: this call follows 3 automatic messages in a row, and the limit is 2. " +
			"Read these messages, and continue the work yourself.",
	})
}

// A contact counts as one call, however long it takes.
func TestContactIsOneCall(t *testing.T) {
	t.Parallel()
	w := newHub(t, withShortAsks, func(w *fixture) { w.Config.Rate = hub.Rate{PerSecond: 1, Burst: 2} })
	w.AddScriptAgents("a", "b")
	for i := range 2 {
		same(t, fmt.Sprint(i), w.beginAsk(as("a"), "b", "well?").resultText()[:4], "E004")
	}
	same(t, "the third", parley.AsError(errorOf(w.Contact(ctx, as("a"), parley.Contact{Pattern: parley.PatternAsk, Agent: "b", Message: "?"}))).Reason, parley.RateLimited)
}
