package hub_test

import (
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// requestTo returns the request for an approval that an approver got.
func (w *fixture) requestTo(decider, agent string) parley.Message {
	w.T.Helper()
	list := w.MessagesFrom(w.DMBetween(agent, decider), parley.System)
	if len(list) != 1 {
		w.T.Fatalf("%s got %d requests", decider, len(list))
	}
	return list[0]
}

// assertDecisionWanted checks that a reply was refused because the approver has to decide.
func (w *fixture) assertDecisionWanted(err error, request parley.Message, a parley.Approval) {
	w.T.Helper()
	e := parley.AsError(err)
	if e == nil {
		w.T.Fatalf("the reply was stored")
	}
	same(w.T, "refused", []string{string(e.Code), e.Message, e.Suggestion}, []string{
		"E003", request.ShortName() + " asks for a decision; a reply does not decide it",
		"decide " + a.ShortName() + ": parley approval approve " + a.ShortName() + ", or parley approval deny " + a.ShortName(),
	})
}

// TestAReplyDecidesNothing: a reply of an approver to the request is refused, and the request stays open, until somebody decides.
func TestAReplyDecidesNothing(t *testing.T) {
	for name, c := range map[string]struct {
		decider string
		caller  func(w *fixture) hub.Caller
	}{
		"an owner":          {parley.Owner, func(*fixture) hub.Caller { return user }},
		"an attached agent": {"boss", func(w *fixture) hub.Caller { w.TakeAs("boss", parley.Take{}); return as("boss") }},
	} {
		t.Run(name, func(t *testing.T) {
			w := newHub(t)
			w.AddScriptAgents("senior")
			w.AddPollingAgents("boss")
			manager := ""
			if c.decider != parley.Owner {
				manager = c.decider
			}
			w.addNamedAgent("intern", "InternBot", func(p *parley.Profile) { p.Mode, p.Manager = parley.ModeSupervised, manager })
			a := w.HeldApproval(w.TryContact(as("intern"), notifyContact("senior", "deploy")))
			request := w.requestTo(c.decider, "intern")
			caller := c.caller(w)
			w.assertDecisionWanted(w.tryReply(caller, request.ShortName(), "approve"), request, a)
			_, err := w.Post(ctx, caller, parley.Draft{Conversation: request.Conversation, InReplyTo: request.ID, To: "intern", Content: text("approve")})
			w.assertDecisionWanted(err, request, a)
			if d := w.DeliveryOf(request.ID, c.decider); d.State.Settled() {
				t.Errorf("the request is %s", d.State)
			}
			if err := w.tryReply(as("intern"), request.ID, "please"); parley.CodeOf(err) == parley.BadInput { // it cannot decide
				t.Errorf("the requester: %v", err)
			}
			w.PostAs(c.decider, parley.Draft{Conversation: request.Conversation, Content: text("which version?")})
			w.DecideAs(c.decider, a.ID, parley.Decision{Approve: true})
			w.NoError(w.tryReply(caller, request.ID, "done"))
			w.AssertConsistent()
		})
	}
}

// TestTheAnswerOfARunToARequestIsKept: a run of an approver gets the refusal for its own reply, but its final text is posted.
func TestTheAnswerOfARunToARequestIsKept(t *testing.T) {
	w := newHub(t)
	w.addInternOffice()
	a := w.HeldApproval(w.TryContact(as("intern"), notifyContact("senior", "deploy")))
	request := w.requestTo("boss", "intern")
	run := w.StartRun("boss")
	_, err := w.Post(ctx, run.Caller(), parley.Draft{InReplyTo: request.ID, Content: text("approved")})
	w.assertDecisionWanted(err, request, a)
	w.EndRun(run, "I do not know what to do.")
	same(t, "said", len(w.MessagesFrom(request.Conversation, "boss")), 1)
	same(t, "state", w.ApprovalByID(a.ID).State, parley.ApprovalPending)
	w.AssertConsistent()
}

// TestADocumentThatRepliesToARequestIsRefusedInTheTree: the approver in a directory tree learns it in the format of the tree, and
// that an owner must decide instead.
func TestADocumentThatRepliesToARequestIsRefusedInTheTree(t *testing.T) {
	t.Parallel()
	inEachTree(t, func(t *testing.T, b *bridged) {
		b.EditAgent("ned", func(a *parley.Agent) { a.Mode, a.Manager = parley.ModeSupervised, "ana" })
		b.AddScriptAgents("senior")
		a := b.HeldApproval(b.TryContact(as("ned"), notifyContact("senior", "deploy")))
		if b.view.Layout == parley.LayoutAgentOS {
			same(t, "told", len(b.tells()), 0) // a request is in a direct conversation, which has no documents there
			return
		}
		reply := b.document("ana", "ned", "approve")
		reply.ReplyTo = b.tells()[0].Name
		hint := b.arriveRefused(reply, parley.BadInput)
		same(t, "hint", hint, "ask an owner of this hub to decide "+a.ShortName()+"; nobody can decide over a bridge")
		list := b.tells()
		last := list[len(list)-1]
		same(t, "it answers", last.ReplyTo, reply.Name)
		if said := last.Message.Content.Text; !strings.Contains(said, "asks for a decision; a reply does not decide it") {
			t.Errorf("the tree is told %q", said)
		}
		same(t, "state", b.ApprovalByID(a.ID).State, parley.ApprovalPending)
	})
}

// TestTheAnswerOfAWebhookToARequestIsKept: the reply token of a run is good for one answer, which is its final text.
func TestTheAnswerOfAWebhookToARequestIsKept(t *testing.T) {
	w := newHub(t)
	w.addInternOffice()
	a := w.HeldApproval(w.TryContact(as("intern"), notifyContact("senior", "deploy")))
	request := w.requestTo("boss", "intern")
	run := resultOf[*hub.Assignment](w)(w.NextRun(ctx, "boss", hub.RunOptions{Plan: func(parley.Agent) hub.RunPlan {
		return hub.RunPlan{Token: parley.TokenReply}
	}}))
	caller := resultOf[hub.Caller](w)(w.IdentifyAt(ctx, run.Token, hub.Connection{TCP: true}))
	w.NoError(w.tryReply(caller, request.ID, "I do not know."))
	same(t, "said", len(w.MessagesFrom(request.Conversation, "boss")), 1)
	same(t, "state", w.ApprovalByID(a.ID).State, parley.ApprovalPending)
}
