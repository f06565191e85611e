package cli

import (
	"encoding/json"
	"testing"

	"github.com/parley-hub/parley"
)

func TestDeliveriesInWords(t *testing.T) {
	broken := json.RawMessage(`{"failure":{"code":"E002","message":"it is not there","suggestion":"install it"}}`)
	for state, want := range map[parley.DeliveryState]string{
		parley.DeliveryAccepted:  "arya gets m1 again: E002: it is not there (install it)",
		parley.DeliveryDelivered: "arya was given m1: E002: it is not there (install it)",
		parley.DeliverySeen:      "arya has seen m1",
		parley.DeliveryAcked:     "arya has acked m1",
		parley.DeliveryAnswered:  "arya has answered m1",
		parley.DeliveryFailed:    "m1 to arya is failed: E002: it is not there (install it)",
		parley.DeliveryDead:      "m1 to arya is dead: E002: it is not there (install it)",
		parley.DeliveryExpired:   "m1 to arya is expired: E002: it is not there (install it)",
	} {
		got, known := inWords(nil, parley.Event{Kind: parley.EventDelivery(state), Agent: "arya", Message: "m1", Data: broken})
		if got != want || !known {
			t.Errorf("%s is %q, want %q", state, got, want)
		}
	}
}

// TestWhatTheHubSaysIsSaidOnce: what it adds for programs is no second text for people.
func TestWhatTheHubSaysIsSaidOnce(t *testing.T) {
	said := func(from string, kind parley.Type, text string) string {
		return body(parley.Message{From: from, Type: kind, Content: parley.Content{Text: text}, Payload: json.RawMessage(`{"a":1}`)})
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
