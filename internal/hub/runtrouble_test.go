package hub_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// Who is started again while a run that its stop has cancelled is still ending has lost nothing.
func TestMessagesOfAStoppedAgentAreKeptThoughItStartsAgain(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("bot")
	m := w.SendDM("user", "bot", "work").Message
	run := w.StartRun("bot")
	w.commandAs("user", "bot", parley.ActionStop, parley.CommandParameters{TimeoutMS: 1, Reason: "by user"})
	w.Clock.Advance(time.Second)
	w.NoError(w.SweepHalts(ctx))
	w.commandAs("user", "bot", parley.ActionStart, parley.CommandParameters{})
	w.FailRunWith(run, parley.FailureFinal)
	same(t, "the message", w.DeliveryState(m.ID, "bot"), parley.DeliveryAccepted)
	same(t, "the sender is told", len(w.HubMessagesTo("user")), 0)
	w.EndRun(w.StartRun("bot"), "done")
}

// What a person has cancelled is done with, though its agent is being stopped.
func TestCancelledRunFailsItsMessageThoughItsAgentIsStopped(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("bot")
	m := w.SendDM("user", "bot", "work").Message
	run := w.StartRun("bot")
	resultOf[parley.Run](w)(w.CancelRun(ctx, user, run.Run.ID, "not this"))
	w.commandAs("user", "bot", parley.ActionStop, parley.CommandParameters{})
	w.FailRunWith(run, parley.FailureFinal)
	same(t, "the message", w.DeliveryState(m.ID, "bot"), parley.DeliveryFailed)
}

// An API may ask to be left alone for longer than anybody waits.
func TestNoPauseIsTooLongToFailWith(t *testing.T) {
	t.Parallel()
	for _, after := range []time.Duration{-time.Second, 1000 * time.Hour} {
		w := newHub(t)
		w.AddScriptAgents("bot")
		m := w.SendDM("user", "bot", "work").Message
		why := &parley.RunError{Trouble: parley.Trouble{Failure: parley.FailureBusy, After: after}}
		r := resultOf[parley.Run](w)(w.FailRun(ctx, w.StartRun("bot").Run.ID, why, parley.Result{}, nil))
		same(t, "the run", r.State, parley.RunFailed)
		same(t, "the message", w.DeliveryState(m.ID, "bot"), parley.DeliveryAccepted)
		w.AdvanceLeases(24 * time.Hour)
		w.StartRun("bot")
	}
}

// Who was taken out of a conversation is not woken there: what it was to do has failed, once.
func TestFormerMembersAreNotWoken(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	w.CreatePrivateChannel("user", "secret", "codex")
	m := w.SayIn("user", "secret", "@codex").Message
	w.NoError(w.RemoveMember(ctx, user, "secret", "codex"))
	w.SendDM("user", "codex", "hello")
	same(t, "woken by", textsOf(w.StartRun("codex").Messages), []string{"hello"})
	d := w.DeliveryOf(m.ID, "codex")
	same(t, "the message", d.State, parley.DeliveryFailed)
	wantError(t, d.Failure, refusalError(parley.NotPermitted, "", "codex is no longer a member of #secret", "add it again, and send the message again"))
	same(t, "the sender is told", len(w.HubMessagesTo("user")), 1)
}

// A run has all of what woke it, or it is lost: nothing of it is given to another while it may go on.
func TestALapsedRunLosesAllItHas(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("bot", "other")
	for i := range 60 { // more than are looked at in one update
		w.SendDM("user", "bot", fmt.Sprint(i))
		w.SendDM("user", "other", fmt.Sprint(i))
	}
	bot, other := w.StartRun("bot"), w.StartRun("other")
	w.Leases.Advance(2 * time.Minute)
	w.NoError(w.LapseSome(ctx))
	for _, run := range []string{bot.Run.ID, other.Run.ID} {
		var held []parley.Delivery
		w.NoError(w.Store.View(ctx, func(tx storage.Tx) (err error) {
			held, err = tx.Queue().Leased(run)
			return err
		}))
		_, err := w.ExtendRunLease(ctx, run)
		same(t, "it lives on", err == nil, len(held) == 60)
	}
	w.AssertConsistent()
}

// One that has answered is still at it while its run goes on.
func TestRoundRobinWaitsForTheEndOfTheRun(t *testing.T) {
	t.Parallel()
	w := newHubWithAnswers(t, parley.AnswersRoundRobin)
	m := w.SayIn("user", "open", "@c3 @a1 @b2").Message
	c := w.StartRun("c3")
	w.PostFromRun(c, parley.Draft{InReplyTo: m.ID, Content: text("so far")})
	same(t, "answered", w.DeliveryState(m.ID, "c3"), parley.DeliveryAnswered)
	w.AssertIdle("a1", "b2")
	toCheck, _ := w.AgentsToCheck()
	toCheck()
	w.EndRun(c, "and the rest")
	same(t, "to check", toCheck(), []string{"a1", "b2", "c3", "user"})
	same(t, "woken", w.WokenAgents(three...), []string{"a1"})
}

// Others do not wait for one whose API asks to be left alone for long.
func TestRoundRobinPassesOverAgentsWithALongPause(t *testing.T) {
	t.Parallel()
	w := newHubWithAnswers(t, parley.AnswersRoundRobin)
	w.SayIn("user", "open", "@c3 @a1")
	why := &parley.RunError{Trouble: parley.Trouble{Failure: parley.FailureBusy, After: time.Hour}}
	resultOf[parley.Run](w)(w.FailRun(ctx, w.StartRun("c3").Run.ID, why, parley.Result{}, nil))
	w.EndRun(w.StartRun("a1"), "")
	w.AdvanceLeases(time.Hour)
	w.EndRun(w.StartRun("c3"), "")
}

// Who cannot start anyway is not asked for again and again.
func TestHaltedAgentsAreNotListedAsWaiting(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("paused", "asleep", "stopped", "bot")
	for _, id := range []string{"paused", "asleep", "stopped", "bot"} {
		w.SendDM("user", id, "work")
	}
	w.commandAs("user", "paused", parley.ActionPause, parley.CommandParameters{})
	w.commandAs("user", "stopped", parley.ActionStop, parley.CommandParameters{})
	resultOf[parley.Agent](w)(w.Sleep(ctx, user, "asleep", began.Add(time.Hour)))
	same(t, "waiting", resultOf[[]string](w)(w.AgentsToWake(ctx)), []string{"bot"})
	w.Clock.Advance(2 * time.Hour)
	same(t, "once its time has come", resultOf[[]string](w)(w.AgentsToWake(ctx)), []string{"asleep", "bot"})
}
