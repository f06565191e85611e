package hub_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// An answer to an ask reaches whoever waits without a delivery, and counts in its sender's sequence all the same.
func TestAnswerToAnAskHasASequence(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.joinTree(parley.LayoutInbox, "tree", "ana")
	defer w.openSessions("ana")()
	asks := w.beginAsk(user, "ana", "well?")
	out := w.onlyDepartureOf("tree")
	w.reportDepartures("tree", parley.DepartureSeen, out)
	newest := w.LastEventNumber()
	for i, words := range []string{"very", "more", "much more"} {
		a := parley.Arrival{Name: "msg_0000000" + string(rune('1'+i)), From: "ana", To: "user", Draft: parley.Draft{Sequence: int64(i + 1), Content: text(words)}}
		if i == 0 {
			a.ReplyTo, a.Draft.Type = out.Name, parley.TypeResult
		}
		w.arriveFrom("tree", a)
		newest = w.assertNoGapAfter(t, newest)
	}
	same(t, "the answer", asks.resultText(), "Response from ana: very")
}

func (w *fixture) assertNoGapAfter(t *testing.T, event int64) int64 {
	t.Helper()
	if slices.Contains(kindsAfter(w, event), parley.EventSequenceGap) {
		t.Error("a gap is noted where there is none")
	}
	return w.LastEventNumber()
}

// For an agent that the hub runs, to see a message is to acknowledge it; an answer that is due, it has to give.
func TestSeeingAMessageIsItsAck(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		ack    bool
		errors int
	}{"an ack is wanted": {true, 0}, "an answer is due": {false, 1}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddScriptAgents("ned")
			b := joinInboxTree(w)
			a, due := b.document("ana", "ned", "hello"), began.Add(time.Hour)
			a.Draft.RequiresAck, a.Draft.Deadline = c.ack, &due
			b.arriveMessage(a)
			run := w.StartRun("ned")
			w.Clock.Advance(2 * time.Hour)
			w.SweepDueDeliveries()
			same(t, "told", len(w.HubMessagesTo("ana")), c.errors)
			w.EndRun(run, "hi")
		})
	}
}

// A task among those who live in one tree of channels ends by the document that its assignee has written: no other is made.
func TestATaskWithinATreeOfChannels(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.joinTree(parley.LayoutAgentOS, "tree", "ana", "ben")
	w.CreateChannel("user", "paper")
	asked := parley.Arrival{
		Name: "msg-20260301-090000-ana-abcd", From: "ana", To: "ben", Channel: "paper", Draft: parley.Draft{Type: "task_assign", Content: text("Draft it")},
	}
	task := resultOf[parley.Shown](w)(w.Message(ctx, user, w.arriveFrom("tree", asked).Message)).Task
	ended := w.arriveFrom("tree", parley.Arrival{
		Name: "msg-20260301-090001-ben-abcd", From: "ben", To: "ana", Channel: "paper", ReplyTo: asked.Name,
		Draft: parley.Draft{Type: "task_result", Content: text("done")},
	})
	same(t, "the task", []any{w.TaskByID(task).Status, w.TaskByID(task).Callback}, []any{parley.TaskCompleted, ended.Message})
	same(t, "what departs", w.departuresOf("tree", "paper"), []parley.Departure(nil))
	same(t, "what waits", w.InboxOf("ana"), parley.Inbox{})
	w.AssertConsistent()
}

// What was held and is approved is the message of its document: it does not go back into the tree, and can be answered there.
func TestApprovedDocumentIsKnown(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	b := joinChannelTree(w)
	w.EditAgent("ana", func(a *parley.Agent) { a.Mode = parley.ModeSupervised })
	a := b.document("ana", "ned", "hello @ben")
	note := b.arrive(a)[0].Notices[0]
	w.reportDepartures(b.view.ID, parley.DepartureWritten, w.onlyDepartureOf(b.view.ID, "general")) // the sender is told that it waits
	w.DecideAs("user", strings.TrimPrefix(note, "it waits for an approval: "), parley.Decision{Approve: true})
	posted := b.sent()[0]
	same(t, "what departs", w.departuresOf(b.view.ID, "general"), []parley.Departure(nil))
	same(t, "reached", wakesByRecipient(w.DeliveriesOf(posted.ID)), map[string]bool{"ned": true})
	reply := b.document("ben", "", "yes")
	reply.ReplyTo = a.Name
	same(t, "what is answered", b.arriveMessage(reply).InReplyTo, posted.ID)
}

// What was held and is denied is told where its sender reads it, who lives only in channels.
func TestDenialOfADocumentIsPostedInItsChannel(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	b := joinChannelTree(w)
	w.EditAgent("ana", func(a *parley.Agent) { a.Mode = parley.ModeSupervised })
	note := b.arrive(b.document("ana", "ned", "hello"))[0].Notices[0]
	w.reportDepartures(b.view.ID, parley.DepartureWritten, w.onlyDepartureOf(b.view.ID, "general")) // the sender is told that it waits
	w.DecideAs("user", strings.TrimPrefix(note, "it waits for an approval: "), parley.Decision{})
	out := w.onlyDepartureOf(b.view.ID, "general")
	same(t, "what departs", []string{out.Message.To, out.Message.Content.Text}, []string{"ana", "Approval denied for posting in #general."})
	w.reportDepartures(b.view.ID, parley.DepartureWritten, out)
	same(t, "what waits", w.InboxOf("ana"), parley.Inbox{})
}

// A directory is a channel, never a group of the same name: what is said there would not come back.
func TestDocumentInADirectoryNamedLikeAGroupIsRefused(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	b := joinChannelTree(w)
	w.CreateGroup("user", "general", "ana", "ben")
	same(t, "the hint", b.arriveRefused(b.document("ana", "", "hello"), parley.BadInput), "only channels have directories: use another name")
}

// Channels are read by others too who are not here: what is for them is kept for everybody.
func TestDocumentForSomebodyElsewhere(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	b := joinChannelTree(w)
	for to, who := range map[string]string{"gemini": "is not an agent of this hub", "ana": "wrote it", "parley": "is the hub itself"} {
		a := b.document("ana", to, "for "+to)
		a.Draft.Type = "task_assign"
		got := b.arrive(a)[0]
		same(t, "said", got.Notices, []string{"it is for " + to + ", which " + who + ": the hub keeps it in #general and delivers it to nobody"})
		m := b.message(got.Message)
		same(t, "kept", []string{m.Content.Text, m.To, m.Task}, []string{"for " + to, "", ""})
	}
}

// Two broadcasts of one name are two, and nobody is told who cannot read them.
func TestBroadcastsOfOneNameAreDistinct(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	w.joinTree(parley.LayoutAgentOS, "channels", "claude")
	b := joinInboxTree(w)
	one, two := b.document("ana", parley.All, "one"), b.document("ana", parley.All, "two")
	two.Name = one.Name
	first, second := b.arrive(one)[0], b.arrive(two)[0]
	if second.Duplicate || first.Message == second.Message {
		t.Errorf("the second is lost: %+v", second)
	}
	same(t, "reached", wakesByRecipient(w.DeliveriesOf(second.Message)), map[string]bool{"ned": true, "ben": true})
	same(t, "said", second.Notices, []string{"claude does not receive this: claude reads only the channels of a directory tree, and takes part in none yet"})
}

// What somebody who lives in a tree was sent is answered by the document that says so, wherever it was said: where it was sent
// alone, in a channel that it was mentioned in, with the others that the answer mentions.
func TestAnswersGoWhereTheQuestionIs(t *testing.T) {
	t.Parallel()
	for name, ask := range map[string]func(*fixture) parley.Receipt{
		"sent":      func(w *fixture) parley.Receipt { return w.SendEphemeralDM("bot", "ana", "well?") },
		"mentioned": func(w *fixture) parley.Receipt { return w.SayIn("bot", "paper", "@ana well?") },
		"asked for work": func(w *fixture) parley.Receipt {
			return w.PostAs("bot", parley.Draft{Conversation: "paper", To: "ana", Type: parley.TypeTask, Content: text("Draft it")})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddScriptAgents("bot", "sam")
			w.joinTree(parley.LayoutInbox, "tree", "ana")
			w.CreateChannel("user", "paper", "bot", "ana", "sam")
			asked := ask(w).Message
			got := w.arriveFrom("tree", parley.Arrival{
				Name: "msg_00000001", From: "ana", To: "bot", ReplyTo: w.onlyDepartureOf("tree").Name,
				Draft: parley.Draft{Type: parley.TypeResult, Sequence: 1, Payload: []byte(`{"status":"success"}`), Content: text("done, @sam")},
			})
			answer := resultOf[parley.Shown](w)(w.Message(ctx, user, got.Message))
			same(t, "the answer", []any{answer.Conversation, answer.InReplyTo, answer.To}, []any{asked.Conversation, asked.ID, "bot"})
			same(t, "the question", w.DeliveryState(asked.ID, "ana"), parley.DeliveryAnswered)
			if asked.Task != "" {
				w.AssertTaskState(parley.TaskCompleted, asked.Task)
			}
			w.AssertConsistent()
		})
	}
}

// Work that is asked for anew comes from the hub, which takes no mail but the answer to it.
func TestAnswersToTheHub(t *testing.T) {
	t.Parallel()
	for name, again := range map[string]func(w *fixture) (task string){
		"tried again": func(w *fixture) string {
			task := w.Delegate(as("bot"), "ana", "Draft it")
			resultOf[parley.TaskView](w)(w.CancelTask(ctx, user, task, "not yet"))
			resultOf[parley.TaskView](w)(w.RetryTask(ctx, user, task))
			return task
		},
		"given to another": func(w *fixture) string {
			task := w.Delegate(as("bot"), "writer", "Draft it")
			resultOf[parley.TaskView](w)(w.ReassignTask(ctx, user, task, "ana"))
			return task
		},
		"by somebody who is gone": func(w *fixture) string {
			task := w.Delegate(as("bot"), "writer", "Draft it")
			w.NoError(w.RemoveAgent(ctx, user, "bot"))
			resultOf[parley.TaskView](w)(w.ReassignTask(ctx, user, task, "ana"))
			return task
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddScriptAgents("bot", "writer")
			w.joinTree(parley.LayoutInbox, "tree", "ana")
			task := again(w)
			asked := w.onlyDepartureOf("tree")
			same(t, "from", asked.Message.From, parley.System)
			w.arriveFrom("tree", parley.Arrival{
				Name: "msg_00000001", From: "ana", To: parley.System, ReplyTo: asked.Name,
				Draft: parley.Draft{Type: parley.TypeResult, Sequence: 1, Payload: []byte(`{"status":"success"}`), Content: text("done")},
			})
			same(t, "the task", []any{w.TaskByID(task).Status, w.TaskByID(task).Result.Text}, []any{parley.TaskCompleted, "done"})
			w.AssertConsistent()
		})
	}
}
