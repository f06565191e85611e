package hub_test

import (
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// markShownTo marks messages as shown to a participant.
func (w *fixture) markShownTo(who string, messages ...string) {
	w.T.Helper()
	_, err := w.MarkShown(ctx, as(who), messages...)
	w.NoError(err)
}

// newestFirstTexts returns the texts in a participant's inbox, newest first.
func (w *fixture) newestFirstTexts(who string) []string {
	w.T.Helper()
	return textsOf(resultOf[parley.Peeked](w)(w.PeekNewest(ctx, as(who), 0, 500)).Messages)
}

// unreadCount returns the number of messages in a conversation that a participant has not read.
func (w *fixture) unreadCount(who, conversation string) int {
	w.T.Helper()
	return w.ConversationAs(who, conversation).Unread
}

func TestAnswerReturnedByAnAskIsSeen(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("b")
	asked := w.beginAsk(user, "b", "one")
	w.RunAndAnswer("b", "yes")
	same(t, "answer", asked.resultText(), "Response from b: yes")
	same(t, "unread", w.unreadCount("user", w.DMBetween("user", "b")), 0)
	same(t, "inbox", w.newestFirstTexts("user"), []string{})
	w.AssertConsistent()
}

func TestAnAnswerAfterTheInterruptStaysInTheInbox(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("b")
	asked := w.beginAsk(user, "b", "one")
	asked.giveUp()
	asked.resultText()
	w.RunAndAnswer("b", "yes")
	same(t, "unread", w.unreadCount("user", w.DMBetween("user", "b")), 2) // the answer, and the callback that repeats it
	same(t, "inbox", w.newestFirstTexts("user"), []string{"Response from b: yes"})
	now := w.outcomeNow(user, asked.request.ID)
	same(t, "outcome", now.Text, "Response from b: yes")
	same(t, "unread after it was waited for", w.unreadCount("user", w.DMBetween("user", "b")), 0)
	same(t, "inbox after it was waited for", w.newestFirstTexts("user"), []string{})
	w.AssertConsistent()
}

func TestResultReturnedByADelegationIsSeen(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("b")
	asked := w.beginContact(user, parley.Contact{Pattern: parley.PatternDelegate, Agent: "b", Message: "do it", Wait: time.Hour})
	w.RunAndAnswer("b", "done")
	same(t, "result", asked.resultText(), "Response from b: done")
	same(t, "unread", w.unreadCount("user", w.DMBetween("user", "b")), 0)
	same(t, "inbox", w.newestFirstTexts("user"), []string{})
	task := w.Delegate(user, "b", "more")
	w.RunAndAnswer("b", "done too")
	same(t, "unread without waiting", w.unreadCount("user", w.DMBetween("user", "b")), 2)
	w.outcomeNow(user, task)
	same(t, "unread after it was waited for", w.unreadCount("user", w.DMBetween("user", "b")), 0)
	w.AssertConsistent()
}

func TestShownMessagesMayBeNamedByShortNames(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("arya")
	one, two := w.SendDM("arya", "user", "one").Message, w.SendDM("arya", "user", "two").Message
	w.markShownTo("user", one.ShortName(), two.ID[len(two.ID)-8:])
	same(t, "inbox", w.newestFirstTexts("user"), []string{})
	_, err := w.MarkShown(ctx, user, "m987654321")
	wantError(t, err, refusalError(parley.BadInput, parley.NotFound, `there is no message "m987654321"`, "check the name"))
}

func TestAwaitedAnswersAreSeen(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("b")
	sent := w.SendDM("user", "b", "hello")
	w.RunAndAnswer("b", "hi")
	same(t, "before", w.newestFirstTexts("user"), []string{"hi"})
	same(t, "answers", textsOf(w.outcomeNow(user, sent.Message.ID).Answers), []string{"hi"})
	same(t, "inbox", w.newestFirstTexts("user"), []string{})
	same(t, "unread", w.unreadCount("user", sent.Message.Conversation), 0)
}

func TestShownMessagesThatNeedNothingAreSettled(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("b")
	w.AddPerson("sansa", parley.AccessMember)
	said := w.SendDM("b", "sansa", "plain").Message
	noted := w.PostAs("b", parley.Draft{Direct: []string{"sansa"}, Type: parley.TypeNotification, Content: text("note")}).Message
	answered := w.postForPurpose(parley.PurposeCallback, "b", "sansa", "result")
	must := w.PostAs("b", parley.Draft{Direct: []string{"sansa"}, RequiresAck: true, Content: text("confirm")}).Message
	mustQuietly := w.PostAs("b", parley.Draft{
		Direct: []string{"sansa"}, Type: parley.TypeNotification, RequiresAck: true, Content: text("confirm quietly"),
	}).Message
	asked := w.beginAsk(as("b"), "sansa", "question").request
	task := w.Delegate(as("b"), "sansa", "work")
	work := w.TaskByID(task).Message
	all := []string{said.ID, noted.ID, answered.ID, must.ID, mustQuietly.ID, asked.ID, work}
	w.markShownTo("sansa", all...)
	for _, id := range []string{said.ID, noted.ID, answered.ID} {
		same(t, "settled", w.DeliveryState(id, "sansa"), parley.DeliveryAcked)
	}
	for _, id := range []string{must.ID, asked.ID, work} {
		same(t, "seen", w.DeliveryState(id, "sansa"), parley.DeliverySeen)
	}
	same(t, "seen, but wakes nobody", w.DeliveryState(mustQuietly.ID, "sansa"), parley.DeliveryDelivered)
	same(t, "the task has begun", w.TaskByID(task).Status, parley.TaskActive)
	same(t, "unread", w.unreadCount("sansa", said.Conversation), 0)
	w.markShownTo("sansa", all...)
	open := func() (names []string) {
		for _, d := range resultOf[parley.Peeked](w)(w.PeekNewest(ctx, as("sansa"), 0, 9)).Deliveries {
			names = append(names, map[string]string{must.ID: "ack", mustQuietly.ID: "quiet ack", asked.ID: "ask", work: "task"}[d.Message])
		}
		return names
	}
	same(t, "still open", open(), []string{"task", "ask", "quiet ack", "ack"})
	w.ReplyAs("sansa", asked.ID, "answer")
	same(t, "after the answer", open(), []string{"task", "quiet ack", "ack"})
	w.updateTaskAs("sansa", task, parley.TaskChange{Status: parley.TaskCompleted})
	same(t, "after the task", open(), []string{"quiet ack", "ack"})
	same(t, "its request", w.DeliveryState(work, "sansa"), parley.DeliveryAcked)
	w.AckAs("sansa", must.ID, mustQuietly.ID)
	same(t, "after the acks", open(), []string(nil))
	w.AssertConsistent()
}

func TestARequestForApprovalStaysOpenUntilItIsDecided(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("intern", "senior")
	w.AddPermission("intern", "senior", parley.EffectAllow, func(p *parley.Permission) { p.RequiresApproval = true })
	held := w.HeldApproval(w.TryContact(as("intern"), parley.Contact{Pattern: parley.PatternNotify, Agent: "senior", Message: "hello"}))
	request := resultOf[parley.Peeked](w)(w.PeekNewest(ctx, user, 0, 9)).Messages[0]
	w.markShownTo("user", request.ID)
	same(t, "shown", w.DeliveryState(request.ID, "user"), parley.DeliverySeen)
	same(t, "still open", len(w.newestFirstTexts("user")), 1)
	w.DecideAs("user", held.ID, parley.Decision{})
	same(t, "decided", w.DeliveryState(request.ID, "user"), parley.DeliveryAcked)
	same(t, "nothing is open", w.newestFirstTexts("user"), []string{})
	w.AssertConsistent()
}

func TestTheCursorPassesNothingThatWasNotShown(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	first, second, third := w.SendDM("arya", "user", "one").Message, w.SendDM("arya", "user", "two").Message, w.SendDM("arya", "user", "three").Message
	w.markShownTo("user", second.ID)
	same(t, "unread of a DM", w.unreadCount("user", first.Conversation), 3)
	same(t, "inbox", w.newestFirstTexts("user"), []string{"three", "one"})
	w.markShownTo("user", first.ID)
	same(t, "unread after the first", w.unreadCount("user", first.Conversation), 2) // the cursor stands at what was shown now
	w.markShownTo("user", third.ID)
	same(t, "unread after all", w.unreadCount("user", first.Conversation), 0)

	w.CreateChannel("user", "open", "arya")
	plain, named := w.SayIn("arya", "open", "weather").Message, w.SayIn("arya", "open", "@user look").Message
	w.markShownTo("user", named.ID)
	same(t, "unread of a channel", w.unreadCount("user", "open"), 2)
	same(t, "settled all the same", w.DeliveryState(named.ID, "user"), parley.DeliveryAcked)
	w.markShownTo("user", plain.ID, named.ID)
	same(t, "unread of a channel after all", w.unreadCount("user", "open"), 0)
}

func TestShownChangesNothingForAgents(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	sent := w.SendDM("user", "arya", "work").Message
	w.markShownTo("arya", sent.ID)
	same(t, "state", w.DeliveryState(sent.ID, "arya"), parley.DeliveryAccepted)
	same(t, "unread", w.unreadCount("arya", sent.Conversation), 1)
	_, err := w.MarkShown(ctx, user)
	same(t, "nothing named", parley.CodeOf(err), parley.BadInput)
	w.markShownTo("user", "0195a1b2-3c4d-7e5f-8a9b-0c1d2e3f4a5b") // which does not exist
}

func TestErrorsAboutAMessageAreSettledWithIt(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("b")
	sent, other := w.SendDM("user", "b", "hello").Message, w.SendDM("user", "b", "again").Message
	w.FailRunWith(w.StartRun("b"), parley.FailureFinal)
	same(t, "errors", len(w.newestFirstTexts("user")), 2)
	w.markShownTo("user", sent.ID)
	same(t, "errors about the other", len(w.newestFirstTexts("user")), 1)
	now := w.outcomeNow(user, other.ID)
	same(t, "it has failed", codeOf(now), parley.DependencyFailed)
	same(t, "errors after it was waited for", w.newestFirstTexts("user"), []string{})
}

func TestAnEphemeralConversationIsKeptWhileAPersonHasNotSeenTheAnswer(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("b")
	w.AddAgents("arya", "gendry")
	sent := w.SendEphemeralDM("user", "b", "quick question").Message
	w.RunAndAnswer("b", "the answer")
	archived := func(id string) bool { return w.ConversationAs("user", id).ArchivedAt != nil }
	same(t, "archived before it is seen", archived(sent.Conversation), false)
	w.Clock.Advance(25 * time.Hour)
	w.NoError(w.Sweep(ctx))
	same(t, "archived after a day", archived(sent.Conversation), false)
	inbox := resultOf[parley.Peeked](w)(w.PeekNewest(ctx, user, 0, 9))
	same(t, "inbox", textsOf(inbox.Messages), []string{"the answer"})
	same(t, "listed with what is unread", w.ConversationIDs("user", parley.ListFilter{Ephemeral: true}), []string{sent.Conversation})
	w.markShownTo("user", inbox.Messages[0].ID)
	same(t, "archived once it is seen", archived(sent.Conversation), true)

	acked := w.SendEphemeralDM("user", "b", "another").Message
	w.RunAndAnswer("b", "the other answer")
	w.AckAs("user", resultOf[parley.Peeked](w)(w.PeekNewest(ctx, user, 0, 9)).Messages[0].ID)
	same(t, "archived once it is acknowledged", archived(acked.Conversation), true)

	between := w.SendEphemeralDM("arya", "gendry", "question").Message
	w.ReplyAs("gendry", between.ID, "answer")
	same(t, "archived between agents", archived(between.Conversation), true)
}

func TestAPersonsInboxShowsTheNewestFirst(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	for _, words := range []string{"one", "two", "three", "four"} {
		w.SendDM("arya", "user", words)
	}
	first := resultOf[parley.Peeked](w)(w.PeekNewest(ctx, user, 0, 3))
	same(t, "newest", textsOf(first.Messages), []string{"four", "three", "two"})
	same(t, "more", first.More, 1)
	rest := resultOf[parley.Peeked](w)(w.PeekNewest(ctx, user, first.Deliveries[2].Seq, 3))
	same(t, "the rest", textsOf(rest.Messages), []string{"one"})
	same(t, "no more", rest.More, 0)
	same(t, "a take is by seq", w.TakeTexts("user", parley.Take{}), []string{"one", "two", "three", "four"})
}
