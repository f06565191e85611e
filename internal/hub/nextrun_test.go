package hub_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

func TestPendingMessagesOfOneConversationJoinOneRun(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	w.CreateChannel("user", "open", "codex")
	w.SayIn("user", "open", "@codex one")
	w.SayIn("user", "open", "not for it")
	w.PostAs("user", parley.Draft{Conversation: "open", Content: text("@codex two"), Priority: level(10)})
	w.SendDM("user", "codex", "elsewhere")
	a := w.StartRun("codex")
	same(t, "woken by", textsOf(a.Messages), []string{"@codex one", "@codex two"})
	same(t, "the run", []any{a.Run.State, a.Run.Attempt, a.Run.Hops, a.Run.Chain, a.Run.TraceID}, []any{
		parley.RunStarting, 1, 0, 0, a.Messages[1].TraceID,
	})
	// What comes meanwhile waits for the next run, in this conversation.
	w.SayIn("user", "open", "@codex three")
	w.SayIn("user", "open", "@codex four")
	same(t, "in the other", textsOf(w.StartRun("codex").Messages), []string{"elsewhere"})
	w.AssertIdle("codex")
	w.EndRun(a, "done")
	same(t, "woken by", textsOf(w.StartRun("codex").Messages), []string{"@codex three", "@codex four"})
}

func TestAskIsARunOfItsOwn(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	w.SendDM("user", "codex", "one")
	w.postForPurpose(parley.PurposeAsk, "user", "codex", "asked")
	w.SendDM("user", "codex", "two")
	a := w.StartRun("codex")
	same(t, "woken by", textsOf(a.Messages), []string{"asked"})
	w.EndRun(a, "")
	same(t, "woken by", textsOf(w.StartRun("codex").Messages), []string{"one", "two"})
}

func TestRunHasAtMostSoManyTriggers(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Rate = hub.Rate{PerSecond: -1, Burst: 1} })
	w.AddScriptAgents("codex")
	w.SetInboxDepth("codex", 200, parley.OverflowReject)
	for i := range 105 {
		w.SendDM("user", "codex", fmt.Sprint(i))
	}
	a := w.StartRun("codex")
	same(t, "triggers", len(a.Messages), 100)
	w.EndRun(a, "")
	same(t, "triggers left", len(w.StartRun("codex").Messages), 5)
}

func TestConcurrencyBoundsRuns(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	w.EditAgent("codex", func(a *parley.Agent) { a.Concurrency = 2 })
	for i := range 4 {
		w.CreateChannel("user", fmt.Sprint("room-", i), "codex")
		w.SayIn("user", fmt.Sprint("room-", i), "@codex")
	}
	one := w.StartRun("codex")
	w.StartRun("codex")
	w.AssertIdle("codex")
	w.EndRun(one, "")
	w.StartRun("codex")
	w.AssertIdle("codex")
}

func TestUrgentStartsFirstAndLowIsNotStarved(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	w.CreateChannel("user", "low", "codex")
	w.PostAs("user", parley.Draft{Conversation: "low", Content: text("@codex low"), Priority: level(0)})
	for i := 1; ; i++ {
		room := fmt.Sprint("room-", i)
		w.CreateChannel("user", room, "codex")
		w.PostAs("user", parley.Draft{Conversation: room, Content: text("@codex " + room), Priority: level(8)})
		a := w.StartRun("codex")
		w.EndRun(a, "")
		if a.Messages[0].Content.Text == "@codex low" {
			same(t, "the turn of the oldest", i, 8)
			return
		}
		same(t, "started", a.Messages[0].Content.Text, "@codex "+room)
	}
}

func TestHaltedAndPollingAgentsStartNoRun(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("gone", "asleep", "paused")
	w.AddPollingAgents("ana")
	w.AddAgents("rex")
	all := []string{"gone", "asleep", "paused", "ana", "rex"}
	for _, id := range all {
		w.SendDM("user", id, "hello")
	}
	w.NoError(w.RemoveAgent(ctx, user, "gone"))
	resultOf[parley.Agent](w)(w.Sleep(ctx, user, "asleep", began.Add(time.Hour)))
	resultOf[parley.Receipt](w)(w.Command(ctx, user, "paused", parley.Command{Action: parley.ActionPause}))
	before := w.LastEventNumber()
	w.AssertIdle(append(all, "user", "nobody")...)
	same(t, "events", w.LastEventNumber(), before)
	same(t, "who waits", len(resultOf[[]string](w)(w.AgentsToWake(ctx))), 0)
	w.Clock.Advance(time.Hour)
	same(t, "woken", w.WokenAgents(all...), []string{"asleep"})
}

func TestExpiredMessagesStartNoRun(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	old := w.PostAs("user", parley.Draft{Direct: []string{"codex"}, TTL: 1}).Message
	w.Clock.Advance(time.Minute)
	w.AssertIdle("codex")
	same(t, "state", w.DeliveryState(old.ID, "codex"), parley.DeliveryExpired)
	w.PostAs("user", parley.Draft{Direct: []string{"codex"}, TTL: 1})
	w.Clock.Advance(time.Minute)
	w.SendDM("user", "codex", "new")
	same(t, "woken by", textsOf(w.StartRun("codex").Messages), []string{"new"})
}

// A chain is counted through runs, and through what agents say outside of any.
func TestRunKnowsHowItCameToBe(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex", "gemini")
	w.AddAgents("rex")
	w.CreateChannel("user", "open", "codex", "gemini", "rex")
	trace := w.SayIn("user", "open", "@codex begin").Message.TraceID
	one := w.StartRun("codex")
	explicit := w.PostFromRun(one, parley.Draft{Conversation: "open", Content: text("@gemini one")}).Message
	same(t, "what a run posts", []any{explicit.TraceID, explicit.Hops, explicit.Source}, []any{trace, 1, "run"})
	two := w.StartRun("gemini")
	same(t, "the next", []any{two.Run.TraceID, two.Run.Hops, two.Run.Chain}, []any{trace, 1, 1})
	w.EndRun(one, "")
	answer := resultOf[parley.Shown](w)(w.Message(ctx, user, w.EndRun(two, "@codex two").Answer))
	same(t, "its answer", []any{answer.TraceID, answer.Hops}, []any{trace, 2})
	three := w.StartRun("codex")
	same(t, "the third", []any{three.Run.TraceID, three.Run.Hops, three.Run.Chain}, []any{trace, 2, 2})
	w.SayIn("rex", "open", "@gemini out of the blue")
	four := w.StartRun("gemini")
	same(t, "an agent's without a run", []any{four.Run.Hops, four.Run.Chain}, []any{1, 1})
}

// Runs that start at once are running, and what woke them is seen, with one update.
func TestRunThatStartsAtOnce(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	w.CreateChannel("user", "open", "codex")
	quiet := w.PostAs("user", parley.Draft{Conversation: "open", To: "codex", Type: parley.TypeNotification}).Message
	m := w.SayIn("user", "open", "@codex").Message
	a := resultOf[*hub.Assignment](w)(w.NextRun(ctx, "codex", hub.RunOptions{Plan: instantly}))
	same(t, "run", []any{a.Run.State, a.Run.Deadline}, []any{parley.RunRunning, began.Add(30 * time.Minute)})
	same(t, "what woke it", w.DeliveryState(m.ID, "codex"), parley.DeliverySeen)
	d := w.DeliveryOf(quiet.ID, "codex")
	same(t, "what was there too", []any{d.State, d.Run}, []any{parley.DeliverySeen, a.Run.ID})
}

// What is planned for a run depends on its agent, and its token ends with it.
func TestAgentsHaveDeadlinesOfTheirOwn(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex", "claude")
	plan := func(a parley.Agent) hub.RunPlan {
		return hub.RunPlan{Deadline: time.Duration(len(a.ID)) * time.Hour, Instant: a.ID == "claude", Token: parley.TokenRun}
	}
	for agent, want := range map[string]parley.RunState{"codex": parley.RunStarting, "claude": parley.RunRunning} {
		w.SendDM("user", agent, "work")
		a := resultOf[*hub.Assignment](w)(w.NextRun(ctx, agent, hub.RunOptions{Plan: plan}))
		lasts := time.Duration(len(agent)) * time.Hour
		same(t, agent, []any{a.Run.State, a.Run.Deadline}, []any{want, w.Clock.Now().Add(lasts)})
		w.Clock.Advance(lasts + 59*time.Second)
		same(t, "its token", resultOf[hub.Caller](w)(w.IdentifyAt(ctx, a.Token, ownPlace(a))).Run, a.Run.ID)
		w.Clock.Advance(time.Second)
		same(t, "later", parley.CodeOf(errorOf(w.IdentifyAt(ctx, a.Token, ownPlace(a)))), parley.NotPermitted)
	}
}

// What was not in the context when it was read is not seen with it.
func TestBeginMarksTheContextAsSeen(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	w.EditAgent("codex", func(a *parley.Agent) { a.ContextMessages = 2 })
	w.CreateChannel("user", "open", "codex")
	note := func() string {
		return w.PostAs("user", parley.Draft{Conversation: "open", To: "codex", Type: parley.TypeNotification}).Message.ID
	}
	old, recent := note(), note()
	m := w.SayIn("user", "open", "@codex").Message
	a := w.NextRunOf("codex")
	same(t, "before", w.DeliveryState(m.ID, "codex"), parley.DeliveryDelivered)
	resultOf[parley.RunContext](w)(w.RunContext(ctx, a.Run.ID))
	later := note()
	w.NoError(w.BeginRun(ctx, a.Run.ID, parley.Process{PID: 7, Started: 8}))
	for id, want := range map[string]parley.DeliveryState{
		m.ID: parley.DeliverySeen, old: parley.DeliveryAccepted, recent: parley.DeliverySeen, later: parley.DeliveryAccepted,
	} {
		same(t, id, w.DeliveryState(id, "codex"), want)
	}
	same(t, "run", w.RunByID(a.Run.ID).State, parley.RunRunning)
	before := w.LastEventNumber()
	w.NoError(w.BeginRun(ctx, a.Run.ID, parley.Process{PID: 9, Started: 10})) // a client that had to be started anew
	same(t, "nothing has happened", eventsAfter(w, before), []parley.Event{})
	same(t, "what came later", w.DeliveryState(later, "codex"), parley.DeliveryAccepted)
	lost := resultOf[[]parley.Run](w)(w.LostRuns(ctx, node))
	same(t, "the process", []any{len(lost), lost[0].Process}, []any{1, parley.Process{PID: 9, Started: 10}})
}

// Two hubs on one database hand each delivery to one run, and a conversation to one run at a time.
func TestTwoHubsStartEachRunOnce(t *testing.T) {
	t.Parallel()
	hubs := twoHubs(t)
	hubs[0].AddScriptAgents("codex")
	hubs[0].EditAgent("codex", func(a *parley.Agent) { a.Concurrency = 3 })
	for i := range 6 {
		room := fmt.Sprint("room-", i)
		hubs[0].CreateChannel("user", room, "codex")
		hubs[0].SayIn("user", room, "@codex one")
		hubs[0].SayIn("user", room, "@codex two")
	}
	started, errs := atOnce(t, hubs, func(w *fixture) (*hub.Assignment, error) {
		return w.NextRun(ctx, "codex", hub.RunOptions{Node: node})
	})
	conversations, runs := map[string]bool{}, 0
	for i, a := range started {
		hubs[0].NoError(errs[i])
		if a == nil {
			continue
		}
		runs++
		same(t, "triggers", len(a.Messages), 2)
		conversations[a.Run.Conversation] = true
	}
	same(t, "runs, and conversations they are in", []int{runs, len(conversations)}, []int{3, 3})
}
