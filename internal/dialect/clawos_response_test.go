package dialect

import (
	"encoding/json"
	"testing"

	"github.com/parley-hub/parley"
)

// A response says that there was no error, as the seed has it, whatever payload the message has.
func TestAResponseThatSucceededHasNoError(t *testing.T) {
	for _, payload := range []string{`{"status":"success"}`, `{"status":"partial","issues":["slow"]}`, `{"status":"success","error":null}`} {
		out := parley.Departure{Name: "r-1", Recipient: "gm", ReplyTo: "q-1", Message: parley.Message{
			From: "ned", To: "gm", Type: parley.TypeResult, Content: parley.Content{Text: "done"}, Payload: json.RawMessage(payload),
		}}
		raw, err := Encode(ClawOS, out)
		if err != nil {
			t.Fatal(err)
		}
		got := parseObject(raw).object("payload")
		if string(got.raw("error")) != "null" || got.text("requestId") != "q-1" || jsonText(got.raw("result")) != "done" {
			t.Errorf("of %s is written %s", payload, raw)
		}
	}
	failed := parley.Departure{Name: "r-1", Recipient: "gm", Message: parley.Message{
		From: "ned", To: "gm", Type: parley.TypeResult, Content: parley.Content{Text: "no key"}, Payload: json.RawMessage(`{"status":"failure"}`),
	}}
	raw, err := Encode(ClawOS, failed)
	if err != nil || jsonText(parseObject(raw).object("payload").raw("error")) != "no key" {
		t.Errorf("%s: %v", raw, err)
	}
}
