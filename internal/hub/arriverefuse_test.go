package hub_test

import (
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// refusedTrees has a function for each layout that adds a tree. The agents ana and ben live in the tree.
var refusedTrees = map[parley.Layout]func(*fixture) *bridged{
	parley.LayoutAgentOS: joinChannelTree,
	parley.LayoutInbox:   joinInboxTree,
	parley.LayoutBlackboard: func(w *fixture) *bridged {
		w.T.Helper()
		return w.joinBridge(parley.NewBridge{Layout: parley.LayoutBlackboard, Agents: []string{"ana", "ben"}})
	},
}

// inEachTree runs a test in a tree of each layout.
func inEachTree(t *testing.T, run func(t *testing.T, b *bridged)) {
	t.Helper()
	for layout, join := range refusedTrees {
		t.Run(string(layout), func(t *testing.T) {
			w := newHub(t)
			w.AddScriptAgents("ned")
			run(t, join(w))
		})
	}
}

// tells returns the documents that the hub writes into the tree about refusals.
func (b *bridged) tells() []parley.Departure {
	b.T.Helper()
	return b.fixture.departuresOf(b.view.ID, "general")
}

// tellsOne requires that the hub writes exactly one document about the refusal, to ana.
func (b *bridged) tellsOne(a parley.Arrival, final bool, words ...string) {
	b.T.Helper()
	list := b.tells()
	if len(list) != 1 {
		b.T.Fatalf("%d documents tell of the refusal: %q", len(list), wordsOf(list))
	}
	d := list[0]
	same(b.T, "from, to", []string{d.Message.From, d.Message.To}, []string{parley.System, "ana"})
	same(b.T, "type", d.Message.Type, parley.TypeError)
	same(b.T, "final", d.Final, final)
	same(b.T, "it answers", d.ReplyTo, a.Name)
	if b.view.Layout == parley.LayoutAgentOS {
		same(b.T, "channel", d.Channel, "general")
	} else {
		same(b.T, "inbox", d.Recipient, "ana")
	}
	for _, part := range words {
		if !strings.Contains(d.Message.Content.Text, part) {
			b.T.Errorf("it says %q, without %q", d.Message.Content.Text, part)
		}
	}
}

// TestASenderInATreeLearnsWhyTheHubRefuses: one document in its inbox, or in the channel, that names its own.
func TestASenderInATreeLearnsWhyTheHubRefuses(t *testing.T) {
	t.Parallel()
	inEachTree(t, func(t *testing.T, b *bridged) {
		a := b.document("ana", "ned", "hello")
		a.Draft = parley.Draft{Type: parley.TypeCommand, Payload: []byte(`{"action":"stop"}`)}
		for range 2 {
			b.arrive(a)
			b.tellsOne(a, true, a.Name, "the hub obeys no commands from a bridge")
		}
	})
}

func TestASenderInATreeLearnsWhyItsTierIsRefused(t *testing.T) {
	t.Parallel()
	inEachTree(t, func(t *testing.T, b *bridged) {
		b.EditAgent("ana", func(a *parley.Agent) { a.Tier = parley.TierWorker })
		a := b.document("ana", "ned", "hello")
		a.FromTier = parley.TierCommand
		b.arriveRefused(a, parley.NotPermitted)
		b.tellsOne(a, true, "tier")
	})
}

func TestASenderInATreeLearnsOfAnUnknownRecipientAndOfADenial(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	b := joinInboxTree(w)
	a := b.document("ana", "nobody", "hello")
	b.arriveRefused(a, parley.BadInput)
	b.tellsOne(a, true, "nobody")
	w.reportDepartures(b.view.ID, parley.DepartureSeen, b.tells()...)
	w.AddPermission("ana", "ned", parley.EffectDeny)
	a = b.document("ana", "ned", "hello")
	b.arriveRefused(a, parley.NotPermitted)
	b.tellsOne(a, true, "ned")
}

// TestASenderInATreeLearnsOfABridgeRefusal: a document that can be no message, of which the bridge could read id and sender.
func TestASenderInATreeLearnsOfABridgeRefusal(t *testing.T) {
	t.Parallel()
	inEachTree(t, func(t *testing.T, b *bridged) {
		a := b.document("ana", "ned", "")
		a.Digest, a.Draft = "d1", parley.Draft{}
		a.Refused = parley.Invalid("the document is no valid message", a.Name, []string{"Missing required field: timestamp", "priority: maximum is 10, got 11"})
		for range 2 {
			got := b.arrive(a)[0]
			if got.Message != "" {
				t.Fatalf("it became a message: %+v", got)
			}
			b.tellsOne(a, true, "Missing required field: timestamp", "priority: maximum is 10, got 11")
		}
		mended := a
		mended.Refused, mended.Draft = nil, parley.Draft{Type: parley.TypeChat, Content: text("hello")}
		b.arriveMessage(mended)
	})
}

// TestASenderInATreeLearnsOfARefusalBehindAFullInbox: the bridge takes a document that it has refused out of the inbox, whatever waits
// there.
func TestASenderInATreeLearnsOfARefusalBehindAFullInbox(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	w.SetInboxDepth("ned", 1, parley.OverflowEvict)
	b := joinInboxTree(w)
	b.arriveMessage(b.document("ana", "ned", "one"))
	waits, broken := b.document("ana", "ned", "two"), b.document("ana", "ned", "")
	broken.Digest, broken.Draft, broken.Refused = "d1", parley.Draft{}, parley.Errorf(parley.BadInput, "the document is too large")
	done := b.arrive(waits, broken)
	same(t, "the first", parley.CodeOf(orNil(done[0].Error)), parley.Unavailable)
	same(t, "the second", parley.CodeOf(orNil(done[1].Error)), parley.BadInput)
	b.tellsOne(broken, true, "too large")
}

// TestASenderInATreeLearnsOfARefusalInAnOldChannel: the name of the channel is one that no new channel may have.
func TestASenderInATreeLearnsOfARefusalInAnOldChannel(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("ned")
	b := joinChannelTree(w)
	c := w.CreateChannel("ned", "old", "ana")
	w.NoError(w.Store.Update(ctx, func(tx storage.Tx) error {
		there, err := tx.Conversations().Find(c.ID)
		if err != nil {
			return err
		}
		there.Name = "m7"
		return tx.Conversations().Put(there)
	}))
	for channel, told := range map[string]int{"m7": 1, "m8": 0} {
		a := b.document("ana", "ned", "")
		a.Channel, a.Path, a.Digest = channel, "channels/"+channel+"/x.json", "d1"
		a.Draft, a.Refused = parley.Draft{}, parley.Errorf(parley.BadInput, "the document is too large")
		b.arrive(a)
		list := w.departuresOf(b.view.ID, channel)
		same(t, channel, len(list), told)
		w.reportDepartures(b.view.ID, parley.DepartureWritten, list...)
	}
}

// TestUnlistedSendersAndErrorsGetNoRefusalMessage: a stranger cannot have the hub write into the inbox of another one, and no
// error causes another.
func TestUnlistedSendersAndErrorsGetNoRefusalMessage(t *testing.T) {
	t.Parallel()
	refused := parley.Errorf(parley.BadInput, "the document is too large")
	for what, change := range map[string]func(b *bridged, a *parley.Arrival){
		"a sender that the bridge does not list": func(_ *bridged, a *parley.Arrival) { a.From = "ned" },
		"a sender that there is not":             func(_ *bridged, a *parley.Arrival) { a.From = "nobody" },
		"what was there before":                  func(_ *bridged, a *parley.Arrival) { a.History = true },
		"an error": func(_ *bridged, a *parley.Arrival) {
			a.Draft = parley.Draft{Type: parley.TypeError, Content: text("it failed")}
		},
		"an incident": func(_ *bridged, a *parley.Arrival) {
			a.Draft = parley.Draft{Type: "incident", Content: text("it failed")}
		},
		"a failure": func(_ *bridged, a *parley.Arrival) {
			a.Draft = parley.Draft{Type: parley.TypeResult, Payload: []byte(`{"status":"failure"}`)}
		},
		"an answer to an error": func(b *bridged, a *parley.Arrival) {
			first := b.document("ana", "ned", "hello")
			first.Refused = refused
			b.arrive(first)
			list := b.tells()
			a.ReplyTo = list[0].Name
			b.fixture.reportDepartures(b.view.ID, parley.DepartureSeen, list...)
		},
	} {
		t.Run(what, func(t *testing.T) {
			inEachTree(t, func(t *testing.T, b *bridged) {
				a := b.document("ana", "ned", "hello")
				change(b, &a)
				before := len(b.all())
				a.Refused = refused
				b.arrive(a)
				if list := b.tells(); len(list) != 0 || len(b.all()) != before {
					t.Errorf("told: %q", wordsOf(list))
				}
			})
		})
	}
}

// TestASenderInATreeLearnsThatItsDocumentIsHeldAndDenied: first that it waits, which is no failure, then that it was denied.
func TestASenderInATreeLearnsThatItsDocumentIsHeldAndDenied(t *testing.T) {
	t.Parallel()
	inEachTree(t, func(t *testing.T, b *bridged) {
		b.EditAgent("ana", func(a *parley.Agent) { a.Mode = parley.ModeSupervised })
		a := b.document("ana", "ned", "hello")
		for range 2 {
			b.arrive(a)
			b.tellsOne(a, false, a.Name, "approval")
		}
		b.fixture.reportDepartures(b.view.ID, parley.DepartureSeen, b.tells()...)
		pending, err := b.Approvals(ctx, user, parley.ApprovalFilter{})
		b.NoError(err)
		b.DecideAs("user", pending[0].ID, parley.Decision{Note: "not today"})
		b.tellsOne(a, true, "Approval denied", "not today")
	})
}
