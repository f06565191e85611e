package hub_test

import (
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

func newHubWithAnswers(t *testing.T, mode parley.Answers) *fixture {
	t.Helper()
	w := newHub(t)
	w.AddScriptAgents("a1", "b2", "c3")
	w.CreateConversationAs("user", parley.NewConversation{Name: "open", With: []string{"a1", "b2", "c3"}, Answers: mode})
	return w
}

var three = []string{"a1", "b2", "c3"}

func TestParallelAllAnswerAtOnce(t *testing.T) {
	t.Parallel()
	w := newHubWithAnswers(t, parley.AnswersParallel)
	w.SayIn("user", "open", "@b2 @a1 @c3")
	same(t, "woken", w.WokenAgents(three...), three)
}

func TestRoundRobinOneAnswersAtATime(t *testing.T) {
	t.Parallel()
	w := newHubWithAnswers(t, parley.AnswersRoundRobin)
	toCheck, _ := w.AgentsToCheck()
	w.SayIn("user", "open", "@c3 @a1 @b2")
	w.AssertIdle("a1", "b2")
	c := w.StartRun("c3")
	w.AssertIdle("a1", "b2")
	toCheck()
	w.EndRun(c, "from c3")
	same(t, "to check", toCheck(), []string{"a1", "b2", "c3", "user"})
	w.AssertIdle("b2")
	a := w.StartRun("a1")
	history := resultOf[parley.RunContext](w)(w.RunContext(ctx, a.Run.ID)).History
	same(t, "sees", textsOf(history), []string{"from c3"})
	w.FailRunWith(a, parley.FailureBusy) // it will try again
	w.AssertIdle("b2")
	w.AdvanceLeases(time.Minute)
	w.FailRunWith(w.StartRun("a1"), parley.FailureFinal) // it will not
	same(t, "woken", w.WokenAgents(three...), []string{"b2"})
}

func TestRoundRobinPassesOverAgentsThatCannotStart(t *testing.T) {
	t.Parallel()
	w := newHubWithAnswers(t, parley.AnswersRoundRobin)
	w.AddPollingAgents("ana")
	w.SayIn("user", "open", "@ana @c3 @a1")
	w.AssertIdle("a1")
	resultOf[parley.Receipt](w)(w.Command(ctx, user, "c3", parley.Command{Action: parley.ActionPause}))
	a := w.StartRun("a1")
	w.EndRun(a, "")
	// Who fetches for itself has its turn once it has fetched.
	w.SayIn("user", "open", "@ana again, @b2")
	lease := w.TakeAs("ana", parley.Take{})
	w.AssertIdle("b2")
	w.AckAs("ana", lease.Messages[0].ID, lease.Messages[1].ID)
	w.StartRun("b2")
}

// Messages that name the same agents in different orders do not make them wait for each other.
func TestRoundRobinDoesNotDeadlock(t *testing.T) {
	t.Parallel()
	w := newHubWithAnswers(t, parley.AnswersRoundRobin)
	w.SayIn("user", "open", "@a1 @b2 one")
	w.SayIn("user", "open", "@b2 @a1 two")
	a, b := w.StartRun("a1"), w.StartRun("b2")
	same(t, "a1 begins with", textsOf(a.Messages), []string{"@a1 @b2 one"})
	same(t, "b2 begins with", textsOf(b.Messages), []string{"@b2 @a1 two"})
	w.EndRun(a, "")
	w.EndRun(b, "")
	w.EndRun(w.StartRun("a1"), "")
	w.EndRun(w.StartRun("b2"), "")
	w.AssertIdle(three...)
}

func TestFirstAnswerStands(t *testing.T) {
	t.Parallel()
	w := newHubWithAnswers(t, parley.AnswersFirst)
	w.AddPollingAgents("ana")
	m := w.SayIn("user", "open", "@a1 @b2 @c3 @ana").Message
	a, b := w.StartRun("a1"), w.StartRun("b2")
	toCheck, _ := w.AgentsToCheck()
	toCheck()
	w.EndRun(b, "from b2")
	w.AssertIdle("c3")
	for agent, want := range map[string]parley.DeliveryState{
		"a1": parley.DeliveryAcked, "b2": parley.DeliveryAnswered, "c3": parley.DeliveryAcked, "ana": parley.DeliveryAcked,
	} {
		same(t, agent, w.DeliveryState(m.ID, agent), want)
	}
	same(t, "to check", toCheck(), []string{"a1", "b2", "user"})
	same(t, "why it is to end", resultOf[string](w)(w.ExtendRunLease(ctx, a.Run.ID)), "another answer came first")
	same(t, "its end", w.EndRun(a, "from a1").State, parley.RunCancelled)
	same(t, "said", w.TextsIn("user", "open"), []string{"@a1 @b2 @c3 @ana", "from b2"})
	w.AssertConsistent()
}

// An empty answer is none, and a run that something else has woken goes on.
func TestFirstAnswerLeavesRunsWithOtherTriggers(t *testing.T) {
	t.Parallel()
	w := newHubWithAnswers(t, parley.AnswersFirst)
	w.SayIn("user", "open", "@a1 @b2 one")
	w.EndRun(w.StartRun("a1"), "")
	w.SayIn("user", "open", "@b2 two")
	b := w.StartRun("b2")
	same(t, "triggers", len(b.Messages), 2)
	w.SayIn("user", "open", "@a1 @b2 three")
	w.ReplyAs("a1", b.Messages[0].ID, "late, but first")
	same(t, "to end", resultOf[string](w)(w.ExtendRunLease(ctx, b.Run.ID)), "")
	r := w.EndRun(b, "from b2")
	same(t, "its end", r.State, parley.RunSucceeded)
	same(t, "woken", w.WokenAgents(three...), []string{"a1", "b2"})
}

func TestWayToAnswerIsSet(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	id := w.CreateChannel("arya", "open", "ned").ID
	first, none, wrong := parley.AnswersFirst, parley.AnswersParallel, parley.Answers("loudest")
	before := w.LastEventNumber()
	same(t, "set", resultOf[parley.ConversationView](w)(w.ChangeConversation(ctx, as("arya"), id, parley.ConversationChange{Answers: &first})).Answers, first)
	same(t, "again", resultOf[parley.ConversationView](w)(w.ChangeConversation(ctx, as("arya"), id, parley.ConversationChange{Answers: &first})).Answers, first)
	same(t, "events", kindsAfter(w, before), []parley.EventKind{parley.EventConversationChanged})
	same(t, "set back", resultOf[parley.ConversationView](w)(w.ChangeConversation(ctx, user, id, parley.ConversationChange{Answers: &none})).Answers, parley.Answers(""))
	dm := w.SendDM("arya", "ned", "hi").Message.Conversation
	w.assertRefusals(t, []refusal{
		{"an unknown word", func() error {
			_, err := w.ChangeConversation(ctx, user, id, parley.ConversationChange{Answers: &wrong})
			return err
		}, refusalError(parley.BadInput, "", `"loudest" is not an order of answers`, "use parallel, round-robin or first")},
		{"a new channel with one", func() error {
			_, err := w.CreateConversation(ctx, user, parley.NewConversation{Name: "new", Answers: wrong})
			return err
		}, refusalError(parley.BadInput, "", `"loudest" is not an order of answers`, "use parallel, round-robin or first")},
		{"by a member", func() error {
			_, err := w.ChangeConversation(ctx, as("ned"), id, parley.ConversationChange{Answers: &first})
			return err
		}, refusalError(parley.NotPermitted, "", "only the creator of #open and owners may set the order of its answers", "ask arya")},
		{"in a DM", func() error {
			_, err := w.ChangeConversation(ctx, as("arya"), dm, parley.ConversationChange{Answers: &first})
			return err
		}, refusalError(parley.BadInput, "", "a message in a dm wakes only one participant", "use a channel")},
	})
}
