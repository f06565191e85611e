package hub_test

import (
	"errors"
	"fmt"
	"slices"
	"time"

	"pgregory.net/rapid"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	_ "github.com/parley-hub/parley/internal/repeatable" // draws the same values in every run of CI
)

// inquiry is an ask of a run.
type inquiry struct {
	*asking
	by        *hub.Assignment
	heard     bool // the call has returned
	abandoned bool // the run ended before the call got an outcome
}

// told counts how often the asker got the outcome: from the call, and by a callback.
func (q *inquiry) outcomeCount(w parley.Wait) int {
	inline := q.err == nil && q.made.Outcome == parley.ContactAnswered || q.err != nil && w.State == parley.WaitFailed && parley.CodeOf(q.err) == w.Failure.Code
	return boolInt(inline) + boolInt(w.Callback != "")
}

// waiting reports whether a run waits for an ask.
func (x *taskMachine) waiting(a *hub.Assignment) bool {
	return slices.ContainsFunc(x.asked, func(q *inquiry) bool { return q.by == a && !q.heard })
}

// free returns the live runs that wait for no ask.
func (x *taskMachine) free() []*hub.Assignment {
	return slices.DeleteFunc(slices.Clone(x.live), x.waiting)
}

// ask has a run ask another agent. Some asks have a very short wait, so that they end before an answer can come.
func (x *taskMachine) ask(t *rapid.T) { x.question(t) }

// question makes an ask of a random run. It returns nil if the hub refused the ask.
func (x *taskMachine) question(t *rapid.T) *inquiry {
	a := x.one(t, x.free()...)
	c := askContact(x.other(t, a), fmt.Sprint("question ", len(x.asked)))
	if a.Run.Agent == "ned" {
		c.Agent = "arya" // asks of ned to bran need an approval; only hold makes them
	}
	hasty := rapid.IntRange(0, 2).Draw(t, "haste") == 0
	if hasty {
		c.Wait = time.Millisecond
	}
	q := &inquiry{asking: x.w.beginContact(a.Caller(), c), by: a}
	if q.request.ID == "" {
		<-q.done
		if code := parley.CodeOf(q.err); code != parley.DependencyFailed && code != parley.Unavailable {
			t.Fatalf("ask: %v", q.err) // other codes mean that the ask is too deep, the run has ended, or the agent has too many asks
		}
		return nil
	}
	x.asked = append(x.asked, q)
	if hasty {
		<-q.done
	}
	x.listen()
	return q
}

// park has a run ask another agent, which delegates or has a call held, and then ends its run.
func (x *taskMachine) park(t *rapid.T) {
	q := x.question(t)
	if q == nil {
		return
	}
	a := x.w.NextRunOf(q.request.To)
	if a == nil {
		return // the ask has ended already
	}
	x.w.NoError(x.w.BeginRun(ctx, a.Run.ID, parley.Process{}))
	x.live = append(x.live, a)
	if a.Run.Agent == "ned" && rapid.Bool().Draw(t, "held") {
		x.holds(t, a)
	} else {
		x.delegates(t, a)
	}
	x.ends(t, a, "")
}

// hold has a run make a call that the hub holds. The answer of the run then waits for the decision.
func (x *taskMachine) hold(t *rapid.T) {
	x.holds(t, x.one(t, slices.DeleteFunc(x.free(), func(a *hub.Assignment) bool { return a.Run.Agent != "ned" })...))
}

func (x *taskMachine) holds(t *rapid.T, a *hub.Assignment) {
	err := x.w.TryContact(a.Caller(), notifyContact("bran", fmt.Sprint("look ", len(x.asked))))
	if _, held := errors.AsType[*parley.Held](err); !held && err != nil && parley.CodeOf(err) != parley.DependencyFailed {
		t.Fatalf("hold: %v", err)
	}
}

func (x *taskMachine) decide(t *rapid.T) {
	list := x.pending()
	if len(list) == 0 {
		t.Skip("nothing is to be decided")
	}
	x.w.DecideAs("user", rapid.SampledFrom(list).Draw(t, "approval").ID, parley.Decision{Approve: rapid.Bool().Draw(t, "yes")})
	x.listen()
}

// pending returns the undecided approvals.
func (x *taskMachine) pending() []parley.Approval {
	return resultOf[[]parley.Approval](x.w)(x.w.Approvals(ctx, user, parley.ApprovalFilter{State: parley.ApprovalPending, Limit: 500}))
}

// listen waits for the calls whose asks have ended, so that the next random values do not depend on the order of goroutines.
func (x *taskMachine) listen() {
	for _, q := range x.asked {
		w := x.w.askWait(q.request.ID)
		q.abandoned = q.abandoned || w.State == parley.WaitAbandoned
		if w.State != parley.WaitWaiting && !q.heard {
			<-q.done
			q.heard = true
		}
	}
}

// checkAsks checks what must hold at any time: a parked ask ends with its task, and no asker gets an outcome twice.
func (x *taskMachine) checkAsks(t *rapid.T, tasks map[string]parley.TaskView) {
	for _, q := range x.asked {
		w := x.w.askWait(q.request.ID)
		if task, parked := tasks[w.AnswerTask]; parked && task.Status.Ended() != w.State.Ended() {
			t.Errorf("ask %s is %s, and its task %s is %s", w.Message, w.State, task.ID, task.Status)
		}
		if q.heard && q.outcomeCount(w) > 1 {
			t.Errorf("ask %s (%s) was told %d times: %q, %v, callback %q", w.Message, w.State, q.outcomeCount(w), q.made.Text, q.err, w.Callback)
		}
	}
}

// allTold checks what must hold in the end: each asker got one outcome, unless its run ended before or was cancelled.
func (x *taskMachine) assertOutcomes(t *rapid.T) {
	brought := 0
	for _, q := range x.asked {
		w := x.w.askWait(q.request.ID)
		if !q.heard || !w.State.Ended() && !q.abandoned {
			t.Errorf("ask %s is %s for ever", w.Message, w.State)
		}
		calledOff := x.w.RunByID(q.by.Run.ID).Cancel != "" // cancelling a run also cancels its asks
		if want := boolInt(!q.abandoned); q.outcomeCount(w) != want && !calledOff {
			t.Errorf("ask %s (%s) was told %d times, want %d: %q, %v, callback %q", w.Message, w.State, q.outcomeCount(w), want, q.made.Text, q.err, w.Callback)
		}
		brought += boolInt(w.Callback != "")
	}
	found := 0
	for _, agent := range x.agents {
		found += len(x.w.askResultsTo(agent))
	}
	if found != brought {
		t.Errorf("%d answers were brought, %d asks say so", found, brought)
	}
}
