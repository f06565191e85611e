package natslink

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/nats-io/nats.go"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/hubtest"
)

func (r *reader) request(m *nats.Msg) *nats.Msg {
	r.t.Helper()
	m.Subject = "parley.local.send"
	answer, err := r.conn.RequestMsg(m, patience)
	if err != nil {
		r.t.Fatal(err)
	}
	return answer
}

func withToken(token, body string) *nats.Msg {
	m := nats.NewMsg("")
	m.Header.Set(headerToken, token)
	m.Data = []byte(body)
	return m
}

func TestMessageIsTakenAndAnsweredWithItsReceipt(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	w := newLinkedHub(t, b)
	w.AddAgents("arya", "ned")
	w.logged.await(t, "the hub takes messages from NATS")
	r, token := newReader(t, b), w.MakeToken("arya").Secret
	m := withToken(token, `{"direct":["ned"],"content":{"text":"hello"},"priority":"high"}`)
	m.Header.Set(headerTrace, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	m.Header.Set(headerID, "once")
	var first, second parley.Receipt
	answer := r.request(m)
	w.NoError(json.Unmarshal(answer.Data, &first))
	got := first.Message
	if got.From != "arya" || got.Source != "nats" || got.Content.Text != "hello" || got.TraceID != "0af7651916cd43dd8448eb211c80319c" {
		t.Errorf("the receipt is %s", answer.Data)
	}
	if len(first.Deliveries) != 1 || first.Deliveries[0].Recipient != "ned" {
		t.Errorf("the deliveries are %+v", first.Deliveries)
	}
	w.NoError(json.Unmarshal(r.request(m).Data, &second))
	if !second.Duplicate || second.Message.ID != got.ID {
		t.Errorf("repeated, it is %+v", second)
	}
	inBody := nats.NewMsg("")
	inBody.Data = fmt.Appendf(nil, `{"token":%q,"direct":["ned"],"content":{"text":"by body"},"trace_id":"mine"}`, token)
	w.NoError(json.Unmarshal(r.request(inBody).Data, &second))
	if second.Message.From != "arya" || second.Message.TraceID != "mine" {
		t.Errorf("with its token in the body it is %+v", second)
	}
}

func TestRefusedRequests(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	w := newLinkedHub(t, b, func(o *Options) { o.Body = 4 << 10 })
	w.AddAgents("arya", "ned")
	w.logged.await(t, "the hub takes messages from NATS")
	r, token := newReader(t, b), w.MakeToken("arya").Secret
	draft := `{"direct":["ned"],"content":{"text":"hello"}}`
	for _, test := range []struct {
		name    string
		message *nats.Msg
		code    parley.Code
		words   string
	}{
		{"no token", withToken("", draft), parley.NotPermitted, "has no credential"},
		{"a wrong token", withToken("parley_wrong", draft), parley.NotPermitted, "does not know the token"},
		{"a token that may only read", withToken(w.MakeToken("arya", parley.ScopeRead).Secret, draft), parley.NotPermitted, "the scope send"},
		{"two tokens", withToken(token, `{"token":"parley_other","direct":["ned"]}`), parley.BadInput, "different tokens"},
		{"another sender", withToken(token, `{"from":"ned","direct":["ned"],"content":{"text":"x"}}`), parley.NotPermitted, "ned"},
		{"broken JSON", withToken(token, `{"direct":["ned"`), parley.BadInput, "the request ends too soon"},
		{"nothing", withToken(token, ``), parley.BadInput, "the request ends too soon"},
		{"no object", withToken(token, `[]`), parley.BadInput, "the request is not valid"},
		{"an unknown key", withToken(token, `{"direct":["ned"],"contents":{}}`), parley.BadInput, "/contents is unknown"},
		{"a key in another case", withToken(token, `{"Direct":["ned"]}`), parley.BadInput, "/Direct is unknown"},
		{"a key that stands twice", withToken(token, `{"direct":["ned"],"direct":["arya"]}`), parley.BadInput, "/direct appears twice"},
		{"a number for a text", withToken(token, `{"direct":["ned"],"content":{"text":7}}`), parley.BadInput, "/content/text is not valid"},
		{"null for a text", withToken(token, `{"direct":["ned"],"content":{"text":null}}`), parley.BadInput, "/content/text is null"},
		{"null for it all", withToken(token, `null`), parley.BadInput, "the request is null"},
		{"more after it", withToken(token, draft+draft), parley.BadInput, "is not valid"},
		{"too large", withToken(token, strings.Repeat(" ", 33<<10)), parley.BadInput, "the limit here is 32768"},
		{"a text over the hub's limit", withToken(token, `{"direct":["nobody"],"content":{"text":"x"}}`), parley.BadInput, "nobody"},
	} {
		t.Run(test.name, func(t *testing.T) {
			answer := r.request(test.message)
			var got problem
			w.NoError(json.Unmarshal(answer.Data, &got))
			if got.Code != test.code || !strings.Contains(got.Detail, test.words) || got.Suggestion == "" {
				t.Errorf("answered %s, want %s with %q and a suggestion", answer.Data, test.code, test.words)
			}
			if answer.Header.Get("Parley-Code") != string(test.code) {
				t.Errorf("the header says %q", answer.Header.Get("Parley-Code"))
			}
			if strings.Contains(string(answer.Data), "parley_wrong") {
				t.Error("the answer repeats the token")
			}
		})
	}
	hits, err := w.Search(ctx, hubtest.Owner, parley.SearchRequest{Query: "from:arya"})
	w.NoError(err)
	if len(hits.Hits) != 0 {
		t.Errorf("%d messages were stored", len(hits.Hits))
	}
}

// TestAnswerStaysInItsTrace as over HTTP: a traceparent is for what neither gives nor inherits a trace.
func TestAnswerStaysInItsTrace(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	w := newLinkedHub(t, b)
	w.AddAgents("arya", "ned")
	w.logged.await(t, "the hub takes messages from NATS")
	asked := w.postAs("arya", parley.Draft{Direct: []string{"ned"}, Content: parley.Content{Text: "coming?"}, TraceID: "winter-1"})
	m := withToken(w.MakeToken("ned").Secret, fmt.Sprintf(`{"in_reply_to":%q,"content":{"text":"yes"}}`, asked.ID))
	m.Header.Set(headerTrace, "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	answer := newReader(t, b).request(m)
	var got parley.Receipt
	w.NoError(json.Unmarshal(answer.Data, &got))
	if got.Message.TraceID != "winter-1" {
		t.Errorf("the answer is in the trace %q: %s", got.Message.TraceID, answer.Data)
	}
}

// TestForeignTraceIsNotJoined: a trace of others is not joined by naming it, in the header or in the body.
func TestForeignTraceIsNotJoined(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	w := newLinkedHub(t, b)
	w.AddAgents("arya", "ned", "hound")
	w.logged.await(t, "the hub takes messages from NATS")
	secret := w.postAs("arya", parley.Draft{Direct: []string{"ned"}, Content: parley.Content{Text: "coming?"}})
	header := withToken(w.MakeToken("hound").Secret, `{"direct":["user"],"content":{"text":"x"}}`)
	header.Header.Set(headerTrace, parley.TraceParent(secret.TraceID, parley.MessageSpan(secret.ID)))
	for name, m := range map[string]*nats.Msg{
		"header": header,
		"body":   withToken(w.MakeToken("hound").Secret, fmt.Sprintf(`{"direct":["user"],"trace_id":%q,"content":{"text":"x"}}`, secret.TraceID)),
	} {
		var got parley.Receipt
		w.NoError(json.Unmarshal(newReader(t, b).request(m).Data, &got))
		if got.Message.ID == "" || got.Message.TraceID != got.Message.ID {
			t.Errorf("%s: message %s is in the trace %s", name, got.Message.ID, got.Message.TraceID)
		}
	}
}

func TestRefusalOfAPayloadSaysAllThatIsWrong(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	w := newLinkedHub(t, b)
	w.AddAgents("arya", "ned")
	w.logged.await(t, "the hub takes messages from NATS")
	answer := newReader(t, b).request(withToken(w.MakeToken("arya").Secret, `{"direct":["ned"],"type":"status-update","payload":{"status":"done","progress":2}}`))
	var got problem
	w.NoError(json.Unmarshal(answer.Data, &got))
	if got.Validation == nil || got.Validation.Error != "VALIDATION_FAILED" || len(got.Validation.Issues) != 2 {
		t.Errorf("answered %s", answer.Data)
	}
}

func TestRefusalWithoutAReplySubjectIsLogged(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	w := newLinkedHub(t, b)
	w.logged.await(t, "the hub takes messages from NATS")
	r := newReader(t, b)
	w.NoError(r.conn.Publish("parley.local.send", []byte("{")))
	w.logged.await(t, "cannot tell its sender")
}

func TestRequestsWithOneTokenStayInTheirOrder(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	w := newLinkedHub(t, b)
	w.AddAgents("arya")
	channel := w.createChannel("general")
	w.NoError(w.Join(ctx, hub.Caller{Agent: "arya", Source: "test"}, channel))
	w.logged.await(t, "the hub takes messages from NATS")
	r, token := newReader(t, b), w.MakeToken("arya").Secret
	want := []string{}
	for n := range 100 {
		want = append(want, fmt.Sprint(n))
		m := withToken(token, fmt.Sprintf(`{"conversation":"general","content":{"text":"%d"}}`, n))
		m.Subject = "parley.local.send"
		w.NoError(r.conn.PublishMsg(m))
	}
	got := []string{}
	for _, p := range r.read(100) {
		got = append(got, p.message.Content.Text)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the order (-want +got):\n%s", diff)
	}
}

func TestTraceparentThatIsMalformedIsNone(t *testing.T) {
	t.Parallel()
	const trace, span = "0af7651916cd43dd8448eb211c80319c", "b7ad6b7169203331"
	for header, want := range map[string]string{
		"00-" + trace + "-" + span + "-01":                   trace,
		"01-" + trace + "-" + span + "-01-more":              trace,
		"00-" + trace + "-" + span + "-01-more":              "",
		"ff-" + trace + "-" + span + "-01":                   "",
		"00-" + strings.ToUpper(trace) + "-" + span + "-01":  "",
		"00-" + strings.Repeat("0", 32) + "-" + span + "-01": "",
		"00-" + trace[:30] + "-" + span + "-01":              "",
		"00-" + strings.Repeat("x", 32) + "-" + span + "-01": "",
		trace: "",
		"":    "",
	} {
		m := withToken("", "{}")
		m.Header.Set(headerTrace, header)
		if got := read(m, 1<<10).trace; got != want {
			t.Errorf("%q has the trace %q, want %q", header, got, want)
		}
	}
}
