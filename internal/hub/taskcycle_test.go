package hub_test

import (
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// Who waits for a task waits for all that is under it, though the run that delegated that is over.
func TestWaitingForATaskIsPartOfTheCircle(t *testing.T) {
	t.Parallel()
	w := newHub(t, mayLoop)
	w.attached("ana")
	w.dispatched("b", "c")
	defer w.there("ana")()
	waiting := w.turnsTo(as("ana"), parley.Contact{Pattern: parley.PatternDelegate, Agent: "b", Message: "Prepare it", Wait: time.Hour})
	for len(w.waitsBy("ana")) == 0 {
	}
	b := w.starts("b")
	w.delegates(b.Caller(), "c", "Pull figures")
	w.finish(b, "wait for it")
	c := w.starts("c")
	same(t, "heard", w.asks(c.Caller(), "ana", "which?").hears(), "E005 Error: Waiting for ana"+circular+"ana → c → ana. Use 'delegate' for async processing.")
	other := w.asks(w.working("c").Caller(), "ana", "when you are free?") // another run, outside the task: it only waits its turn
	other.waits()
	w.finish(c, "42")
	w.answers("b", "the report")
	same(t, "heard", waiting.hears(), "Response from b: the report")
	w.reply("ana", other.request.ID, "now")
	same(t, "heard", other.hears(), "Response from ana: now")
}

// A delegation that could not be waited for is not made.
func TestNothingIsDelegatedIntoACircle(t *testing.T) {
	t.Parallel()
	w := newHub(t, mayLoop)
	w.attached("ana")
	w.dispatched("b")
	defer w.there("ana")()
	asks := w.asks(as("ana"), "b", "well?")
	b := w.starts("b")
	_, err := w.Contact(ctx, b.Caller(), parley.Contact{Pattern: parley.PatternDelegate, Agent: "ana", Message: "Draft it", Wait: time.Hour})
	same(t, "code", parley.CodeOf(err), parley.DependencyFailed)
	same(t, "tasks", len(get[[]parley.TaskView](w)(w.Tasks(ctx, user, parley.TaskFilter{}))), 0)
	w.finish(b, "so")
	asks.hears()
}
