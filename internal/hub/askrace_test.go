package hub_test

import (
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// TestAskHasOneOutcome has everything happen at once that may end an ask: its answer, the end of its time, the end of
// the run that answers, of the run that asks, and of the call.
func TestAskHasOneOutcome(t *testing.T) {
	t.Parallel()
	w := newHub(t, func(w *fixture) { w.Config.Asks.Wait = 3 * time.Millisecond })
	w.AddScriptAgents("a", "b")
	for round := range 12 {
		run := w.WakeAndStartRun("a")
		a := w.beginAsk(run.Caller(), "b", "well?")
		b := w.StartRun("b")
		before := len(w.askResultsTo("a"))
		ends := []func(){
			func() { _, _ = w.FinishRun(ctx, b.Run.ID, parley.Result{Text: "yes"}, nil) },
			func() { _, _ = w.Post(ctx, b.Caller(), parley.Draft{InReplyTo: a.request.ID, Content: text("yes")}) },
			func() { w.NoError(w.RecoverRun(ctx, b.Run.ID)) },
			func() {
				if round%3 == 0 {
					w.FailRunWith(run, parley.FailureFinal)
				}
			},
			func() {
				if round%3 == 1 {
					a.giveUp()
				}
			},
		}
		inParallel(len(ends), func(n int) { ends[n]() })
		<-a.done
		wait := w.askWait(a.request.ID)
		brought := len(w.askResultsTo("a")) - before
		if !wait.State.Ended() {
			t.Errorf("round %d: the wait is %s", round, wait.State)
		}
		if (wait.Callback != "") != (brought == 1) || brought > 1 {
			t.Errorf("round %d: %d were brought, and the wait has %q", round, brought, wait.Callback)
		}
		if heard := a.err == nil || parley.CodeOf(a.err) == parley.DependencyFailed; heard && brought > 0 {
			t.Errorf("round %d: it was told inline (%v), and it was brought", round, a.err)
		}
		if parley.CodeOf(a.err) == parley.TimedOut && a.made.Outcome == parley.ContactLate && brought != 1 && w.RunByID(run.Run.ID).State.Live() {
			t.Errorf("round %d: it was late, and nothing was brought", round)
		}
		_, _ = w.FinishRun(ctx, run.Run.ID, parley.Result{}, nil)
		for woken := w.NextRunOf("a"); woken != nil; woken = w.NextRunOf("a") {
			w.EndRun(woken, "")
		}
		w.AssertIdle("a", "b")
	}
	w.AssertConsistent()
}
