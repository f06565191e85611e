package storetest

import (
	"encoding/json"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

var taskErasureTests = []test{
	{"tasks and approvals outlive their conversation", workOfDeletedConversation},
	{"tasks and approvals outlive their messages", workAndRetention},
	{"tasks and approvals keep participants that are renamed or removed", workOfChangedParticipants},
	{"redaction erases copies of the message in tasks", tasksAndRedaction},
	{"redaction erases copies of the message in approvals and notices", approvalsAndRedaction},
}

// withWork stores a task and an approval that name a conversation and the messages m[0] and m[1].
func (f *fixture) withWork(c parley.Conversation, m []parley.Message) (parley.Task, parley.Approval) {
	f.Helper()
	task, approval := fullTask(3, c, m[0], m[1]), fullApproval(c, m[0], m[1])
	f.tasks(newTask(1), newTask(2), task)
	f.approvals(approval)
	return task, approval
}

func workOfDeletedConversation(f *fixture) {
	c, m := f.channelWithMessages(2)
	task, approval := f.withWork(c, m)
	f.deleteConversation(c)
	task.Conversation, task.Message, task.Callback = "", "", ""
	approval.Conversation, approval.Trigger, approval.Outcome = "", "", ""
	check := func(when string) {
		f.same("the task "+when, f.getTask(task.ID), task)
		f.same("the approval "+when, f.getApproval(approval.ID), approval)
		f.missing("begun "+when, func(tx storage.Tx) error { return errorOf(tx.Tasks().BegunBy(m[0].ID)) })
	}
	check("when deleted")
	f.same("erased", f.purge(100), 3)
	check("when erased")
	f.update(func(tx storage.Tx) error { return tx.Tasks().Put(task) })
	f.update(func(tx storage.Tx) error { return tx.Approvals().Put(approval) })
	check("when changed")
	f.requireExactCounts()
}

func workAndRetention(f *fixture) {
	c, m := f.channelWithMessages(3)
	task, approval := f.withWork(c, m[1:])
	f.same("erased", f.erase(0, m[1].Seq).Messages, 2)
	task.Message, approval.Trigger = "", ""
	f.same("the task", f.getTask(task.ID), task)
	f.same("the approval", f.getApproval(approval.ID), approval)
	f.missing("begun", func(tx storage.Tx) error { return errorOf(tx.Tasks().BegunBy(m[1].ID)) })
}

func workOfChangedParticipants(f *fixture) {
	c, m := f.channelWithMessages(2)
	task, approval := f.withWork(c, m)
	rule := newRule("gendry", "arya", parley.EffectAllow)
	f.permit(rule)
	arya := f.findAgent("arya")
	arya.Name, arya.RemovedAt = "NoOne", atPointer(2)
	f.update(func(tx storage.Tx) error { return tx.Agents().Put(arya) })
	f.same("the task", f.getTask(task.ID), task)
	f.same("the approval", f.getApproval(approval.ID), approval)
	f.same("the rule", f.rules(), []parley.Permission{rule})
}

// tasksAndRedaction redacts a message and checks six tasks. The message began the first task, reported the end of the second,
// and is the answer of a run of the third. The other three are unrelated; the message is a post of a run of one of them, but
// not its answer.
func tasksAndRedaction(f *fixture) {
	c, m := f.channelWithMessages(2)
	f.tasks(newTask(1), newTask(2))
	list := []parley.Task{
		fullTask(3, c, m[0], m[1]), fullTask(4, c, m[1], m[0]), fullTask(5, c, m[1], m[1]),
		fullTask(6, c, m[1], m[1]), fullTask(7, c, m[1], m[1]), newTask(8),
	}
	f.tasks(list...)
	answering, posting, other := newRun("arya", c.ID), newRun("arya", c.ID), newRun("arya", c.ID)
	answering.Task, answering.Answer = "task-5", m[0].ID
	posting.Task, posting.Answer = "task-6", m[1].ID
	other.Task, other.Answer = "no task", m[0].ID
	f.runs(answering, posting, other)
	for _, r := range []parley.Run{answering, posting, other} {
		f.posted(r.ID, "digest", m[0])
	}
	f.redact(m[0])
	for i, want := range list {
		if i < 3 {
			want.Title, want.DelegationReason, want.Result, want.Progress = "", "", nil, nil
			want.Error = &parley.Error{Code: parley.Unavailable, Message: "redacted", Recoverable: true}
		}
		f.same("the task", f.getTask(want.ID), want)
	}
}

// approvalsAndRedaction has approvals that may repeat the message, each for another reason, and two approvals that do not
// repeat it.
func approvalsAndRedaction(f *fixture) {
	c, m := f.channelWithMessages(2)
	made := map[string]parley.Approval{}
	for name, change := range map[string]func(*parley.Approval){
		"of a run that it woke":            func(a *parley.Approval) { a.Trigger = m[0].ID },
		"pending, of a run that it woke":   func(a *parley.Approval) { a.Trigger, a.State = m[0].ID, parley.ApprovalPending },
		"reports its outcome":              func(a *parley.Approval) { a.Outcome = m[0].ID },
		"of its trace, executed":           func(a *parley.Approval) { a.TraceID = m[0].TraceID },
		"kept: of its trace, pending":      func(a *parley.Approval) { a.TraceID, a.State = m[0].TraceID, parley.ApprovalPending },
		"kept: of another message's trace": func(a *parley.Approval) { a.TraceID = m[1].TraceID },
	} {
		a := fullApproval(c, m[1], m[1])
		a.Digest = name
		change(&a)
		made[name] = a
		f.approvals(a)
		n := newNotice(name, 1)
		n.Approval = a.ID
		f.notices(n)
	}
	f.notices(newNotice("dead/"+m[0].ID+"/arya", 1), newNotice("dead/"+m[1].ID+"/arya", 1))
	f.redact(m[0])
	said := map[string]string{}
	for _, n := range f.dueNotices(1, noLimit) {
		said[n.Key] = n.Title + n.Text
	}
	want := map[string]string{"dead/" + m[0].ID + "/arya": "", "dead/" + m[1].ID + "/arya": "titletext"}
	for name, a := range made {
		want[name] = "titletext"
		if name[:4] != "kept" {
			a.Call.Args, a.Summary, a.Note, a.Result, want[name] = json.RawMessage("{}"), "", "", "", ""
		}
		f.same(name, f.getApproval(a.ID), a)
	}
	f.same("notices", said, want)
}
