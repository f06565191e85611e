package hub_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// unfounded lets a statement refer to a missing agent: it removes the foreign key first. Damage on the disk ignores foreign keys.
func unfounded(table, statement string) string {
	if stores.Name == "SQLite" {
		return statement
	}
	return fmt.Sprintf("ALTER TABLE %[1]s DROP CONSTRAINT IF EXISTS %[1]s_agent_fkey; %[2]s", table, statement)
}

// deliveryWounds are statements that damage the row of a delivery, so that the delivery no longer wakes its recipient.
var deliveryWounds = map[string]string{
	"waking":       "UPDATE deliveries SET waking = 0 WHERE message = %d",
	"its state":    "UPDATE deliveries SET state = 'acceptec' WHERE message = %d",
	"another's":    "UPDATE deliveries SET agent = (SELECT num FROM agents WHERE id = 'user') WHERE message = %d",
	"nobody's":     "UPDATE deliveries SET agent = 9999 WHERE message = %d",
	"quiet and so": "UPDATE deliveries SET waking = 0, purpose = '' WHERE message = %d",
}

func (w *fixture) damageDelivery(name string, m parley.Message) {
	w.T.Helper()
	w.tamperWithStore(unfounded("deliveries", fmt.Sprintf(deliveryWounds[name], m.Seq)))
}

// assertDamageAlert requires that the alert about damage names a delivery by the number of its message.
func (w *fixture) assertDamageAlert(m parley.Message) {
	w.T.Helper()
	if a := w.awaitDamageAlert(); !strings.Contains(a.Message, fmt.Sprintf("a delivery of message %d (%s)", m.Seq, m.ID)) {
		w.T.Errorf("alert: %s", a.Message)
	}
}

func eachWound(t *testing.T, test func(t *testing.T, name string)) {
	for name := range deliveryWounds {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, name)
		})
	}
}

// Nobody is woken for the request of an ask any more: the sweep finds it, and tells whoever waits.
func TestSweepEndsAnAskWhoseDeliveryIsDamaged(t *testing.T) {
	t.Parallel()
	eachWound(t, func(t *testing.T, name string) {
		w := newTrio(t)
		a := w.beginAsk(w.WakeAndStartRun("a").Caller(), "b", "what is it?")
		w.damageDelivery(name, a.request)
		w.AssertIdle("b")
		w.NoError(w.Sweep(ctx))
		if wait := w.askWait(a.request.ID); wait.State != parley.WaitFailed || wait.Failure == nil {
			t.Fatalf("the ask is %s: %v", wait.State, wait.Failure)
		}
		heard := a.resultText()
		if !strings.Contains(heard, "b failed to respond") || !strings.Contains(heard, fmt.Sprintf("message %d", a.request.Seq)) {
			t.Errorf("heard %q", heard)
		}
		w.assertDamageAlert(a.request)
	})
}

// Who has not waited that long is brought the failure.
func TestSweepTellsALateAskerOfDamage(t *testing.T) {
	t.Parallel()
	w := newTrio(t, withShortAsks)
	run := w.WakeAndStartRun("a")
	a := w.beginAsk(run.Caller(), "b", "what is it?")
	a.resultText()
	w.EndRun(run, "later, then")
	w.damageDelivery("waking", a.request)
	w.NoError(w.Sweep(ctx))
	back := w.askResultsTo("a")
	if len(back) != 1 || !strings.Contains(back[0], "b failed to respond") {
		t.Errorf("brought: %q", back)
	}
}

// A task whose request wakes nobody any more fails, and its requester is called back.
func TestSweepFailsATaskWhoseDeliveryIsDamaged(t *testing.T) {
	t.Parallel()
	eachWound(t, func(t *testing.T, name string) {
		w := newTrio(t)
		run := w.WakeAndStartRun("a")
		task := w.Delegate(run.Caller(), "b", "do it")
		w.EndRun(run, "b does it")
		request := w.StoredMessage(w.TaskByID(task).Message)
		w.damageDelivery(name, request)
		w.AssertIdle("b")
		w.NoError(w.Sweep(ctx))
		w.AssertTaskState(parley.TaskFailed, task)
		if e := w.TaskByID(task).Error; e == nil || e.Code != parley.Internal || !strings.Contains(e.Message, fmt.Sprintf("message %d", request.Seq)) {
			t.Errorf("the task failed because of %v", e)
		}
		if w.NextRunOf("a") == nil {
			t.Error("the requester was not called back")
		}
		w.assertDamageAlert(request)
	})
}

// A task that a callback was to go on with fails with that, and the ask that it answers.
func TestSweepFailsATaskWhoseCallbackIsDamaged(t *testing.T) {
	t.Parallel()
	eachWound(t, func(t *testing.T, name string) {
		w := newTrio(t)
		p := w.parkAsk()
		w.RunAndAnswer("c", "it is 42")
		back := w.StoredMessage(w.TaskByID(p.sub).Callback)
		w.damageDelivery(name, back)
		w.AssertIdle("b")
		w.NoError(w.Sweep(ctx))
		w.AssertTaskState(parley.TaskFailed, p.task)
		if t.Failed() {
			return
		}
		if heard := p.resultText(); !strings.Contains(heard, "b failed to respond") || !strings.Contains(heard, fmt.Sprintf("message %d", back.Seq)) {
			t.Errorf("heard %q", heard)
		}
		w.assertDamageAlert(back)
	})
}

// A late answer outside of any task is found in the inbox that it waits in, and is brought again.
func TestSweepRepeatsAQuietCallbackThatIsDamaged(t *testing.T) {
	t.Parallel()
	w := newTrio(t, withShortAsks)
	run := w.WakeAndStartRun("a")
	a := w.beginAsk(run.Caller(), "b", "what is it?")
	a.resultText()
	w.EndRun(run, "later, then")
	w.RunAndAnswer("b", "it is 42")
	back := w.StoredMessage(w.askWait(a.request.ID).Callback)
	same(t, "its task", back.Task, "")
	w.damageDelivery("waking", back)
	w.AssertIdle("a")
	w.NoError(w.Sweep(ctx))
	same(t, "the callback", w.DeliveryState(back.ID, "a"), parley.DeliveryFailed)
	w.assertDamageAlert(back)
	same(t, "a is told", textsOf(w.StartRun("a").Messages), []string{back.Content.Text})
	w.NoError(w.Sweep(ctx))
	w.AssertIdle("a")
}

// What is whole stays as it is.
func TestSweepLeavesWholeWorkAlone(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	p := w.parkAsk()
	open := w.Delegate(user, "c", "do it")
	ask := w.beginAsk(user, "a", "well?")
	w.NoError(w.Sweep(ctx))
	w.AssertTaskState(parley.TaskQueued, open, p.sub)
	w.AssertTaskState(parley.TaskActive, p.task)
	p.assertWaiting()
	ask.assertWaiting()
	w.AssertConsistent()
}

// A delivery to nobody keeps no agent from being woken.
func TestAgentsAreWokenBesideADeliveryToNobody(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	bad := w.SendDM("user", "a", "one").Message
	w.damageDelivery("nobody's", bad)
	w.SendDM("user", "b", "two")
	waiting := []string{}
	w.NoError(w.Store.View(ctx, func(tx storage.Tx) (err error) {
		waiting, err = tx.Queue().AgentsToWake(10)
		return err
	}))
	same(t, "waiting", waiting, []string{"b"})
}
