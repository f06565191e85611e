package tools_test

import (
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/tools"
)

// TestSuggestionsAreForModels: a model calls tools, and runs no commands.
func TestSuggestionsAreForModels(t *testing.T) {
	for hub, want := range map[string]string{
		"list agents: parley agent list": "list agents: query_workspace list_agents",
		"decide approval-7: parley approval approve approval-7, or parley approval deny approval-7": "decide approval-7 with decide_approval, id approval-7",
		"list conversations: parley conv list":                                                      "list conversations: query_workspace list_channels",
		"list the live sessions: parley session list":                                               "list the live sessions: query_workspace list_sessions",
		"check the id: parley task list, parley approval list, parley search":                       "check the id: query_workspace list_tasks, query_workspace list_approvals, query_workspace search",
		"see the task: parley task show task-3":                                                     "see the task: query_workspace list_tasks",
		"the requester can retry it: parley task retry task-3":                                      "a person can: parley task retry task-3",
		"see the decision: parley approval show approval-7":                                         "a person can: parley approval show approval-7",
		`post there and mention it: parley chat --conv paper "@claude …"`:                           `post there and mention it: send_channel_message to paper "@claude …"`,
		"ask its participant: parley ask ana":                                                       "ask its participant: contact_agent ana",
		"shorten it, or send an artifact":                                                           "shorten it, or send it in parts",
		"did you mean ben?":                                                                         "did you mean ben?",
		"change that bridge: parley bridge set a; or remove it first: parley bridge remove a":       "a person can: parley bridge set a; or remove it first: parley bridge remove a",
	} {
		if got := tools.Suggestion(hub); got != want {
			t.Errorf("%q becomes %q, want %q", hub, got, want)
		}
		refused := parley.Errorf(parley.BadInput, "no").Suggest("%s", hub)
		if got := tools.Failure(refused); got != "Error: no ("+want+")" {
			t.Errorf("the failure is %q", got)
		}
	}
}

// TestNoticesAreForModels: what the hub says about unknown names ends in steps of a model too.
func TestNoticesAreForModels(t *testing.T) {
	for notice, want := range map[string]string{
		"nobody is called @x: list agents: parley agent list":             "nobody is called @x: list agents: query_workspace list_agents",
		"bran was not woken: add the agent first: parley conv add a bran": "bran was not woken: add the agent first (a person can: parley conv add a bran)",
		"ana still waits": "ana still waits",
	} {
		h := &fakeHub{receipt: parley.Receipt{Message: parley.Message{ID: "m1"}, Notices: []string{notice}}}
		text, err := call(t, h, "send_channel_message", `{"channelId":"c","content":"@x"}`)
		if err != nil || !strings.HasSuffix(text, "\nNote: "+want+"\n") {
			t.Errorf("%q, %v", text, err)
		}
	}
}
