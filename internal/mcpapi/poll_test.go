package mcpapi_test

import (
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

// TestAnAgentThatPollsDoesATask: ben has no session, is told what to do at each step, and ana finds the task in what ben has made of it.
func TestAnAgentThatPollsDoesATask(t *testing.T) {
	h := newHub(t, quick())
	ana, ben := &web{hub: h, agent: "ana"}, &web{hub: h, agent: "ben"}
	said := func(c *web, tool, args string, wanted ...string) {
		t.Helper()
		got := string(last(c.send(t, filled(call(tool, args), ""))))
		for _, want := range wanted {
			if !strings.Contains(got, want) {
				t.Errorf("%s %s: %s, without %q", tool, args, got, want)
			}
		}
	}
	said(ana, "contact_agent", `{"action":"delegate","agentId":"ben","message":"Pick them"}`, "(subtask task-1)", "Note: ben is away; it starts when ben is back")
	said(ben, "check_inbox", `{}`, "Pick them", "within 60 s, or it comes again; after 5 times it fails")
	request := h.TaskByID("task-1").Message
	said(ben, "reply", `{"message":"`+request+`","content":"On it"}`, "task-1 is open: end it with update_task", `"task":"task-1"`)
	if state := h.DeliveryState(request, "ben"); state == parley.DeliverySeen {
		t.Errorf("the request is %s after a reply", state)
	}
	said(ben, "update_task", `{"progress":{"fraction":0.5}}`, "Noted: task-1")
	said(ben, "update_task", `{"status":"completed","result":"Twelve"}`, "completed")
	said(ben, "update_task", `{"status":"completed"}`, "you have no open task")
	said(ana, "check_inbox", `{}`, "Twelve", `"task":"task-1"`)
}
