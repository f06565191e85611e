package hub_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// damageMessage damages the text of a stored message.
func (w *fixture) damageMessage(id string) {
	w.T.Helper()
	w.tamperWithStore(fmt.Sprintf(wounds["its text"], w.StoredMessage(id).Seq))
}

// noID returns an SQL value that is no id.
func noID() string {
	if stores.Name == "SQLite" {
		return "x'1234'"
	}
	return "bytea '1234'"
}

// nobody returns a statement that makes the sender of a message an agent that does not exist.
func nobody(format string) string {
	statement := "UPDATE messages SET sender = 9999 WHERE seq = " + format
	if stores.Name == "SQLite" {
		return statement
	}
	return "ALTER TABLE messages DROP CONSTRAINT messages_sender_fkey; " + statement // damage on the disk ignores foreign keys
}

// A task goes on with what wakes its assignee. Where that is damaged the task has failed, and the ask that it answers.
func TestTaskFailsWithTheDamagedMessageThatItGoesOnWith(t *testing.T) {
	t.Parallel()
	for name, damage := range map[string]func(*fixture) (*asking, string){
		"a callback": func(w *fixture) (*asking, string) {
			p := w.parkAsk()
			w.RunAndAnswer("c", "it is 42")
			w.damageMessage(w.TaskByID(p.sub).Callback)
			return p.asking, p.task
		},
		"what came of an approval": func(w *fixture) (*asking, string) {
			w.AddPermission("b", "c", parley.EffectAllow, withApproval)
			a := w.beginAsk(w.WakeAndStartRun("a").Caller(), "b", "what is it?")
			b := w.StartRun("b")
			held := w.HeldApproval(w.TryContact(b.Caller(), notifyContact("c", "look at it")))
			task := w.RunByID(b.Run.ID).Task
			w.EndRun(b, "I have to ask first")
			w.DecideAs("user", held.ID, parley.Decision{Approve: true})
			w.damageMessage(resultOf[parley.Approval](w)(w.Approval(ctx, user, held.ID)).Outcome)
			return a, task
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTrio(t)
			a, task := damage(w)
			same(t, "a run", w.NextRunOf("b") == nil, true)
			w.AssertTaskState(parley.TaskFailed, task)
			if t.Failed() {
				return
			}
			if heard := a.resultText(); !strings.Contains(heard, "b failed to respond") || !strings.Contains(heard, "checksum") {
				t.Errorf("heard %q", heard)
			}
		})
	}
}

// A task that something else goes on for does not fail with a damaged message.
func TestTaskGoesOnWithoutADamagedMessage(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	a := w.beginAsk(w.WakeAndStartRun("a").Caller(), "b", "what is it?")
	b := w.StartRun("b")
	sub := w.Delegate(b.Caller(), "c", "find out")
	other := w.Delegate(b.Caller(), "c", "find out more")
	task := w.RunByID(b.Run.ID).Task
	w.EndRun(b, "working on it")
	w.RunAndAnswer("c", "it is 42")
	w.damageMessage(w.TaskByID(sub).Callback)
	same(t, "a run", w.NextRunOf("b") == nil, true)
	w.AssertTaskState(parley.TaskActive, task)
	a.assertWaiting()
	w.RunAndAnswer("c", "and more")
	w.AssertTaskState(parley.TaskCompleted, other)
	w.RunAndAnswer("b", "enough")
	same(t, "heard", a.resultText(), "Response from b: enough")
}

// An ask whose request is damaged while its task goes on still ends, for a waiting asker and for a late one.
func TestParkedAskWithADamagedRequestEnds(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]string{"text": "", "id": noID()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newTrio(t, withShortAsks)
			run := w.WakeAndStartRun("a")
			a := w.beginAsk(run.Caller(), "b", "what is it?")
			a.resultText()
			task, _ := w.delegateAndFinish("b", "c")
			w.EndRun(run, "later, then")
			if id == "" {
				w.damageMessage(a.request.ID)
			} else {
				w.tamperWithStore(fmt.Sprintf("UPDATE messages SET id = %s WHERE seq = %d", noID(), a.request.Seq))
			}
			w.RunAndAnswer("c", "42")
			w.RunAndAnswer("b", "it is 42")
			w.AssertTaskState(parley.TaskCompleted, task)
			same(t, "brought", w.askResultsTo("a"), []string{"Response from b: it is 42"})
		})
	}
}

// The damaged row of an ask's delivery no longer names its purpose; the ask still fails with it.
func TestAskFailsWithItsDamagedDelivery(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	a := w.beginAsk(w.WakeAndStartRun("a").Caller(), "b", "what is it?")
	w.tamperWithStore(fmt.Sprintf("UPDATE deliveries SET purpose = '' WHERE message = %d", a.request.Seq))
	same(t, "a run", w.NextRunOf("b") == nil, true)
	if s := w.askWait(a.request.ID).State; s != parley.WaitFailed {
		t.Fatalf("the ask is %s", s)
	}
	if heard := a.resultText(); !strings.Contains(heard, "b failed to respond") {
		t.Errorf("heard %q", heard)
	}
}

// So does the task of a delegation.
func TestTaskFailsWithItsDamagedDelivery(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	sub := w.Delegate(w.WakeAndStartRun("a").Caller(), "b", "do it")
	w.tamperWithStore(fmt.Sprintf("UPDATE deliveries SET purpose = '' WHERE message = %d", w.StoredMessage(w.TaskByID(sub).Message).Seq))
	same(t, "a run", w.NextRunOf("b") == nil, true)
	w.AssertTaskState(parley.TaskFailed, sub)
}

// A message that nobody has sent, by its row, keeps nobody from writing to a full inbox.
func TestFullInboxWithADamagedSenderTakesMore(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	w.SetInboxDepth("ned", 2, parley.OverflowEvict)
	bad := w.SendDM("arya", "ned", "one").Message
	w.SendDM("arya", "ned", "two")
	w.tamperWithStore(fmt.Sprintf(nobody("%d"), bad.Seq))
	w.SendDM("arya", "ned", "three")
	w.SendDM("arya", "ned", "four")
	taken := w.TakeAs("ned", parley.Take{})
	same(t, "taken", textsOf(taken.Messages), []string{"four"})
}

// A damaged row does not keep the hub from starting.
func TestHubRecoversWithDamagedRows(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"no id":     "UPDATE messages SET id = %[1]s WHERE seq = %[2]d",
		"no words":  "UPDATE messages SET text = 'x' WHERE seq = %[2]d",
		"no sender": nobody("%[2]d"),
		"the row":   "UPDATE deliveries SET purpose = 'x' WHERE message = %[2]d",
	} {
		for which := range 2 {
			t.Run(fmt.Sprint(name, which), func(t *testing.T) {
				t.Parallel()
				w := newTrio(t)
				sub := w.Delegate(w.WakeAndStartRun("a").Caller(), "b", "do it")
				first := w.StartRun("b")
				w.Delegate(first.Caller(), "c", "one")
				w.Delegate(first.Caller(), "c", "two")
				w.EndRun(first, "I have begun")
				w.RunAndAnswer("c", "1")
				w.RunAndAnswer("c", "2")
				second := w.StartRun("b")
				same(t, "woken by", len(second.Messages), 2)
				w.tamperWithStore(fmt.Sprintf(statement, noID(), second.Messages[which].Seq))
				w.RestartAndRecover()
				w.NoError(w.Sweep(ctx))
				for a := w.NextRunOf("b"); a != nil; a = w.NextRunOf("b") {
					w.NoError(w.BeginRun(ctx, a.Run.ID, parley.Process{}))
					w.EndRun(a, "done")
				}
				if s := w.TaskByID(sub).Status; !s.Ended() {
					t.Errorf("the task is %s", s)
				}
			})
		}
	}
}

// Nor does one of an ask that somebody waited for.
func TestHubRecoversWithADamagedAsk(t *testing.T) {
	t.Parallel()
	w := newTrio(t)
	run := w.WakeAndStartRun("a")
	a := w.beginAsk(run.Caller(), "b", "what is it?")
	w.tamperWithStore(fmt.Sprintf("UPDATE messages SET id = %s WHERE seq = %d", noID(), a.request.Seq))
	w.RestartAndRecover()
	w.NoError(w.SweepWaits(ctx))
	same(t, "a run", w.NextRunOf("b") == nil, true)
	w.StartRun("a")
}

// Nor does one keep the leases of others from lapsing.
func TestLeasesLapseBesideADamagedOne(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	bad, good := w.SendDM("arya", "ned", "one").Message, w.SendDM("arya", "ned", "two").Message
	same(t, "taken", len(w.TakeAs("ned", parley.Take{Lease: time.Minute}).Messages), 2)
	w.tamperWithStore(fmt.Sprintf("UPDATE messages SET id = %s WHERE seq = %d", noID(), bad.Seq))
	w.AdvanceLeases(time.Hour)
	same(t, "the other", w.DeliveryState(good.ID, "ned"), parley.DeliveryAccepted)
	w.SweepDueDeliveries()
	w.AdvanceLeases(time.Hour)
	same(t, "taken again", textsOf(w.TakeAs("ned", parley.Take{}).Messages), []string{"two"})
}

// In a conversation in which one after the other answers, the turn passes from a damaged delivery.
func TestTurnPassesFromADamagedDelivery(t *testing.T) {
	t.Parallel()
	for name, statement := range map[string]string{
		"its words": "UPDATE messages SET text = 'x' WHERE seq = %[2]d", "its id": "UPDATE messages SET id = %[1]s WHERE seq = %[2]d",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHubWithAnswers(t, parley.AnswersRoundRobin)
			w.SayIn("user", "open", "@c3 @a1")
			bad := w.NewestMessage()
			w.SayIn("user", "open", "@c3 @a1 again")
			good := w.NewestMessage()
			w.tamperWithStore(fmt.Sprintf(statement, noID(), bad.Seq))
			for range 2 { // whose turn it was is not known any more
				for _, agent := range three {
					if a := w.NextRunOf(agent); a != nil {
						w.NoError(w.BeginRun(ctx, a.Run.ID, parley.Process{}))
						same(t, agent+" is woken by", a.Run.Triggers, []string{good.ID})
						w.EndRun(a, "done")
					}
				}
			}
			same(t, "answered", []parley.DeliveryState{w.DeliveryState(good.ID, "a1"), w.DeliveryState(good.ID, "c3")},
				[]parley.DeliveryState{parley.DeliveryAnswered, parley.DeliveryAnswered})
		})
	}
}
