package hub_test

import (
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// answering returns a hub with a supervised agent that polls its inbox, and with senior, which writes to it.
func answering(t *testing.T) *fixture {
	t.Helper()
	w := newHub(t)
	w.AddScriptAgents("senior")
	_, err := w.AddAgent(ctx, user, parley.NewAgent{ID: "intern", Profile: parley.Profile{Runtime: parley.RuntimeAttached, Mode: parley.ModeSupervised}})
	w.NoError(err)
	return w
}

// tryReply has the caller answer a message.
func (w *fixture) tryReply(caller hub.Caller, message, words string) error {
	_, err := w.Post(ctx, caller, parley.Draft{InReplyTo: message, Content: text(words)})
	return err
}

// TestASupervisedAgentAnswersAMessageOnce: the first reply to a message that the agent has pending, has taken or has
// acknowledged is its answer. Every later reply is a contact of its own, and is held.
func TestASupervisedAgentAnswersAMessageOnce(t *testing.T) {
	for name, before := range map[string]func(w *fixture, message string){
		"pending":      func(*fixture, string) {},
		"taken":        func(w *fixture, _ string) { w.TakeAs("intern", parley.Take{}) },
		"acknowledged": func(w *fixture, message string) { w.TakeAs("intern", parley.Take{}); w.AckAs("intern", message) },
	} {
		t.Run(name, func(t *testing.T) {
			w := answering(t)
			asked := w.SendDM("senior", "intern", "well?").Message
			before(w, asked.ID)
			w.Clock.Advance(time.Hour)
			w.NoError(w.tryReply(as("intern"), asked.ID, "so"))
			a := w.HeldApproval(w.tryReply(as("intern"), asked.ID, "and another thing"))
			if a.Rule != "mode supervised" || a.Target != "senior" {
				t.Errorf("held by %+v", a)
			}
			w.DecideAs(parley.Owner, a.ID, parley.Decision{Approve: true})
			if said := w.MessagesFrom(asked.Conversation, "intern"); len(said) != 2 {
				t.Errorf("intern has said %d messages, want its answer and what was approved", len(said))
			}
			again := w.SendDM("senior", "intern", "and now?").Message
			w.NoError(w.tryReply(as("intern"), again.ID, "fine"))
		})
	}
}

// TestAReplyToADeliveryThatEndedIsHeld: a message that failed, expired, was evicted or is a dead letter triggers nothing.
func TestAReplyToADeliveryThatEndedIsHeld(t *testing.T) {
	ends := map[parley.DeliveryState]func(w *fixture) (message string){
		parley.DeliveryFailed: func(w *fixture) string {
			m := w.SendDM("senior", "intern", "well?").Message
			w.NackTaken("intern", w.TakeAs("intern", parley.Take{}), parley.FailureFinal)
			return m.ID
		},
		parley.DeliveryDead: func(w *fixture) string {
			w.EditAgent("intern", func(a *parley.Agent) { a.Attempts = 1 })
			m := w.SendDM("senior", "intern", "well?").Message
			w.NackTaken("intern", w.TakeAs("intern", parley.Take{}), parley.FailureBusy)
			return m.ID
		},
		parley.DeliveryExpired: func(w *fixture) string {
			m := w.PostAs("senior", parley.Draft{Direct: []string{"intern"}, TTL: 60, Content: text("well?")}).Message
			w.Clock.Advance(time.Hour)
			w.SweepDueDeliveries()
			return m.ID
		},
		parley.DeliveryEvicted: func(w *fixture) string {
			w.SetInboxDepth("intern", 1, parley.OverflowEvict)
			m := w.SendDM("senior", "intern", "well?").Message
			w.SendDM("senior", "intern", "another")
			return m.ID
		},
	}
	for state, end := range ends {
		t.Run(string(state), func(t *testing.T) {
			w := answering(t)
			message := end(w)
			if d := w.DeliveryOf(message, "intern"); d.State != state {
				t.Fatalf("the delivery is %s", d.State)
			}
			w.HeldApproval(w.tryReply(as("intern"), message, "so"))
		})
	}
}

// TestADenyRuleHoldsForASecondReply: whoever may ask gets an answer. More than that is a contact.
func TestADenyRuleHoldsForASecondReply(t *testing.T) {
	w := newHub(t)
	w.AddAgents("arya", "gendry")
	w.AddPermission("arya", "gendry", parley.EffectDeny)
	asked := w.SendDM("gendry", "arya", "well?").Message
	w.NoError(w.tryReply(as("arya"), asked.ID, "so"))
	w.AssertCode(parley.NotPermitted, w.tryReply(as("arya"), asked.ID, "and another thing"))
}

// TestARunRepliesToItsTriggerAsOftenAsItLikes: the trigger lasts as long as the run, and ends with it.
func TestARunRepliesToItsTriggerAsOftenAsItLikes(t *testing.T) {
	w := newHub(t)
	w.AddScriptAgents("senior")
	w.addNamedAgent("intern", "InternBot", func(p *parley.Profile) { p.Mode = parley.ModeSupervised })
	w.AddPermission("intern", "senior", parley.EffectDeny)
	asked := w.SendDM("senior", "intern", "well?").Message
	run := w.StartRun("intern")
	w.NoError(w.tryReply(run.Caller(), asked.ID, "one"))
	w.NoError(w.tryReply(run.Caller(), asked.ID, "two"))
	w.EndRun(run, "three")
	w.AssertCode(parley.NotPermitted, w.tryReply(as("intern"), asked.ID, "four"))
	w.NoError(w.Unpermit(ctx, user, "intern", "senior", ""))
	w.HeldApproval(w.tryReply(as("intern"), asked.ID, "four"))
	next, _ := w.startRunInDM("intern")
	w.HeldApproval(w.tryReply(next.Caller(), asked.ID, "four"))
}
