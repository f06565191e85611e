package hub_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// paper returns a hub with a tree of channels in which claude lives, and a channel of the hub.
func paper(t *testing.T) *fixture {
	w := newHub(t)
	w.AddScriptAgents("bot", "writer")
	w.joinTree(parley.LayoutAgentOS, "tree", "claude")
	w.CreateChannel("user", "paper", "bot", "claude", "writer")
	return w
}

// writeDepartures reports all departures of a bridge as written, and returns their texts.
func (w *fixture) writeDepartures(id string, channels ...string) []string {
	w.T.Helper()
	list := w.departuresOf(id, channels...)
	w.reportDepartures(id, parley.DepartureWritten, list...)
	return wordsOf(list)
}

// What was to be written is once the tree is joined again, and nothing that was posted meanwhile, unless it waits for somebody.
func TestWaitingMessagesAreWrittenWhenATreeIsJoinedAgain(t *testing.T) {
	t.Parallel()
	w := paper(t)
	w.SayIn("bot", "paper", "for everybody")
	m := w.SayIn("bot", "paper", "@claude well?").Message
	w.departuresOf("tree", "paper") // and is not written
	w.NoError(w.RemoveBridge(ctx, user, "tree"))
	w.SayIn("bot", "paper", "nobody hears this there")
	w.SayIn("bot", "paper", "@claude still there?")
	w.joinTree(parley.LayoutAgentOS, "tree", "claude")
	same(t, "what is written", w.writeDepartures("tree", "paper"), []string{"for everybody", "@claude well?", "@claude still there?"})
	same(t, "what became of it", w.DeliveryState(m.ID, "claude"), parley.DeliveryAcked)
	same(t, "once", w.writeDepartures("tree", "paper"), []string{})
	w.AssertConsistent()
}

// Who comes to live in a tree has read what lies in its channels.
func TestNewAgentsOfATreeHaveReadItsChannels(t *testing.T) {
	t.Parallel()
	w := paper(t)
	m := w.SayIn("user", "paper", "@bot @claude well?").Message
	w.writeDepartures("tree", "paper")
	w.EditAgent("bot", func(a *parley.Agent) { a.Runtime = parley.RuntimeBridge })
	resultOf[parley.BridgeView](w)(w.ChangeBridge(ctx, user, "tree", parley.BridgeChange{Agents: &[]string{"claude", "bot"}}))
	same(t, "what is written", w.writeDepartures("tree", "paper"), []string{})
	same(t, "what became of it", w.DeliveryState(m.ID, "bot"), parley.DeliveryAcked)
}

// A task that waits for others gets its file when it need not wait any more: whoever reads it would begin.
func TestATaskThatWaitsHasNoFile(t *testing.T) {
	t.Parallel()
	w := paper(t)
	first := w.Delegate(as("bot"), "writer", "Research it")
	m := w.PostAs("bot", parley.Draft{
		Conversation: "paper", To: "claude", Type: parley.TypeTask, Content: text("Draft it"),
		Payload: json.RawMessage(`{"context":{"dependencies":["` + first + `"]}}`),
	}).Message
	same(t, "before", w.writeDepartures("tree", "paper"), []string{})
	w.RunAndAnswer("writer", "done")
	same(t, "after", w.writeDepartures("tree", "paper"), []string{"Draft it"})
	same(t, "what became of it", w.DeliveryState(m.ID, "claude"), parley.DeliveryAcked)
	w.AssertTaskState(parley.TaskActive, m.Task)
}

// Whoever is mentioned in a channel that no tree of its has a directory for cannot read it: the sender is told soon.
func TestAMentionInAChannelWithoutADirectoryFails(t *testing.T) {
	t.Parallel()
	w := paper(t)
	w.joinTree(parley.LayoutAgentOS, "other", "claude")
	m := w.SayIn("bot", "paper", "@claude well?").Message
	look := func(channels ...string) {
		for range 2 {
			w.departuresOf("tree", channels...)
			w.departuresOf("other", "thesis")
		}
	}
	look("thesis")
	same(t, "at first", w.DeliveryState(m.ID, "claude"), parley.DeliveryAccepted)
	w.Clock.Advance(10 * time.Second)
	look("thesis")
	same(t, "soon", w.DeliveryState(m.ID, "claude"), parley.DeliveryFailed)
	same(t, "told", textsOf(w.HubMessagesTo("bot")), []string{"Error: claude reads only channels that have a directory in its tree, and #paper has none." +
		" Hint: create the directory, or post in another channel."})
	there := w.SayIn("bot", "paper", "@claude and now?").Message
	w.Clock.Advance(10 * time.Second)
	w.departuresOf("other", "thesis")
	same(t, "where one has", w.writeDepartures("tree", "paper"), []string{"@claude and now?"})
	same(t, "what became of it", w.DeliveryState(there.ID, "claude"), parley.DeliveryAcked)
	w.AssertConsistent()
}

// What an agent says in one channel of a task whose end is told elsewhere is for those who read that channel.
func TestAnswersStayInTheirChannelThoughTheTaskEndsElsewhere(t *testing.T) {
	t.Parallel()
	w := paper(t)
	w.joinTree(parley.LayoutInbox, "inboxes", "ana")
	got := w.arriveFrom("inboxes", parley.Arrival{
		Name: "msg_0000abcd", From: "ana", To: "writer", Draft: parley.Draft{Type: "task-delegation", Payload: json.RawMessage(`{"task":"Draft it"}`)},
	})
	task := resultOf[parley.Shown](w)(w.Message(ctx, user, got.Message)).Task
	run := w.StartRun("writer")
	w.PostAs("user", parley.Draft{Conversation: "paper", To: "writer", Task: task, Content: text("how is it?")})
	w.EndRun(run, "the draft")
	w.RunAndAnswer("writer", "it is fine")
	same(t, "in the channel", w.writeDepartures("tree", "paper"), []string{"how is it?", "it is fine"})
}

// What waits for somebody without waking it is looked for where there are directories, once there are.
func TestQuietMessagesWaitForTheirDirectory(t *testing.T) {
	t.Parallel()
	w := paper(t)
	w.CreateChannel("user", "later", "bot", "claude")
	for _, where := range []string{"paper", "later"} {
		w.PostAs("bot", parley.Draft{Conversation: where, To: "claude", Type: parley.TypeNotification, Content: text(where)})
	}
	w.NoError(w.RemoveBridge(ctx, user, "tree"))
	w.joinTree(parley.LayoutAgentOS, "tree", "claude")
	same(t, "where there is one", w.writeDepartures("tree", "paper"), []string{"paper"})
	same(t, "once", w.writeDepartures("tree", "paper"), []string{})
	same(t, "where there is another", w.writeDepartures("tree", "paper", "later"), []string{"later"})
	same(t, "what waits", w.InboxOf("claude"), parley.Inbox{})
	w.AssertConsistent()
}
