package hub_test

import (
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// What lies in a tree for somebody who does not live there any more waits for it elsewhere, and is not said to be seen because its
// file goes.
func TestMailFollowsAnAgentThatMoves(t *testing.T) {
	t.Parallel()
	lives := func(w *fixture, agents ...string) {
		resultOf[parley.BridgeView](w)(w.ChangeBridge(ctx, user, "a", parley.BridgeChange{Agents: &agents}))
	}
	for name, c := range map[string]struct {
		move, back func(w *fixture)
		waits      func(w *fixture) int
	}{
		"run by the hub": {
			func(w *fixture) { w.EditAgent("ana", func(a *parley.Agent) { a.Runtime = parley.RuntimeScript }) },
			func(w *fixture) { w.EditAgent("ana", func(a *parley.Agent) { a.Runtime = parley.RuntimeBridge }) },
			func(w *fixture) int { return len(w.PendingTexts("ana")) },
		},
		"in another tree": {
			func(w *fixture) { lives(w, "ben") },
			func(w *fixture) { lives(w, "ben", "ana") },
			func(w *fixture) int { return len(w.departuresOf("b")) },
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.joinTree(parley.LayoutInbox, "a", "ana", "ben")
			w.joinTree(parley.LayoutInbox, "b", "ana")
			m := w.SendDM("user", "ana", "hello").Message
			out := w.onlyDepartureOf("a")
			w.reportDepartures("a", parley.DepartureWritten, out)
			c.move(w)
			w.reportDepartures("a", parley.DepartureSeen, out)
			same(t, "what waits", []any{c.waits(w), w.DeliveryState(m.ID, "ana"), w.writtenDepartures("a")}, []any{1, parley.DeliveryAccepted, []string{}})
			c.back(w)
			same(t, "back again", namesOf(w.departuresOf("a")), []string{out.Name})
			w.AssertConsistent()
		})
	}
}

// A tree that is joined again, under whatever name, gets what was given back under the names it had; and what had come by it does not
// come again.
func TestMailOfATreeThatIsJoinedAgain(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	w.joinTree(parley.LayoutInbox, "tree", "ana")
	view := resultOf[parley.BridgeView](w)(w.BridgeAt(user).Bridge(ctx, "tree"))
	w.SendDM("ned", "ana", "hello")
	out := w.onlyDepartureOf("tree")
	w.reportDepartures("tree", parley.DepartureWritten, out)
	came := parley.Arrival{
		BridgeFile: parley.BridgeFile{Path: "state/agents/ned/inbox/msg_00000001.json", Digest: "d"}, Name: "msg_00000001", From: "ana", To: "ned",
		Draft: parley.Draft{Content: text("hello you")},
	}
	door := w.BridgeAt(user)
	first := resultOf[[]parley.Arrived](w)(door.Arrive(ctx, "tree", []parley.Arrival{came}))
	w.NoError(w.RemoveBridge(ctx, user, "tree"))
	resultOf[parley.BridgeView](w)(w.AddBridge(ctx, user, parley.NewBridge{ID: "again", Layout: parley.LayoutInbox, Root: view.Root, Agents: []string{"ana"}}))
	export := parley.BridgeFile{Path: "state/agents/ana/inbox/" + out.Name + ".json"}
	same(t, "new", resultOf[[]parley.BridgeFile](w)(door.Unknown(ctx, "again", []parley.BridgeFile{export, came.BridgeFile})), []parley.BridgeFile(nil))
	same(t, "again", resultOf[[]parley.Arrived](w)(door.Arrive(ctx, "again", []parley.Arrival{came})), []parley.Arrived{{Message: first[0].Message, Duplicate: true}})
	same(t, "the name", namesOf(w.departuresOf("again")), []string{out.Name})
}

// Who lives only in channels is not woken where it cannot read, and gets no work there: nobody waits for what cannot come.
func TestAgentsThatReadOtherChannelsAreNotWoken(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.joinTree(parley.LayoutAgentOS, "tree", "claude")
	w.mapChannels("tree", "paper")
	w.CreateChannel("user", "paper")
	w.CreateChannel("user", "other")
	r := w.SayIn("user", "other", "@claude look")
	same(t, "said", r.Notices, []string{"claude was not woken: it reads only channels that have a directory in its tree"})
	same(t, "where it reads", w.SayIn("user", "paper", "@claude look").Deliveries[0].Waking, true)
	w.reportDepartures("tree", parley.DepartureWritten, w.onlyDepartureOf("tree", "paper"))
	w.Clock.Advance(48 * time.Hour)
	w.SweepDueDeliveries()
	same(t, "told", textsOf(w.HubMessagesTo("user")), []string{})
	_, err := w.Post(ctx, user, parley.Draft{Conversation: "other", To: "claude", Type: parley.TypeTask, Content: text("count")})
	w.AssertCode(parley.Unavailable, err)
}

// Where a format has no heartbeat, none waits for ever.
func TestHeartbeatThatCannotBeSaid(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	w.joinTree(parley.LayoutBlackboard, "tree", "ana")
	w.PostAs("ned", parley.Draft{Direct: []string{"ana"}, Type: parley.TypeHeartbeat, Payload: []byte(`{"health":"healthy","metrics":{"active_tasks":0}}`)})
	same(t, "what departs", w.departuresOf("tree"), []parley.Departure(nil))
	same(t, "what waits", w.InboxOf("ana"), parley.Inbox{})
}

// A document for somebody who can never read it is refused for good, and says where that one reads. One for somebody who is stopped
// waits, and keeps nobody else's waiting.
func TestDocumentsForUnreachableOrStoppedAgents(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned", "joe")
	w.joinTree(parley.LayoutAgentOS, "channels", "claude")
	w.mapChannels("channels", "paper")
	b := joinInboxTree(w)
	for _, a := range []parley.Arrival{b.document("ana", "claude", "hello"), forWork(b.document("ana", "claude", "work"))} {
		hint := b.arriveRefused(a, parley.BadInput)
		same(t, "the hint", hint, `post there and mention it: parley chat --conv paper "@claude …"`)
	}
	w.commandAs("user", "ned", parley.ActionStop, parley.CommandParameters{})
	done := b.arrive(forWork(b.document("ana", "ned", "work")), b.document("ana", "joe", "hello"))
	same(t, "one that is stopped, another", []any{done[0].Error.Code, done[1].Error == nil}, []any{parley.Unavailable, true})
	general := w.joinBridge(parley.NewBridge{ID: "general", Layout: parley.LayoutAgentOS, Agents: []string{"cora"}})
	work := forWork(general.document("cora", "claude", "work"))
	general.arriveRefused(work, parley.BadInput)
}
