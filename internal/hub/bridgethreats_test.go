package hub_test

import (
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

// Forged sender: a file says who has written it, and nobody can tell.
func TestForgedSenderOfAFile(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned", "sam")
	w.AddPerson("tess", parley.AccessOwner)
	b := joinInboxTree(w)
	for _, from := range []string{"sam", "user", "tess", "parley", "nobody", "", "ANA"} {
		hint := b.arriveRefused(b.document(from, "ned", "hello"), parley.NotPermitted)
		if want := "parley bridge set inbox-inbox --agents ana,ben," + from; parley.CheckID(from) == nil && !strings.HasSuffix(hint, want) {
			t.Errorf("the hint is %q, want %q", hint, want)
		}
		past := b.document(from, "ned", "hello")
		past.History = true
		b.arriveRefused(past, parley.NotPermitted)
	}
	resultOf[parley.BridgeView](w)(w.ChangeBridge(ctx, user, b.view.ID, parley.BridgeChange{Agents: &[]string{"ana"}}))
	w.NoError(w.RemoveAgent(ctx, user, "ben"))
	b.arriveRefused(b.document("ben", "ned", "hello"), parley.NotPermitted)
}

// Forged tier: what a document says of its sender's tier gives it nothing, and is refused where it is wrong.
func TestForgedTierOfAFile(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	b := joinInboxTree(w)
	claim := func() parley.Arrival {
		a := b.document("ana", "ned", "hello")
		a.FromTier = parley.TierPM
		return a
	}
	w.EditAgent("ned", func(a *parley.Agent) { a.Tier = parley.TierWorker })
	same(t, "where nobody has given it one", len(b.arrive(claim())[0].Notices), 1)
	same(t, "said again", len(b.arrive(claim())[0].Notices), 0)
	w.EditAgent("ana", func(a *parley.Agent) { a.Tier = parley.TierWorker })
	b.arriveRefused(claim(), parley.NotPermitted)
	b.arriveRefused(b.document("ana", "ned", "hello"), parley.NotPermitted) // worker to worker
	w.EditAgent("ana", func(a *parley.Agent) { a.Tier = parley.TierPM })
	b.arriveMessage(claim())
}

// A command by a file is never obeyed, not even its manager's.
func TestCommandByFile(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	b := joinInboxTree(w)
	w.EditAgent("ned", func(a *parley.Agent) { a.Manager = "ana" })
	command := func() parley.Arrival {
		a := b.document("ana", "ned", "")
		a.Draft = parley.Draft{Type: parley.TypeCommand, Payload: []byte(`{"action":"stop"}`)}
		return a
	}
	b.arriveRefused(command(), parley.NotPermitted)
	past := command()
	past.History = true
	b.arriveMessage(past)
	same(t, "stopped", resultOf[parley.Agent](w)(w.Agent(ctx, user, "ned")).Stopped == nil, true)
}

// Manager bypass: who manages somebody always may, but not by a file.
func TestManagerBypassByFile(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	b := joinInboxTree(w)
	w.EditAgent("ned", func(a *parley.Agent) { a.Manager = "ana" })
	w.AddPermission("ana", "ned", parley.EffectDeny)
	w.SendDM("ana", "ned", "by a credential")
	b.arriveRefused(b.document("ana", "ned", "by a file"), parley.NotPermitted)
	b.arriveRefused(forWork(b.document("ana", "ned", "by a file")), parley.NotPermitted)
	same(t, "for everybody", wakesByRecipient(w.DeliveriesOf(b.arriveMessage(b.document("ana", parley.All, "hear")).ID)), map[string]bool{"ben": true})
}

// Foreign tasks: a result counts only from whoever has the task.
func TestForeignTaskByFile(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned", "sam")
	b := joinInboxTree(w)
	asked := w.PostAs("ned", parley.Draft{Direct: []string{"ana"}, Type: parley.TypeTask, Content: text("count")}).Message
	b.departs(asked, "ana", "msg_000000aa")
	foreign := w.PostAs("user", parley.Draft{Direct: []string{"sam"}, Type: parley.TypeTask, Content: text("count")}).Message
	steal := b.document("ben", "ned", "nothing")
	steal.ReplyTo, steal.Draft.Type = "msg_000000aa", "task_result"
	b.arriveMessage(steal)
	name := b.document("ana", "sam", "nothing")
	name.Draft.Type, name.Draft.Task = "task_result", foreign.Task
	got := b.arrive(name)[0]
	same(t, "said", got.Notices, []string{"it names the task " + foreign.Task + ", which its sender does not have"})
	same(t, "statuses", []parley.TaskState{w.TaskByID(asked.Task).Status, w.TaskByID(foreign.Task).Status}, []parley.TaskState{parley.TaskQueued, parley.TaskQueued})
}

// What cannot be kept by every store is refused, and stops nothing.
func TestFileThatIsNoText(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	b := joinInboxTree(w)
	for _, spoil := range []func(*parley.Arrival){
		func(a *parley.Arrival) { a.Path = "ned/inbox/\xff.json" },
		func(a *parley.Arrival) { a.Name = "\x00" },
		func(a *parley.Arrival) { a.From = "\xff" },
	} {
		a := b.document("ana", "ned", "hello")
		spoil(&a)
		got := b.arrive(a, b.document("ana", "ned", "hello"))
		if got[0].Error == nil || got[0].Error.Code != parley.BadInput || got[1].Error != nil {
			t.Errorf("arrived: %+v", got)
		}
	}
}
