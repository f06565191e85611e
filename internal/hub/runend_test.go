package hub_test

import (
	"context"
	"errors"
	"io"
	"math"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/hubtest"
)

func TestRunEndsOnce(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	m := w.SendDM("user", "codex", "hello").Message
	a := w.StartRun("codex")
	result := parley.Result{Text: "done", Session: "s-1", Usage: parley.Usage{InputTokens: 3, OutputTokens: 4, Cost: 0.5}}
	first := resultOf[parley.Run](w)(w.FinishRun(ctx, a.Run.ID, result, []byte("raw")))
	same(t, "run", []any{first.State, first.Session, first.Usage, *first.EndedAt}, []any{parley.RunSucceeded, "s-1", result.Usage, began})
	for _, again := range []parley.Run{
		resultOf[parley.Run](w)(w.FinishRun(ctx, a.Run.ID, parley.Result{Text: "more"}, nil)), w.FailRunWith(a, parley.FailureFinal),
	} {
		same(t, "again", again, first)
	}
	w.NoError(w.RecoverRun(ctx, a.Run.ID))
	same(t, "said", w.TextsIn("user", m.Conversation), []string{"hello", "done"})
	same(t, "output", string(resultOf[[]byte](w)(w.RunOutput(ctx, user, a.Run.ID))), "raw")
	_, err := w.ExtendRunLease(ctx, a.Run.ID)
	wantError(t, err, refusalError(parley.BadInput, parley.Conflict, "the run "+a.Run.ID+" has ended",
		"see how it ended: parley agent run "+a.Run.ID))
}

// A runtime that has not said when it began has, at the latest, when it ends.
func TestRunThatNeverBeganCanFinish(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	m := w.SendDM("user", "codex", "hello").Message
	same(t, "state", w.EndRun(w.NextRunOf("codex"), "done").State, parley.RunSucceeded)
	same(t, "what woke it", w.DeliveryState(m.ID, "codex"), parley.DeliveryAnswered)
}

func TestFailureDecidesWhetherARunIsRetried(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		failure   parley.Failure
		run       parley.RunState
		delivery  parley.DeliveryState
		attempt   int
		pause     time.Duration // until the next run can start
		errorText string
	}{
		{parley.FailureLost, parley.RunLost, parley.DeliveryAccepted, 1, 0, ""},
		{parley.FailureBusy, parley.RunFailed, parley.DeliveryAccepted, 1, 5 * time.Second, ""},
		{parley.FailureServer, parley.RunFailed, parley.DeliveryAccepted, 1, 2 * time.Second, ""},
		{parley.FailureNoStart, parley.RunFailed, parley.DeliveryAccepted, 1, 5 * time.Second, ""},
		{parley.FailureStopped, parley.RunCancelled, parley.DeliveryAccepted, 0, 0, ""},
		{parley.FailureFinal, parley.RunFailed, parley.DeliveryFailed, 1, -1, "Error: codex did not do this: it broke. Hint: mend it."},
	} {
		t.Run(string(c.failure), func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.AddScriptAgents("codex")
			m := w.SendDM("user", "codex", "hello").Message
			a := w.StartRun("codex")
			r := w.FailRunWith(a, c.failure)
			same(t, "run", []any{r.State, r.Answer}, []any{c.run, ""})
			d := w.DeliveryOf(m.ID, "codex")
			same(t, "delivery", []any{d.State, d.Attempt, d.Run == ""}, []any{c.delivery, c.attempt, c.delivery == parley.DeliveryAccepted})
			same(t, "told", strings.Join(textsOf(w.HubMessagesTo("user")), ""), c.errorText)
			if c.pause < 0 {
				w.AdvanceLeases(time.Hour)
				w.AssertIdle("codex")
				return
			}
			if c.pause > 0 {
				w.AdvanceLeases(c.pause - time.Millisecond)
				w.AssertIdle("codex")
				w.AdvanceLeases(time.Millisecond)
			}
			again := w.StartRun("codex")
			same(t, "attempt", again.Run.Attempt, c.attempt+1)
			w.EndRun(again, "done")
			same(t, "said", w.TextsIn("user", m.Conversation), []string{"hello", "done"})
			w.AssertConsistent()
		})
	}
}

func TestRunThatFailsTooOftenLeavesADeadLetter(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	w.EditAgent("codex", func(a *parley.Agent) { a.Attempts = 2 })
	m := w.SendDM("user", "codex", "hello").Message
	w.FailRunWith(w.StartRun("codex"), parley.FailureServer)
	w.AdvanceLeases(time.Minute)
	w.FailRunWith(w.StartRun("codex"), parley.FailureBusy)
	same(t, "state", w.DeliveryState(m.ID, "codex"), parley.DeliveryDead)
	w.AdvanceLeases(time.Hour)
	w.AssertIdle("codex")
	resultOf[parley.Delivery](w)(w.RetryDead(ctx, user, m.ID, "codex"))
	w.RunAndAnswer("codex", "at last")
}

func TestKeptRunKeepsItsLeases(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	m := w.SendDM("user", "codex", "hello").Message
	a := w.StartRun("codex")
	for range 3 {
		w.AdvanceLeases(50 * time.Second)
		same(t, "to end", resultOf[string](w)(w.ExtendRunLease(ctx, a.Run.ID)), "")
	}
	same(t, "state", w.RunByID(a.Run.ID).State, parley.RunRunning)
	w.AdvanceLeases(time.Minute) // nobody keeps it
	same(t, "state", w.RunByID(a.Run.ID).State, parley.RunLost)
	same(t, "what woke it", w.DeliveryState(m.ID, "codex"), parley.DeliveryAccepted)
	if _, err := w.IdentifyAt(ctx, a.Token, ownPlace(a)); parley.AsError(err).Reason != parley.Unauthenticated {
		t.Errorf("the token of a lost run: %v", err)
	}
	same(t, "its end is nobody's any more", w.EndRun(a, "too late").State, parley.RunLost)
	w.AdvanceLeases(time.Second)
	w.RunAndAnswer("codex", "in time")
	same(t, "said", w.TextsIn("user", m.Conversation), []string{"hello", "in time"})
}

// Whatever step of a run the process dies after, the message is answered once, by a later run.
func TestCrashBetweenAnyTwoSteps(t *testing.T) {
	t.Parallel()
	steps := []func(w *fixture, a *hub.Assignment){
		func(*fixture, *hub.Assignment) {},
		func(w *fixture, a *hub.Assignment) { resultOf[parley.RunContext](w)(w.RunContext(ctx, a.Run.ID)) },
		func(w *fixture, a *hub.Assignment) {
			w.NoError(w.BeginRun(ctx, a.Run.ID, parley.Process{PID: 7, Started: 1}))
		},
		func(w *fixture, a *hub.Assignment) { resultOf[string](w)(w.ExtendRunLease(ctx, a.Run.ID)) },
		func(w *fixture, a *hub.Assignment) {
			w.PostFromRun(a, parley.Draft{Conversation: "open", Content: text("half")})
		},
		func(w *fixture, a *hub.Assignment) { w.EndRun(a, "answer") },
	}
	for crash := range steps {
		for _, sweepFirst := range []bool{false, true} {
			w := newHub(t)
			w.AddScriptAgents("codex")
			w.CreateChannel("user", "open", "codex")
			m := w.SayIn("user", "open", "@codex").Message
			a := w.NextRunOf("codex")
			for _, step := range steps[:crash+1] {
				step(w, a)
			}
			w.RestartAndRecover()
			if sweepFirst {
				w.SweepDueDeliveries()
			}
			lost := resultOf[[]parley.Run](w)(w.LostRuns(ctx, node))
			begun := crash >= 2
			same(t, "lost, and its process may live", len(lost), boolInt(crash < len(steps)-1 && begun))
			for _, r := range lost {
				same(t, "its process", r.Process.PID, 7*boolInt(begun))
				w.NoError(w.RecoverRun(ctx, r.ID))
			}
			same(t, "lost after that", len(resultOf[[]parley.Run](w)(w.LostRuns(ctx, node))), 0)
			if again := w.NextRunOf("codex"); again != nil {
				same(t, "attempt", again.Run.Attempt, 1)
				w.PostFromRun(again, parley.Draft{Conversation: "open", Content: text("half")})
				w.EndRun(again, "answer")
			}
			want := []string{"@codex", "half", "answer"}
			same(t, "said", w.TextsIn("user", "open"), want)
			same(t, "what woke it", w.DeliveryState(m.ID, "codex"), parley.DeliveryAnswered)
			w.AssertIdle("codex")
			w.AssertConsistent()
		}
	}
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// A later attempt that makes the same calls gets what the earlier one has posted, call by call.
func TestLaterAttemptRepeatsNoCall(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	w.CreateChannel("user", "open", "codex")
	w.SayIn("user", "open", "@codex")
	same1 := parley.Draft{Conversation: "open", Content: text("same")}
	a := w.StartRun("codex")
	one, two := w.PostFromRun(a, same1), w.PostFromRun(a, same1)
	w.FailRunWith(a, parley.FailureLost)
	w.AdvanceLeases(time.Minute)
	b := w.StartRun("codex")
	earlier := resultOf[parley.RunContext](w)(w.RunContext(ctx, b.Run.ID)).Earlier
	same(t, "is told", []string{earlier[0].ID, earlier[1].ID}, []string{one.Message.ID, two.Message.ID})
	for i, want := range []parley.Receipt{one, two} {
		again := w.PostFromRun(b, same1)
		same(t, "the call again", []any{again.Message.ID, again.Duplicate, i}, []any{want.Message.ID, true, i})
	}
	if third := w.PostFromRun(b, same1); third.Duplicate {
		t.Error("a call that the earlier attempt had not made was not made")
	}
	w.PostFromRun(b, parley.Draft{Conversation: "open", Content: text("other")})
	same(t, "posts", len(w.RunByID(b.Run.ID).Posts), 4)
	// What an earlier attempt has said is not said again as the answer either.
	same(t, "answer", w.EndRun(b, "other").State, parley.RunSucceeded)
	same(t, "said", w.TextsIn("user", "open"), []string{"@codex", "same", "same", "same", "other"})
	_, err := w.Post(ctx, b.Caller(), same1)
	same(t, "after its end", parley.AsError(err).Reason, parley.Conflict)
}

func TestRunTokenIsGoodWhileTheRunLives(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	w.SendDM("user", "codex", "hello")
	a := w.StartRun("codex")
	caller := resultOf[hub.Caller](w)(w.IdentifyAt(ctx, a.Token, ownPlace(a)))
	same(t, "what it may do", caller.Scopes, parley.Scopes{parley.ScopeRead, parley.ScopeSend}) // nobody reports to it
	caller.Source, caller.Scopes = a.Caller().Source, a.Caller().Scopes
	same(t, "caller", caller, a.Caller())
	same(t, "it is nothing to be listed", len(firstOf(w.Tokens(ctx, user, parley.TokenFilter{}))), 0)
	w.EndRun(a, "done")
	_, err := w.IdentifyAt(ctx, a.Token, ownPlace(a))
	same(t, "afterwards", parley.AsError(err).Reason, parley.Unauthenticated)
	w.NoError(w.Store.View(ctx, func(tx storage.Tx) error {
		_, err := tx.Tokens().Get(a.Run.ID)
		same(t, "its row", errors.Is(err, parley.ErrNotFound), true)
		return nil
	}))
}

// What a run has opened with its token is closed when the run ends, however it does.
func TestOpenCallsOfARunEndWithIt(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.Start(ctx)
	w.AddScriptAgents("codex", "other")
	w.SendDM("user", "other", "hello")
	other, release, err := w.WatchCredential(ctx, w.StartRun("other").Caller())
	w.NoError(err)
	defer release()
	for _, end := range []func(a *hub.Assignment){
		func(a *hub.Assignment) { w.EndRun(a, "done") },
		func(a *hub.Assignment) { w.FailRunWith(a, parley.FailureFinal) },
		func(a *hub.Assignment) { w.FailRunWith(a, parley.FailureStopped) },
		func(a *hub.Assignment) { w.NoError(w.RecoverRun(ctx, a.Run.ID)) },
	} {
		w.PostAs("user", parley.Draft{Direct: []string{"codex"}, Ephemeral: true})
		a := w.StartRun("codex")
		held, release, err := w.WatchCredential(ctx, a.Caller())
		w.NoError(err)
		end(a)
		<-held.Done()
		same(t, "cause", parley.AsError(context.Cause(held)).Reason, parley.Unauthenticated)
		release()
	}
	w.NoError(other.Err())
}

// refusing is a store that fails once to store a message, like a store that loses its connection.
type refusing struct {
	storage.Store
	once *atomic.Bool
}

type refusingTx struct {
	storage.Tx
	once *atomic.Bool
}

type refusingMessages struct {
	storage.MessageStore
	once *atomic.Bool
}

func (s refusing) Update(ctx context.Context, fn func(storage.Tx) error) error {
	return s.Store.Update(ctx, func(tx storage.Tx) error { return fn(refusingTx{tx, s.once}) })
}

func (tx refusingTx) Messages() storage.MessageStore {
	return refusingMessages{tx.Tx.Messages(), tx.once}
}

func (m refusingMessages) Insert(message parley.Message) error {
	if m.once.Swap(false) {
		return parley.Errorf(parley.Unavailable, "cannot reach the database: %w", io.ErrUnexpectedEOF)
	}
	return m.MessageStore.Insert(message)
}

// A finished run has not failed because the store was away when its answer came.
func TestAnAnswerOutlivesALostConnection(t *testing.T) {
	t.Parallel()
	once := &atomic.Bool{}
	w := newHub(t, func(w *fixture) {
		w.WrapStore = func(s storage.Store) storage.Store { return refusing{hubtest.Diskless(s), once} }
	})
	w.AddScriptAgents("codex")
	m := w.SendDM("user", "codex", "hello").Message
	a := w.StartRun("codex")
	once.Store(true)
	_, err := w.FinishRun(ctx, a.Run.ID, parley.Result{Text: "done"}, nil)
	same(t, "at first", parley.CodeOf(err), parley.Unavailable)
	same(t, "it lives", w.RunByID(a.Run.ID).State, parley.RunRunning)
	same(t, "then", w.EndRun(a, "done").State, parley.RunSucceeded)
	same(t, "what woke it", w.DeliveryState(m.ID, "codex"), parley.DeliveryAnswered)
}

func firstOf(list []parley.Token, _ string, err error) []parley.Token {
	if err != nil {
		panic(err)
	}
	return list
}

func TestRemovedAgentsRunsAreCancelled(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	m := w.SendDM("user", "codex", "hello").Message
	a := w.StartRun("codex")
	w.NoError(w.RemoveAgent(ctx, user, "codex"))
	same(t, "run", w.RunByID(a.Run.ID).State, parley.RunCancelled)
	same(t, "what woke it", w.DeliveryState(m.ID, "codex"), parley.DeliveryFailed)
	same(t, "its end", w.EndRun(a, "done").State, parley.RunCancelled)
	same(t, "told", len(w.HubMessagesTo("user")), 1)
	w.AssertConsistent()
}

func TestDeletedConversationsRunsAreOver(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	w.CreateChannel("user", "open", "codex")
	w.SayIn("user", "open", "@codex")
	a := w.StartRun("codex")
	w.NoError(w.DeleteConversation(ctx, user, "open"))
	for name, call := range map[string]func() error{
		"keep":   func() error { _, err := w.ExtendRunLease(ctx, a.Run.ID); return err },
		"finish": func() error { _, err := w.FinishRun(ctx, a.Run.ID, parley.Result{Text: "x"}, nil); return err },
		"fail": func() error {
			_, err := w.FailRun(ctx, a.Run.ID, &parley.RunError{}, parley.Result{}, nil)
			return err
		},
	} {
		same(t, name, parley.AsError(call()).Reason, parley.Conflict)
	}
	same(t, "live", len(resultOf[[]parley.Run](w)(w.Runs(ctx, user, parley.RunFilter{Live: true}))), 0)
	w.NoError(w.RecoverRun(ctx, a.Run.ID))
	w.AssertConsistent()
}

// A run that was told to end, and holds nothing any more, is found when its time is up.
func TestRunThatHoldsNothingIsLostAfterItsDeadline(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	m := w.SendDM("user", "codex", "hello").Message
	a := w.StartRun("codex")
	w.PostFromRun(a, parley.Draft{InReplyTo: m.ID, Content: text("done")})
	w.Clock.Advance(11 * time.Minute)
	w.NoError(w.Sweep(ctx))
	same(t, "state", w.RunByID(a.Run.ID).State, parley.RunRunning)
	w.Clock.Advance(2 * time.Minute)
	w.NoError(w.Sweep(ctx))
	same(t, "state", w.RunByID(a.Run.ID).State, parley.RunLost)
	same(t, "what woke it", w.DeliveryState(m.ID, "codex"), parley.DeliveryAnswered)
}

func TestResultsOfARuntimeAreSanitised(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	w.SendDM("user", "codex", "hello")
	a := w.StartRun("codex")
	w.RunLogs(a.Run.ID, []byte("\xff\x00"))
	r := resultOf[parley.Run](w)(w.FailRun(ctx, a.Run.ID,
		&parley.RunError{Trouble: parley.Trouble{Reason: "a\x00b\xff"}, Hint: "\xff"},
		parley.Result{Session: "s\x00", Usage: parley.Usage{InputTokens: -1, Cost: math.NaN()}}, nil))
	same(t, "run", []any{r.State, r.Session, r.Usage, r.Failure.Message}, []any{
		parley.RunFailed, "", parley.Usage{}, "codex did not do this: ab",
	})
	same(t, "output", string(resultOf[[]byte](w)(w.RunOutput(ctx, user, r.ID))), "\xff\x00")
}
