package hub_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

// asksByFile has an agent that lives in a tree ask writer for work, by a document of the tree's format.
func asksByFile(w *fixture, l parley.Layout) (task string) {
	w.T.Helper()
	a := parley.Arrival{Name: "msg_0000abcd", From: "ana", To: "writer", Draft: parley.Draft{
		Type: "task-delegation", Sequence: 1, Payload: json.RawMessage(`{"task":"Draft it","context":{"deadline":"2026-03-01T10:00:00Z"}}`),
	}}
	switch l {
	case parley.LayoutBlackboard:
		a.Name = "0191d7a0-0000-7000-8000-00000000abcd"
		a.Draft = parley.Draft{Type: parley.TypeRequest, Payload: json.RawMessage(
			`{"action":"task.assign","params":{"text":"Draft it"},"deadline":"2026-03-01T18:00:00+08:00"}`)}
	case parley.LayoutAgentOS:
		due := began.Add(time.Hour)
		a.Name, a.Channel = "msg-20260301-090000-ana-abcd", "paper"
		a.Draft = parley.Draft{Type: "task_assign", Deadline: &due, Content: text("Draft it")}
	}
	m := resultOf[parley.Shown](w)(w.Message(ctx, user, w.arriveFrom("tree", a).Message))
	if m.Task == "" {
		w.T.Fatalf("%s asks for no task", a.Name)
	}
	return m.Task
}

// A task that somebody asks for who lives in a tree ends in one document: from whoever has done it, answering the one that
// asked, whatever else is said. Answer and callback do not depart besides.
func TestATaskEndsInOneDocument(t *testing.T) {
	t.Parallel()
	ways := map[string]struct {
		end    func(w *fixture, task string)
		status string
		says   string
	}{
		"by the answer of a run": {func(w *fixture, _ string) { w.RunAndAnswer("writer", "the draft") }, "success", "the draft"},
		"partly": {func(w *fixture, task string) {
			run := w.StartRun("writer")
			resultOf[parley.TaskView](w)(w.UpdateTask(ctx, run.Caller(), task, parley.TaskChange{
				Status: parley.TaskCompleted, Outcome: parley.OutcomePartial,
				Result: &parley.TaskResult{Text: "half of it", Deliverables: []string{"draft.md"}, Issues: []string{"no time"}, NextSteps: []string{"the rest"}},
			}))
			w.EndRun(run, "half is done")
		}, "partial", "half of it"},
		"by a message": {func(w *fixture, task string) {
			run := w.StartRun("writer")
			w.PostFromRun(run, parley.Draft{Conversation: w.TaskByID(task).Conversation, To: "ana", Task: task, Type: parley.TypeResult, Content: text("here")})
			w.EndRun(run, "I have sent it")
		}, "success", "here"},
		"in a failure": {func(w *fixture, _ string) { w.FailRunWith(w.StartRun("writer"), parley.FailureFinal) }, "failure", "it broke"},
		"cancelled": {func(w *fixture, task string) {
			resultOf[parley.TaskView](w)(w.CancelTask(ctx, user, task, "not needed"))
		}, "failure", "cancelled: not needed"},
		"too late": {func(w *fixture, _ string) {
			w.Clock.Advance(2 * time.Hour)
			w.NoError(w.SweepTasks(ctx))
		}, "failure", "its deadline passed"},
		"after a second try": {func(w *fixture, task string) {
			w.FailRunWith(w.StartRun("writer"), parley.FailureFinal)
			w.reportDepartures("tree", parley.DepartureSeen, w.onlyDepartureOf("tree", "paper"))
			resultOf[parley.TaskView](w)(w.RetryTask(ctx, user, task))
			w.RunAndAnswer("writer", "the draft")
		}, "success", "the draft"},
	}
	for _, layout := range []parley.Layout{parley.LayoutBlackboard, parley.LayoutInbox, parley.LayoutAgentOS} {
		for name, c := range ways {
			t.Run(string(layout)+" "+name, func(t *testing.T) {
				t.Parallel()
				w := newHub(t, mayLoop)
				w.AddScriptAgents("writer")
				w.joinTree(layout, "tree", "ana")
				w.CreateChannel("user", "paper", "writer")
				task := asksByFile(w, layout)
				asked := resultOf[parley.Shown](w)(w.Message(ctx, user, w.TaskByID(task).Message))
				c.end(w, task)
				out := w.onlyDepartureOf("tree", "paper")
				checkEnd(t, out, task, asked.ID, c.status)
				same(t, "what it says", out.Message.Content.Text, c.says)
				w.reportDepartures("tree", parley.DepartureWritten, out)
				w.reportDepartures("tree", parley.DepartureSeen, out)
				same(t, "nothing more", []any{w.departuresOf("tree", "paper"), w.InboxOf("ana")}, []any{[]parley.Departure(nil), parley.Inbox{}})
				w.AssertConsistent()
			})
		}
	}
}

func checkEnd(t *testing.T, out parley.Departure, task, asked, status string) {
	t.Helper()
	if out.Task == nil || out.Task.ID != task {
		t.Fatalf("it ends %+v, want %s", out.Task, task)
	}
	same(t, "from, to, type, what it answers", []any{out.Message.From, out.Message.To, out.Message.Type, out.Message.InReplyTo},
		[]any{"writer", "ana", parley.TypeResult, asked})
	if out.ReplyTo == "" || out.Recipient != "" && out.Sequence == 0 {
		t.Errorf("it answers %q, with the sequence %d", out.ReplyTo, out.Sequence)
	}
	var payload struct {
		Status string
		Error  *parley.Error
	}
	if err := json.Unmarshal(out.Message.Payload, &payload); err != nil {
		t.Fatal(err)
	}
	same(t, "the status", []any{payload.Status, payload.Error != nil}, []any{status, status == "failure"})
}

// Whoever has done it in the end, and in how many trees the requester lives, the end of a task answers the document that asked for it.
func TestTheEndOfATaskAnswersTheFirstRequest(t *testing.T) {
	t.Parallel()
	for _, layout := range []parley.Layout{parley.LayoutBlackboard, parley.LayoutInbox, parley.LayoutAgentOS} {
		t.Run(string(layout), func(t *testing.T) {
			t.Parallel()
			w := newHub(t, mayLoop)
			w.AddScriptAgents("writer", "sam")
			w.joinTree(layout, "tree", "ana")
			w.joinTree(parley.LayoutInbox, "zoo", "ana")
			w.CreateChannel("user", "paper", "writer", "sam")
			task := asksByFile(w, layout)
			asked := w.TaskByID(task).Message
			for _, who := range []string{"sam", "writer", "sam"} {
				resultOf[parley.TaskView](w)(w.ReassignTask(ctx, user, task, who))
			}
			w.RunAndAnswer("sam", "the draft")
			out := w.onlyDepartureOf("tree", "paper")
			same(t, "what it answers", []any{out.Message.From, out.Message.InReplyTo, out.ReplyTo != ""}, []any{"sam", asked, true})
			same(t, "in the other tree", w.departuresOf("zoo"), []parley.Departure(nil))
			w.reportDepartures("tree", parley.DepartureWritten, out)
			w.reportDepartures("tree", parley.DepartureSeen, out)
			same(t, "what waits", []any{w.InboxOf("ana"), w.departuresOf("zoo")}, []any{parley.Inbox{}, []parley.Departure(nil)})
			w.AssertConsistent()
		})
	}
}

// The words of the end are those of S3's result.
func TestPayloadOfTheEndOfATask(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("writer")
	w.joinTree(parley.LayoutInbox, "tree", "ana")
	task := asksByFile(w, parley.LayoutInbox)
	resultOf[parley.TaskView](w)(w.UpdateTask(ctx, as("writer"), task, parley.TaskChange{
		Status: parley.TaskCompleted, Outcome: parley.OutcomePartial, Result: &parley.TaskResult{
			Text: "half of it", Deliverables: []string{"draft.md"}, Metrics: map[string]float64{"confidence": 0.5}, Issues: []string{"no time"},
			NextSteps: []string{"the rest"},
		},
	}))
	same(t, "the payload", string(w.onlyDepartureOf("tree").Message.Payload), `{"status":"partial",`+
		`"deliverables":{"files_modified":[],"tests_added":[],"artifacts":["draft.md"]},"metrics":{"confidence":0.5},`+
		`"issues":["no time"],"next_steps":["the rest"]}`)
}

// What somebody who lives in a tree is asked to do, it begins, updates and ends by documents.
func TestATaskForAnAgentInATree(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		layout          parley.Layout
		progress, ended parley.Draft
	}{
		"S3": {
			parley.LayoutInbox,
			parley.Draft{Type: "status-update", Payload: json.RawMessage(`{"status":"in_progress","progress":0.5,"message":"half"}`)},
			parley.Draft{Type: parley.TypeResult, Payload: json.RawMessage(`{"status":"success"}`), Content: text("done")},
		},
		"S1": {
			parley.LayoutBlackboard,
			parley.Draft{Type: parley.TypeNotification, Payload: json.RawMessage(`{"event":"progress","message":"half","progress":{"percent":50}}`)},
			parley.Draft{Type: parley.TypeResponse, Payload: json.RawMessage(`{"status":"success","result":{"text":"done"}}`)},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newHub(t)
			w.joinTree(c.layout, "tree", "ana")
			task := w.Delegate(user, "ana", "Draft it")
			out := w.onlyDepartureOf("tree")
			same(t, "it asks for", []any{out.Task != nil && out.Task.ID == task, out.Wakes}, []any{true, true})
			w.reportDepartures("tree", parley.DepartureWritten, out)
			w.AssertTaskState(parley.TaskQueued, task)
			w.reportDepartures("tree", parley.DepartureSeen, out)
			w.AssertTaskState(parley.TaskActive, task)
			for i, d := range []parley.Draft{c.progress, c.ended} {
				name := []string{"msg_00000001", "msg_00000002"}[i]
				w.arriveFrom("tree", parley.Arrival{Name: name, From: "ana", To: "user", ReplyTo: out.Name, Draft: d})
			}
			got := w.TaskByID(task)
			same(t, "how it went", []any{*got.Progress.Fraction, got.Status, got.Result.Text}, []any{0.5, parley.TaskCompleted, "done"})
			same(t, "the request", w.DeliveryState(out.Message.ID, "ana"), parley.DeliveryAnswered)
			same(t, "who asked is told", textsOf(w.HubMessagesTo("user")), []string{"[Delegation Result from ana | " + task + "]\ndone"})
		})
	}
}

// What can never be written fails the task that it asks for, and what is not wanted any more is said by another file.
func TestTasksWithFailedOrCancelledFiles(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.joinTree(parley.LayoutInbox, "tree", "ana")
	failed, cancelled := w.Delegate(user, "ana", "Draft it"), w.Delegate(user, "ana", "Print it")
	list := w.departuresOf("tree")
	w.reportDepartures("tree", parley.DepartureFailed, list[0])
	w.AssertTaskState(parley.TaskFailed, failed)
	w.reportDepartures("tree", parley.DepartureWritten, list[1])
	resultOf[parley.TaskView](w)(w.CancelTask(ctx, user, cancelled, "not needed"))
	out := w.onlyDepartureOf("tree")
	same(t, "what the agent is told", []any{out.Message.Type, out.Message.Content.Text},
		[]any{parley.TypeStatus, cancelled + " is cancelled: not needed"})
	w.reportDepartures("tree", parley.DepartureSeen, list[1])
	same(t, "the request", w.DeliveryState(list[1].Message.ID, "ana"), parley.DeliveryFailed)
}

// So it is with what was not wanted any more while its file was being written, and only then.
func TestTasksThatEndWhileTheirFileIsWritten(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("sam")
	w.joinTree(parley.LayoutInbox, "tree", "ana")
	cancelled, given := w.Delegate(user, "ana", "Draft it"), w.Delegate(user, "ana", "Print it")
	list := w.departuresOf("tree")
	resultOf[parley.TaskView](w)(w.CancelTask(ctx, user, cancelled, "not needed"))
	resultOf[parley.TaskView](w)(w.ReassignTask(ctx, user, given, "sam"))
	w.reportDepartures("tree", parley.DepartureWritten, list...)
	w.reportDepartures("tree", parley.DepartureSeen, list...)
	same(t, "after", wordsOf(w.departuresOf("tree")), []string{cancelled + " is cancelled: not needed", given + " was reassigned to sam"})
	w.AssertConsistent()
}

// Where the channel that a task was asked for in has no directory any more, its end goes where its requester has its mail.
func TestTheEndOfATaskWithoutItsDirectoryGoesIntoAnInbox(t *testing.T) {
	t.Parallel()
	w := newHub(t, mayLoop)
	w.AddScriptAgents("writer")
	w.joinTree(parley.LayoutAgentOS, "tree", "ana")
	w.joinTree(parley.LayoutInbox, "zoo", "ana")
	w.CreateChannel("user", "paper", "writer")
	asksByFile(w, parley.LayoutAgentOS)
	w.RunAndAnswer("writer", "the draft")
	same(t, "while that may come", wordsOf(w.departuresOf("zoo")), []string{})
	same(t, "in the channels", wordsOf(w.departuresOf("tree", "other")), []string{})
	out := w.onlyDepartureOf("zoo")
	same(t, "in the inbox", out.Message.Content.Text, "the draft")
	w.reportDepartures("zoo", parley.DepartureWritten, out)
	w.reportDepartures("zoo", parley.DepartureSeen, out)
	same(t, "nothing more", []any{w.departuresOf("tree", "paper"), w.departuresOf("zoo"), w.InboxOf("ana")}, []any{[]parley.Departure(nil), []parley.Departure(nil), parley.Inbox{}})
	w.AssertConsistent()
}

// Whoever may have found a request for work, since the bridge was killed before it could say so, is told that it is not wanted.
func TestTasksThatEndBeforeTheirFileIsReported(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("sam")
	w.joinTree(parley.LayoutInbox, "tree", "ana")
	cancelled, given := w.Delegate(user, "ana", "Draft it"), w.Delegate(user, "ana", "Print it")
	same(t, "written", len(w.departuresOf("tree")), 2)
	resultOf[parley.TaskView](w)(w.CancelTask(ctx, user, cancelled, "not needed"))
	resultOf[parley.TaskView](w)(w.ReassignTask(ctx, user, given, "sam"))
	same(t, "after", wordsOf(w.departuresOf("tree")), []string{cancelled + " is cancelled: not needed", given + " was reassigned to sam"})
	same(t, "once", len(w.departuresOf("tree")), 2)
	w.AssertConsistent()
}

// So it is in a channel: what was asked for there is written, and that it is not wanted any more, too.
func TestTasksInAChannelThatEndBeforeTheirFileIsWritten(t *testing.T) {
	t.Parallel()
	w := paper(t)
	m := w.PostAs("user", parley.Draft{Conversation: "paper", To: "claude", Type: parley.TypeTask, Content: text("Draft it")}).Message
	resultOf[parley.TaskView](w)(w.CancelTask(ctx, user, m.Task, "not needed"))
	same(t, "first", w.writeDepartures("tree", "paper"), []string{"Draft it"})
	same(t, "then", w.writeDepartures("tree", "paper"), []string{m.Task + " is cancelled: not needed"})
	same(t, "once", w.writeDepartures("tree", "paper"), []string{})
	w.AssertConsistent()
}
