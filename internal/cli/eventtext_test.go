package cli

import (
	"encoding/json"
	"testing"

	"github.com/parley-hub/parley"
)

func TestDeliveriesInWords(t *testing.T) {
	broken := json.RawMessage(`{"failure":{"code":"E002","message":"it is not there","suggestion":"install it"}}`)
	for state, want := range map[parley.DeliveryState]string{
		parley.DeliveryAccepted:  "m1 is queued again for arya: E002: it is not there (install it)",
		parley.DeliveryDelivered: "m1 was delivered to arya: E002: it is not there (install it)",
		parley.DeliverySeen:      "arya has seen m1",
		parley.DeliveryAcked:     "arya has acked m1",
		parley.DeliveryAnswered:  "arya has answered m1",
		parley.DeliveryFailed:    "m1 to arya is failed: E002: it is not there (install it)",
		parley.DeliveryDead:      "m1 to arya is dead: E002: it is not there (install it)",
		parley.DeliveryExpired:   "m1 to arya is expired: E002: it is not there (install it)",
	} {
		got, known := eventInWords(nil, parley.Event{Kind: parley.EventDelivery(state), Agent: "arya", Message: "m1", Data: broken})
		if got != want || !known {
			t.Errorf("%s is %q, want %q", state, got, want)
		}
	}
}

func TestWorkInWords(t *testing.T) {
	const task, held = `"task":"task-7","title":"Draft it"`, `"approval":"a1","number":7,"tool":"contact_agent","target":"analyst"`
	for _, test := range []struct {
		kind       parley.EventKind
		data, want string
	}{
		{parley.EventTask(parley.TaskActive), `{` + task + `}`, `task-7 "Draft it" (arya) is active`},
		{parley.EventTask(parley.TaskFailed), `{` + task + `,"error":{"code":"E005","message":"no disk"}}`, `task-7 "Draft it" (arya) is failed: E005: no disk`},
		{parley.EventTaskProgress, `{` + task + `,"progress":{"fraction":0.5,"message":"half"}}`, `task-7 "Draft it" (arya): 50 %: half`},
		{parley.EventTaskProgress, `{` + task + `,"progress":{"fraction":0.5,"blockers":["no key"]}}`, `task-7 "Draft it" (arya): blocked: no key`},
		{parley.EventApproval(parley.ApprovalPending), `{` + held + `}`, "arya: contact_agent analyst is pending, an owner decides (approval-7)"},
		{parley.EventApproval(parley.ApprovalDenied), `{` + held + `,"decided_by":"boss"}`, "arya: contact_agent analyst is denied by boss (approval-7)"},
		{
			parley.EventApproval(parley.ApprovalExecuted), `{` + held + `,"decided_by":"boss","failure":{"code":"E002","message":"offline"}}`,
			"arya: contact_agent analyst is executed: E002: offline (approval-7)",
		},
	} {
		got, known := eventInWords(nil, parley.Event{Kind: test.kind, Agent: "arya", Data: json.RawMessage(test.data)})
		if got != test.want || !known {
			t.Errorf("%s is %q, want %q", test.kind, got, test.want)
		}
	}
}

// TestHubMessagesAndCommandsHideTheirPayload: what it adds for programs is no second text for people.
func TestHubMessagesAndCommandsHideTheirPayload(t *testing.T) {
	said := func(from string, kind parley.Type, text string) string {
		m, err := parley.Message{From: from, Type: kind, Payload: json.RawMessage(`{"a":1}`)}.Say(parley.Own(text))
		if err != nil {
			t.Fatal(err)
		}
		return messageBody(m)
	}
	for got, want := range map[string]string{
		said(parley.System, parley.TypeError, "it failed"): "it failed",
		said("user", parley.TypeCommand, "pause"):          "pause",
		said("user", parley.TypeCommand, ""):               `{"a":1}`,
		said("user", parley.TypeChat, "look"):              "look\n" + `{"a":1}`,
	} {
		if got != want {
			t.Errorf("it is %q, want %q", got, want)
		}
	}
}
