package hub_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// taskMachine makes agents delegate to each other, ask each other, make held calls and fail, at random. It also cancels tasks and kills
// runs and the hub.
type taskMachine struct {
	w      *fixture
	agents []string
	live   []*hub.Assignment
	spent  map[string]int64 // tokens by run; a run may get its task after its end
	asked  []*inquiry
}

// TestRandomTaskTreesEndConsistently runs random trees to their end: nothing is open under what has ended, what was used adds
// up, each subtask was called back once, and whoever asked was told once what came of it, whatever the answerer delegated or had
// approved meanwhile.
func TestRandomTaskTreesEndConsistently(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		x := &taskMachine{w: openFixture(rt, stores.NewPlace(t), mayLoop), agents: []string{"arya", "bran", "ned"}, spent: map[string]int64{}}
		x.w.AddScriptAgents(x.agents...)
		x.w.AddPermission("ned", "bran", parley.EffectAllow, withApproval)
		x.w.SendDM("user", "arya", "begin")
		rt.Repeat(map[string]func(*rapid.T){
			"start": x.start, "delegate": x.delegate, "end": x.end, "harm": x.harm, "ask": x.ask, "park": x.park, "hold": x.hold,
			"decide": x.decide, "": x.check,
		})
		x.drain(rt)
		x.check(rt)
		for _, v := range x.tasks() {
			if !v.Status.Ended() {
				rt.Errorf("%s is %s for ever", v.ID, v.Status)
			}
		}
		x.assertOutcomes(rt)
		x.w.AssertConsistent()
	})
}

func (x *taskMachine) start(t *rapid.T) {
	if a := x.w.NextRunOf(rapid.SampledFrom(x.agents).Draw(t, "agent")); a != nil {
		x.w.NoError(x.w.BeginRun(ctx, a.Run.ID, parley.Process{}))
		x.live = append(x.live, a)
	}
}

// one draws a live run.
func (x *taskMachine) one(t *rapid.T, among ...*hub.Assignment) *hub.Assignment {
	if len(among) == 0 {
		t.Skip("there is no such run")
	}
	return among[rapid.IntRange(0, len(among)-1).Draw(t, "run")]
}

// other draws an agent that a run can contact.
func (x *taskMachine) other(t *rapid.T, a *hub.Assignment) string {
	return rapid.SampledFrom(slices.DeleteFunc(slices.Clone(x.agents), func(id string) bool { return id == a.Run.Agent })).Draw(t, "to")
}

func (x *taskMachine) delegate(t *rapid.T) {
	x.delegates(t, x.one(t, x.free()...))
}

func (x *taskMachine) delegates(t *rapid.T, a *hub.Assignment) {
	to := x.other(t, a)
	c := parley.Contact{Pattern: parley.PatternDelegate, Agent: to, Message: "part"}
	if list := x.tasks(); len(list) > 0 && rapid.Bool().Draw(t, "after") {
		c.After = []string{rapid.SampledFrom(list).Draw(t, "needs").ID}
	}
	_, err := x.w.Contact(ctx, a.Caller(), c)
	if _, held := errors.AsType[*parley.Held](err); held {
		return
	}
	switch parley.CodeOf(err) {
	case "", parley.BadInput, parley.DependencyFailed: // not visible, a cycle, too deep, or ended
	default:
		t.Fatalf("delegate: %v", err)
	}
}

func (x *taskMachine) end(t *rapid.T) {
	failures := []parley.Failure{"", "", "", parley.FailureFinal, parley.FailureBusy}
	x.ends(t, x.one(t, x.free()...), rapid.SampledFrom(failures).Draw(t, "failure"))
}

// ends ends a run with success or with a failure.
func (x *taskMachine) ends(t *rapid.T, a *hub.Assignment, failure parley.Failure) {
	x.live = slices.DeleteFunc(x.live, func(b *hub.Assignment) bool { return a == b })
	used := parley.Result{Text: "done", Usage: parley.Usage{InputTokens: int64(rapid.IntRange(1, 9).Draw(t, "tokens"))}}
	var (
		ended parley.Run
		err   error
	)
	if failure == "" {
		ended, err = x.w.FinishRun(ctx, a.Run.ID, used, nil)
	} else {
		ended, err = x.w.FailRun(ctx, a.Run.ID, &parley.RunError{Trouble: parley.Trouble{Failure: failure}}, used, nil)
	}
	x.w.NoError(err)
	x.spent[ended.ID] = ended.InputTokens
	x.listen()
}

// harm cancels a task, kills a run in the middle of an ask, or kills the hub.
func (x *taskMachine) harm(t *rapid.T) {
	rapid.SampledFrom([]func(*rapid.T){x.cancel, x.kill, x.die}).Draw(t, "kind")(t)
}

// kill ends the program of a run that waits for an answer.
func (x *taskMachine) kill(t *rapid.T) {
	x.ends(t, x.one(t, slices.DeleteFunc(slices.Clone(x.live), func(a *hub.Assignment) bool { return !x.waiting(a) })...), parley.FailureBusy)
}

func (x *taskMachine) cancel(t *rapid.T) {
	list := x.tasks()
	if len(list) == 0 {
		t.Skip("there is no task")
	}
	_, err := x.w.CancelTask(ctx, user, rapid.SampledFrom(list).Draw(t, "task").ID, "at random")
	if err != nil && parley.AsError(err).Reason != parley.Conflict {
		t.Fatalf("cancel: %v", err)
	}
	x.listen()
}

// die restarts the hub as after kill -9.
func (x *taskMachine) die(*rapid.T) {
	x.w.Restart()
	x.live = nil
	for _, q := range x.asked {
		<-q.done // the call has ended with the hub
		q.heard = true
	}
	for _, r := range resultOf[[]parley.Run](x.w)(x.w.LostRuns(ctx, node)) {
		x.w.NoError(x.w.RecoverRun(ctx, r.ID))
		x.listen()
	}
}

func (x *taskMachine) tasks() []parley.TaskView {
	return resultOf[[]parley.TaskView](x.w)(x.w.Tasks(ctx, user, parley.TaskFilter{Limit: 500}))
}

// drain ends all open work, and makes no new work.
func (x *taskMachine) drain(t *rapid.T) {
	for range 1000 {
		for _, a := range x.free() {
			x.w.EndRun(a, "done")
			x.live = slices.DeleteFunc(x.live, func(b *hub.Assignment) bool { return a == b })
		}
		for _, a := range x.pending() {
			x.w.DecideAs("user", a.ID, parley.Decision{Approve: true})
		}
		x.listen()
		x.passTime()
		for _, agent := range x.agents {
			for a := x.w.NextRunOf(agent); a != nil; a = x.w.NextRunOf(agent) {
				x.live = append(x.live, a)
			}
		}
		if len(x.live)+len(x.pending()) == 0 {
			return
		}
	}
	t.Fatalf("it goes on for ever")
}

// passTime advances the time to the next retries. Runs that wait keep their deliveries meanwhile.
func (x *taskMachine) passTime() {
	if len(x.live) == 0 {
		x.w.AdvanceLeases(time.Hour)
		return
	}
	for _, a := range x.live {
		resultOf[string](x.w)(x.w.ExtendRunLease(ctx, a.Run.ID))
	}
	x.w.AdvanceLeases(50 * time.Second)
}

// check checks what must hold at any time.
func (x *taskMachine) check(t *rapid.T) {
	byID := map[string]parley.TaskView{}
	for _, v := range x.tasks() {
		byID[v.ID] = v
	}
	sums := map[string]int64{}
	for run, used := range x.spent {
		for v, found := byID[x.w.RunByID(run).Task]; found; v, found = byID[v.Parent] {
			sums[v.ID] += used
		}
	}
	x.checkAsks(t, byID)
	for id, v := range byID {
		if v.InputTokens != sums[id] {
			t.Errorf("%s has used %d, want %d", id, v.InputTokens, sums[id])
		}
		parent, under := byID[v.Parent]
		if under && parent.Status.Ended() && !v.Status.Ended() {
			t.Errorf("%s is %s under %s, which is %s", id, v.Status, parent.ID, parent.Status)
		}
		if want := v.Status.Ended() && under && v.Source != parley.TaskFromAsk; (v.Callback != "") != want || x.calls(v) != boolInt(want) {
			t.Errorf("%s (%s) was called back %d times, by %q", id, v.Status, x.calls(v), v.Callback)
		}
	}
}

// calls counts the callbacks of a task.
func (x *taskMachine) calls(v parley.TaskView) (n int) {
	if v.CallbackTo == "" {
		return 0
	}
	for _, m := range resultOf[[]parley.Message](x.w)(x.w.History(ctx, user, v.CallbackTo, parley.Page{Limit: 1000})) {
		line, _, _ := strings.Cut(m.Content.Text, "\n")
		if m.From == parley.System && strings.Contains(line+" ", "| "+v.ID+"]") {
			n++
		}
	}
	return n
}
