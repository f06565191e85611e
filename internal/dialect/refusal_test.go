package dialect

import (
	"slices"
	"testing"

	"github.com/parley-hub/parley"
)

// TestARefusalListsEveryIssue: a failure of the routing format has a list for them.
func TestARefusalListsEveryIssue(t *testing.T) {
	out := parley.Departure{
		Name: "msg_00000002", Recipient: "coder", ReplyTo: "msg_00000001", Final: true, Sequence: 1,
		Message: parley.Message{
			From: parley.System, To: "coder", Type: parley.TypeError, Content: parley.Content{Text: "Error: the document msg_00000001 was refused: a; b."},
			Payload: []byte(`{"error":{"code":"E003","message":"x","validation":{"error":"VALIDATION_FAILED","issues":["a","b"]}},"final":true}`),
		},
	}
	raw, err := Encode(Routing, out)
	if err != nil {
		t.Fatal(err)
	}
	doc := parseObject(raw)
	payload := doc.object("payload")
	if !slices.Equal(payload.list("issues"), []string{"a", "b"}) || payload.text("status") != "failure" || doc.text("correlation_id") != "msg_00000001" {
		t.Errorf("%s", raw)
	}
}
