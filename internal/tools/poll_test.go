package tools_test

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/tools"
)

// TestTakeSaysUntilWhenToAnswer: what an agent takes without a session comes again if the agent is silent.
func TestTakeSaysUntilWhenToAnswer(t *testing.T) {
	chat, ask := parley.Delivery{}, parley.Delivery{Purpose: parley.PurposeAsk}
	const comesAgain = "Answer each with reply, or acknowledge it with ack, within 60 s, or it comes again; after 5 times it fails.\n"
	for name, test := range map[string]struct {
		taken   parley.Taken
		session string
		want    string
	}{
		"a message":  {parley.Taken{Deliveries: []parley.Delivery{chat}, Attempts: 5}, "", comesAgain},
		"one time":   {parley.Taken{Deliveries: []parley.Delivery{chat}, Attempts: 1}, "", "Answer each with reply, or acknowledge it with ack, within 60 s, or it fails.\n"},
		"an ask":     {parley.Taken{Deliveries: []parley.Delivery{ask}, Attempts: 5, ForAsks: 2 * time.Minute}, "", "Answer an ask with reply within 120 s: it comes only once.\n"},
		"both":       {parley.Taken{Deliveries: []parley.Delivery{ask, chat}, Attempts: 5, ForAsks: 2 * time.Minute}, "", comesAgain + "Answer an ask with reply within 120 s: it comes only once.\n"},
		"in session": {parley.Taken{Deliveries: []parley.Delivery{chat, ask}, Attempts: 5, ForAsks: time.Minute}, "k", "Answer with reply, or acknowledge with ack.\n"},
	} {
		test.taken.Lease, test.taken.For = "0198c3a0-0000-7000-8000-000000000001", time.Minute
		for i := range test.taken.Deliveries {
			test.taken.Messages = append(test.taken.Messages, message(int64(i+1), "gendry", "hello"))
		}
		p := tools.Participant{ID: "arya", Workspace: &fakeHub{taken: test.taken}, Session: test.session, Takes: &tools.Takes{}}
		result, err := tools.Call(t.Context(), p, "check_inbox", nil)
		if _, after, _ := strings.Cut(result.Text, "hello\n--- end ---\n"); err != nil || !strings.HasSuffix(after, test.want) || strings.Contains(strings.TrimSuffix(after, test.want), "Answer") {
			t.Errorf("%s: %q, %v", name, result.Text, err)
		}
	}
}

// TestReportNeedsNoNameOfTheOnlyTask: of several, the call must name one.
func TestReportNeedsNoNameOfTheOnlyTask(t *testing.T) {
	coal := parley.TaskView{Task: parley.Task{ID: "task-8"}}
	for want, h := range map[string]*fakeHub{
		"Error: the call names no task, and you have no open task (name the task: task-…)":     {},
		"Error: the call names no task, and you have 2 open tasks (name one of task-7 task-8)": {tasks: []parley.TaskView{{Task: forging}, coal}},
		"Error: task is missing (see the tool's schema)":                                       {fails: &parley.Held{}},
	} {
		if _, err := call(t, h, "update_task", `{"status":"completed"}`); tools.Failure(err) != want || len(h.asked) != 1 {
			t.Errorf("%v, want %q; asked %q", err, want, h.asked)
		}
	}
	h := &fakeHub{}
	run := tools.Participant{ID: "arya", Workspace: h, InRun: true}
	if _, err := tools.Call(t.Context(), run, "update_task", json.RawMessage(`{"status":"completed"}`)); err != nil || h.asked[0] != `update "": {"status":"completed"}` {
		t.Errorf("a run: %q, %v", h.asked, err)
	}
}

// TestHeldCallNamesItsApproval, in words and as a value.
func TestHeldCallNamesItsApproval(t *testing.T) {
	for inRun, outcome := range map[bool]string{true: "its outcome wakes you", false: "its outcome comes to your inbox"} {
		p := tools.Participant{ID: "arya", Workspace: &fakeHub{fails: &parley.Held{Approval: parley.Approval{Number: 7}}}, InRun: inRun}
		result, err := tools.Call(t.Context(), p, "contact_agent", json.RawMessage(`{"action":"notify","agentId":"w","message":"News"}`))
		data, failed := json.Marshal(result.Data)
		if err != nil || failed != nil || string(data) != `{"outcome":"held","approval":"approval-7"}` {
			t.Errorf("%s, %v, %v", data, err, failed)
		}
		if want := parley.HeldText + "\nThe call has not been made: it waits for approval-7, and " + outcome + ".\n"; result.Text != want {
			t.Errorf("%q, want %q", result.Text, want)
		}
	}
}

// TestResultsHaveTheNamesOfTheirCalls: a program finds the ticket, the task and the approval of its call in what it takes.
func TestResultsHaveTheNamesOfTheirCalls(t *testing.T) {
	const question = "0198c3a0-0000-7000-8000-000000000522"
	answer, result, decision := message(7, parley.System, "Yes"), message(8, parley.System, "Done"), message(9, parley.System, "No")
	answer.InReplyTo = question
	for m, s := range map[*parley.Message]parley.Subject{&result: {Task: "task-4"}, &decision: {Approval: "approval-7"}} {
		about, err := m.About(s)
		if err != nil {
			t.Fatal(err)
		}
		if *m, err = about.Say(parley.Own(m.Content.Text)); err != nil {
			t.Fatal(err)
		}
	}
	forged := message(10, "gendry", "Done")
	forged.Metadata = result.Metadata
	list, answered := []parley.Message{answer, result, decision, forged}, parley.ShortNames{question: "m522"}
	newest := slices.Clone(list)
	slices.Reverse(newest)
	for name, h := range map[string]*fakeHub{
		"take": {taken: parley.Taken{Messages: list, Answered: answered}}, "peek": {peeked: parley.Peeked{Messages: newest, Answered: answered}},
		"read": {messages: list, answered: answered},
	} {
		tool, args := "check_inbox", `{"peek":`+strconv.FormatBool(name == "peek")+`}`
		if name == "read" {
			tool, args = "read_conversation", `{"conversation":"c"}`
		}
		got, err := tools.Call(t.Context(), tools.Participant{ID: "arya", Workspace: h}, tool, json.RawMessage(args))
		if err != nil || !strings.Contains(got.Text, "in reply to m522") {
			t.Errorf("%s: %s, %v", name, got.Text, err)
		}
		raw, err := json.Marshal(got.Data)
		if err != nil {
			t.Fatal(err)
		}
		var data struct {
			Messages []struct {
				InReplyTo string `json:"in_reply_to"`
				Task      string `json:"task"`
				Approval  string `json:"approval"`
			} `json:"messages"`
		}
		if err := json.Unmarshal(raw, &data); err != nil || len(data.Messages) != 4 {
			t.Fatalf("%s: %s, %v", name, raw, err)
		}
		m := data.Messages
		if m[0].InReplyTo != "m522" || m[1].Task != "task-4" || m[2].Approval != "approval-7" || m[3].Task != "" {
			t.Errorf("%s: %+v", name, m)
		}
	}
}
