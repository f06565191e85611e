package hub_test

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const circular = " would create a deadlock: "

func TestCycleOfWaitsIsRefused(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	named(w, parley.RuntimeAttached, "Ana", "Bea")
	w.AddScriptAgents("b", "c")
	named(w, parley.RuntimeWebhook, "Hook")
	w.EditAgent("hook", func(a *parley.Agent) { a.Concurrency = 1 })
	defer w.openSessions("ana", "bea")()
	refused := func(a *asking, first, path string) {
		t.Helper()
		same(t, "heard", a.resultText(), "E005 Error: Waiting for "+first+circular+path+". Use 'delegate' for async processing.")
	}
	one := w.beginAsk(as("ana"), "b", "what?")
	b := w.StartRun("b")
	refused(w.beginAsk(b.Caller(), "ana", "why?"), "Ana", "Ana → b → Ana")
	refused(w.beginAsk(as("b"), "ana", "why?"), "Ana", "Ana → b → Ana")
	two := w.beginAsk(b.Caller(), "bea", "why?")
	refused(w.beginAsk(as("bea"), "ana", "who?"), "Ana", "Ana → b → Bea → Ana")
	other := w.beginAsk(w.WakeAndStartRun("b").Caller(), "ana", "when you are free?") // another run of b: it only waits its turn
	other.assertWaiting()
	w.ReplyAs("bea", two.request.ID, "so")
	two.resultText()
	w.EndRun(b, "that")
	one.resultText()
	w.ReplyAs("ana", other.request.ID, "now")
	same(t, "heard", other.resultText(), "Response from Ana: now")

	hook := w.WakeAndStartRun("hook")
	three := w.beginAsk(hook.Caller(), "c", "what?")
	c := w.StartRun("c")
	refused(w.beginAsk(c.Caller(), "hook", "why?"), "Hook", "Hook → c → Hook")
	four := w.beginAsk(user, "hook", "and you?")
	w.AssertIdle("hook")
	w.EndRun(c, "that")
	three.resultText()
	w.EndRun(hook, "done")
	w.RunAndAnswer("hook", "me too")
	same(t, "heard", four.resultText(), "Response from Hook: me too")
}

// Waiting for any message counts, where somebody is blocked by it.
func TestWaitingForAMessageIsPartOfTheCycle(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddPollingAgents("ana", "bea")
	w.AddScriptAgents("b")
	defer w.openSessions("ana", "bea")()
	sent := w.SendDM("ana", "bea", "well?").Message
	answered := w.awaitStateInBackground("ana", sent.ID, parley.DeliveryAnswered)
	for len(w.waitsOf("ana")) == 0 {
	}
	same(t, "heard", w.beginAsk(as("bea"), "ana", "what?").resultText(), "E005 Error: Waiting for ana"+circular+"ana → bea → ana. Use 'delegate' for async processing.")
	back := w.SendDM("bea", "ana", "what?").Message
	_, err := w.AwaitState(ctx, as("bea"), back.ID, parley.DeliveryAnswered, time.Minute)
	same(t, "code", parley.CodeOf(err), parley.DependencyFailed)
	resultOf[parley.Shown](w)(w.AwaitState(ctx, as("bea"), back.ID, parley.DeliverySeen, time.Millisecond)) // that is no wait for an answer
	w.ReplyAs("bea", sent.ID, "yes")
	answered()
	same(t, "what is left of it", len(w.waitsOf("ana")), 0)

	run := w.WakeAndStartRun("b")
	m := w.PostFromRun(run, parley.Draft{Direct: []string{"bea"}, Content: text("well?")}).Message
	done := make(chan error, 1)
	go func() { done <- errorOf(w.AwaitState(ctx, run.Caller(), m.ID, parley.DeliveryAnswered, time.Minute)) }()
	for w.RunByID(run.Run.ID).State != parley.RunWaiting {
	}
	w.ReplyAs("bea", m.ID, "yes")
	w.NoError(<-done)
	same(t, "the run goes on", w.RunByID(run.Run.ID).State, parley.RunRunning)
}

// waitsOf returns the waits of a participant outside of runs.
func (w *fixture) waitsOf(who string) (list []parley.Wait) {
	w.T.Helper()
	w.NoError(w.Store.View(ctx, func(tx storage.Tx) (err error) {
		list, err = tx.Waits().OfWaiter(who)
		return err
	}))
	return list
}

// TestOnlyCyclesAreRefused has runs and sessions ask each other at random. An ask is refused if and only if
// its target is a session that waits, through others, for whoever asks.
func TestOnlyCyclesAreRefused(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := openFixture(rt, stores.NewPlace(t), func(w *fixture) { w.Config.Asks = hub.Asks{Depth: 100} })
		sessions, agents := []string{"s-1", "s-2", "s-3", "s-4"}, []string{"a-1", "a-2"}
		w.AddPollingAgents(sessions...)
		w.AddScriptAgents(agents...)
		defer w.openSessions(sessions...)()
		g := &askedGraph{w: w, waits: map[string][]string{}}
		for _, agent := range agents {
			g.adopt(w.WakeAndStartRun(agent))
		}
		callers := func() []string { return append(slices.Sorted(maps.Keys(g.runs)), sessions...) }
		for range rapid.IntRange(3, 12).Draw(rt, "asks") {
			from := rapid.SampledFrom(callers()).Draw(rt, "from")
			to := rapid.SampledFrom(append(sessions, agents...)).Draw(rt, "to")
			if g.agentOf(from) == to {
				continue
			}
			closes := slices.Contains(sessions, to) && g.leads(to, from, map[string]bool{})
			a := w.beginAsk(g.caller(from), to, "well?")
			if refused := a.request.ID == ""; refused != closes {
				rt.Fatalf("%s asks %s: refused %v (%v), though it closes a cycle: %v", from, to, refused, a.err, closes)
			}
			if closes {
				continue
			}
			defer a.giveUp()
			answerer := to
			if slices.Contains(agents, to) {
				answerer = g.adopt(w.StartRun(to))
			}
			g.waits[from] = append(g.waits[from], answerer)
		}
	})
}

// askedGraph is the expected graph of waits. Its nodes are runs, by their ids, and sessions, by their agents.
type askedGraph struct {
	w     *fixture
	runs  map[string]*hub.Assignment
	waits map[string][]string
}

func (g *askedGraph) adopt(a *hub.Assignment) string {
	if g.runs == nil {
		g.runs = map[string]*hub.Assignment{}
	}
	g.runs[a.Run.ID] = a
	return a.Run.ID
}

func (g *askedGraph) agentOf(node string) string { return g.caller(node).Agent }

func (g *askedGraph) caller(node string) hub.Caller {
	if run, is := g.runs[node]; is {
		return run.Caller()
	}
	return as(node)
}

// leads reports whether a path leads from one node to another.
func (g *askedGraph) leads(from, to string, on map[string]bool) bool {
	if from == to {
		return true
	}
	if on[from] {
		return false
	}
	on[from] = true
	defer delete(on, from)
	return slices.ContainsFunc(g.waits[from], func(next string) bool { return g.leads(next, to, on) })
}
