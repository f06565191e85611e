package hub_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// TestCrashReturnsLeasedMessagesAtOnceAndInOrder: what somebody had when the hub ended comes before what came later, and
// no attempt counts.
func TestCrashReturnsLeasedMessagesAtOnceAndInOrder(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	var sent []parley.Message
	for i := range 5 {
		sent = append(sent, w.SendDM("arya", "ned", fmt.Sprint(i)).Message)
	}
	w.TakeAs("ned", parley.Take{Limit: 1, Lease: 12 * time.Hour})
	w.TakeAs("ned", parley.Take{Limit: 2, Seen: true, Run: "run-1"})
	w.RestartAndRecover()
	for _, m := range sent {
		d := w.DeliveryOf(m.ID, "ned")
		same(t, "ready, and nothing is left of the attempt",
			[]any{d.State, d.Attempt, d.Failure, d.Lease, d.Node, d.Until, d.DeliveredAt, d.SeenAt, d.Run},
			[]any{parley.DeliveryAccepted, 0, (*parley.Error)(nil), "", "", parley.Tick(0), (*time.Time)(nil), (*time.Time)(nil), ""})
	}
	same(t, "taken", w.TakeTexts("ned", parley.Take{}), []string{"0", "1", "2", "3", "4"})
	same(t, "nobody is told", len(w.HubMessagesTo("arya")), 0)
	w.AssertConsistent()
}

// TestCrashKeepsAttempts: failed attempts still count after a crash.
func TestCrashKeepsAttempts(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.EditAgent("ned", func(a *parley.Agent) { a.Attempts = 2 })
	m := w.SendDM("arya", "ned", "hopeless").Message
	w.NackTaken("ned", w.TakeAs("ned", parley.Take{}), parley.FailureBusy)
	w.AdvanceLeases(time.Minute)
	for range 3 {
		w.TakeAs("ned", parley.Take{})
		w.RestartAndRecover()
		same(t, "after a crash", w.retryState(m.ID, "ned"), retryState{State: parley.DeliveryAccepted, Attempt: 1})
	}
	w.NackTaken("ned", w.TakeAs("ned", parley.Take{}), parley.FailureBusy)
	same(t, "after the last attempt", w.DeliveryState(m.ID, "ned"), parley.DeliveryDead)
}

// TestCrashOfOneHubLeavesTheLeasesOfAnother: on a shared database a hub puts back only what was leased through it.
func TestCrashOfOneHubLeavesTheLeasesOfAnother(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Node = "one" })
	w.AddAgents("arya", "ned", "bran", "sansa")
	for _, to := range []string{"ned", "bran", "sansa"} {
		w.SendDM("arya", to, "hello")
	}
	other := otherHub(w, "two")
	w.TakeAs("ned", parley.Take{})
	held := resultOf[parley.Taken](w)(other.Take(ctx, as("bran"), parley.Take{Lease: time.Hour}))
	moved := w.TakeAs("sansa", parley.Take{Lease: time.Hour})
	resultOf[[]parley.Delivery](w)(other.Extend(ctx, as("sansa"), moved.Lease, time.Hour))

	again := otherHub(w, "one")
	w.NoError(again.Recover(ctx))
	take := func(who string) int {
		return len(resultOf[parley.Taken](w)(again.Take(ctx, as(who), parley.Take{})).Deliveries)
	}
	same(t, "through the hub that ended, another, and another that has extended it", []int{take("ned"), take("bran"), take("sansa")}, []int{1, 0, 0})
	for who, lease := range map[string]string{"bran": held.Lease, "sansa": moved.Lease} {
		same(t, "still held by "+who, len(resultOf[[]parley.Delivery](w)(other.Extend(ctx, as(who), lease, 0))), 1)
	}
}

// otherHub returns a second hub on the store of a fixture, as another process.
func otherHub(w *fixture, node string) *hub.Hub {
	w.T.Helper()
	config := w.Config
	config.Node = node
	h, err := hub.New(ctx, w.WrapStore(w.Store), config)
	w.NoError(err)
	return h
}

// TestCrashOfTheHubIsNoAttemptOfARun: the run is lost, and the next has the same messages and those that came later.
func TestCrashOfTheHubIsNoAttemptOfARun(t *testing.T) {
	t.Parallel()
	for name, begin := range map[string]func(*fixture) *hub.Assignment{
		"starting": func(w *fixture) *hub.Assignment { return w.NextRunOf("codex") },
		"running":  func(w *fixture) *hub.Assignment { return w.StartRun("codex") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddScriptAgents("codex")
			w.EditAgent("codex", func(a *parley.Agent) { a.Attempts = 1 })
			first := w.SendDM("user", "codex", "first").Message
			lost := begin(w)
			second := w.SendDM("user", "codex", "second").Message
			w.RestartAndRecover()
			same(t, "run", w.RunByID(lost.Run.ID).State, parley.RunLost)
			same(t, "what woke it", w.retryState(first.ID, "codex"), retryState{State: parley.DeliveryAccepted})
			again := w.StartRun("codex")
			same(t, "the next run", []any{again.Run.Triggers, again.Run.Attempt}, []any{[]string{first.ID, second.ID}, 1})
			w.EndRun(again, "done")
			same(t, "answered", []parley.DeliveryState{w.DeliveryState(first.ID, "codex"), w.DeliveryState(second.ID, "codex")},
				[]parley.DeliveryState{parley.DeliveryAnswered, parley.DeliveryAnswered})
			w.AssertConsistent()
		})
	}
}

// TestRunAfterACrashGoesOnWithItsTask: the run that was lost had been given a task, which the next one is in too.
func TestRunAfterACrashGoesOnWithItsTask(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex", "writer")
	w.SendDM("user", "codex", "have it written")
	a := w.StartRun("codex")
	delegate := parley.Contact{Pattern: parley.PatternDelegate, Agent: "writer", Message: "write"}
	made := resultOf[parley.Contacted](w)(w.Contact(ctx, a.Caller(), delegate))
	task := w.RunByID(a.Run.ID).Task
	w.RestartAndRecover()
	again := w.StartRun("codex")
	same(t, "task", again.Run.Task, task)
	repeated := resultOf[parley.Contacted](w)(w.Contact(ctx, again.Caller(), delegate))
	same(t, "the same call", []any{repeated.Message, repeated.Duplicate}, []any{made.Message, true})
}

// TestCrashOfTheHubFailsAnAskThatARunHadBegunToAnswer: an ask is tried once.
func TestCrashOfTheHubFailsAnAskThatARunHadBegunToAnswer(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	ask := w.postForPurpose(parley.PurposeAsk, "user", "codex", "well?")
	w.StartRun("codex")
	w.RestartAndRecover()
	same(t, "failed", w.retryState(ask.ID, "codex"), retryState{State: parley.DeliveryFailed, Attempt: 1})
}

// TestCrashOfTheHubReturnsAnAskThatAnAgentHadFetched: the agent is no part of the hub, and may answer it yet.
func TestCrashOfTheHubReturnsAnAskThatAnAgentHadFetched(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	ask := w.postForPurpose(parley.PurposeAsk, "arya", "ned", "well?")
	w.TakeAs("ned", parley.Take{})
	w.RestartAndRecover()
	same(t, "ready", w.retryState(ask.ID, "ned"), retryState{State: parley.DeliveryAccepted})
}

// TestMessageThatEndsTheHubAgainAndAgainBecomesADeadLetter: without a bound, it would for ever.
func TestMessageThatEndsTheHubAgainAndAgainBecomesADeadLetter(t *testing.T) {
	t.Parallel()
	const most = 20
	w := newHub(t)
	w.AddScriptAgents("codex")
	m := w.SendDM("user", "codex", "poison").Message
	for range most - 1 {
		w.StartRun("codex")
		w.RestartAndRecover()
		same(t, "before", w.retryState(m.ID, "codex"), retryState{State: parley.DeliveryAccepted})
	}
	w.StartRun("codex")
	w.RestartAndRecover()
	d := w.DeliveryOf(m.ID, "codex")
	same(t, "dead", []any{d.State, d.Failure}, []any{parley.DeliveryDead, refusalError(parley.Unavailable, "",
		"codex did not do this: the hub or the program ended before the run did, 20 times", "an owner can retry or drop it: parley dead list")})
	resultOf[parley.Delivery](w)(w.RetryDead(ctx, user, m.ID, "codex"))
	w.EndRun(w.StartRun("codex"), "done")
	same(t, "after a retry", w.DeliveryState(m.ID, "codex"), parley.DeliveryAnswered)
}

// TestKilledProgramReturnsItsMessagesAtOnce: a run's program is gone while the hub lives.
func TestKilledProgramReturnsItsMessagesAtOnce(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	first := w.SendDM("user", "codex", "first").Message
	a := w.StartRun("codex")
	second := w.SendDM("user", "codex", "second").Message
	w.FailRunWith(a, parley.FailureLost)
	same(t, "ready, and an attempt counts", w.retryState(first.ID, "codex"), retryState{State: parley.DeliveryAccepted, Attempt: 1})
	same(t, "the next run", w.StartRun("codex").Run.Triggers, []string{first.ID, second.ID})
}

// fullStore is a store on a disk that the test fills.
type fullStore struct {
	storage.Store
	full atomic.Bool
}

func (s *fullStore) Update(ctx context.Context, fn func(storage.Tx) error) error {
	if s.full.Load() {
		return parley.Errorf(parley.Unavailable, "the disk is full").Because(parley.StorageFull)
	}
	return s.Store.Update(ctx, fn)
}

// TestNothingIsHandedOutBeforeTheHubHasRecovered: if the store cannot be written at the start, nothing overtakes either.
func TestNothingIsHandedOutBeforeTheHubHasRecovered(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.AddScriptAgents("codex")
	for _, to := range []string{"ned", "codex"} {
		w.SendDM("arya", to, "first")
	}
	w.TakeAs("ned", parley.Take{})
	w.StartRun("codex")
	for _, to := range []string{"ned", "codex"} {
		w.SendDM("arya", to, "second")
	}
	w.CreateChannel("user", "open", "codex")
	w.SayIn("user", "open", "@codex beside it")
	full := &fullStore{}
	w.WrapStore = func(s storage.Store) storage.Store { full.Store = s; return full }
	w.Restart()
	full.full.Store(true)
	same(t, "at the start", parley.AsError(w.Recover(ctx)).Reason, parley.StorageFull)
	for what, call := range map[string]func() error{
		"take": func() error { return errorOf(w.Take(ctx, as("ned"), parley.Take{})) },
		"run":  func() error { return errorOf(w.NextRun(ctx, "codex", hub.RunOptions{Node: node})) },
		"post": func() error {
			return errorOf(w.Post(ctx, as("arya"), parley.Draft{Direct: []string{"ned"}, Content: text("third")}))
		},
	} {
		same(t, what, parley.AsError(call()).Reason, parley.StorageFull)
	}
	full.full.Store(false)
	same(t, "once there is room", w.TakeTexts("ned", parley.Take{}), []string{"first", "second"})
	same(t, "and the runs", []string{w.StartRun("codex").Messages[0].Content.Text, w.StartRun("codex").Messages[0].Content.Text},
		[]string{"first", "@codex beside it"})
}
