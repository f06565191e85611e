package hub_test

import (
	"runtime"
	"testing"
)

// TestAWatcherOfAnAskIsNotItsCaller: an owner who only waits for the outcome of an ask does not keep the answer from its asker, who
// has lost its connection.
func TestAWatcherOfAnAskIsNotItsCaller(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("arya")
	w.AddScriptAgents("senior")
	a := w.beginAsk(as("arya"), "senior", "Which way?")
	ask := w.askWait(a.request.ID).ID
	w.awaitOutcomeWhile(user, a.request.ID, func() {
		for w.Watchers(ask) < 2 {
			runtime.Gosched()
		}
		a.giveUp()
		<-a.done
		w.RunAndAnswer("senior", "North.")
	})
	same(t, "brought", w.askResultsTo("arya"), []string{"Response from senior: North."})
	w.AssertConsistent()
}
