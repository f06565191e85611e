package natslink

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

func TestResponseIsCopiedToTheSubjectThatItsRequestNames(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	w := newLinkedHub(t, b)
	w.AddAgents("arya", "ned")
	r := newReader(t, b)
	heard, err := r.conn.SubscribeSync("parley.local.answers.mine")
	w.NoError(err)
	w.NoError(r.conn.Flush())
	request := w.postAs("arya", parley.Draft{
		Direct: []string{"ned"}, Type: parley.TypeRequest, Content: parley.Content{Text: "why?"}, Metadata: json.RawMessage(`{"callback":"parley.local.answers.mine"}`),
	})
	w.postAs("ned", parley.Draft{InReplyTo: request.ID, Content: parley.Content{Text: "only talk"}})
	answer := w.postAs("ned", parley.Draft{InReplyTo: request.ID, Type: parley.TypeResponse, Content: parley.Content{Text: "because"}})
	m, err := heard.NextMsg(patience)
	w.NoError(err)
	if got := r.parse(m.Subject, m.Header, m.Data); got.message.ID != answer.ID || got.message.Content.Text != "because" {
		t.Errorf("the copy is %+v", got)
	}
}

func TestCopiesGoOnlyToFreeSubjects(t *testing.T) {
	t.Parallel()
	o := newPublisher(&Link{Options: Options{Name: "local"}})
	for subject, want := range map[string]bool{
		"parley.local.answers": true, "parley.local.a.b.c": true, "parley.local.conversation": true,
		"": false, "parley.local": false, "parley.local.": false, "parley.local.a..b": false, "parley.other.a": false, "general": false,
		"parley.local.conv.x": false, "parley.local.inbox.arya": false, "parley.local.send": false,
		"parley.local.*": false, "parley.local.a.>": false, "parley.local.a b": false, "parley.local.a\r\nPUB x": false,
		"parley.local." + strings.Repeat("a", 300): false,
	} {
		if got := o.isCallbackSubject(subject); got != want {
			t.Errorf("a copy to %q: %v, want %v", subject, got, want)
		}
	}
}
