package httpapi_test

import (
	"bufio"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
)

// printedCalls are the calls that the protocol's document prints, whole. Only the ids of the agents are replaced.
var printedCalls = map[string]string{
	"example 1": `{
  "tool": "contact_agent",
  "action": "ask",
  "agentId": "550e8400-e29b-41d4-a716-446655440001",
  "message": "What was our total Q4 2025 revenue, and how does it break down by product line?",
  "context": "I'm preparing the monthly investor update for the CEO. They want YoY comparisons included."
}`,
	"example 2": `{
  "tool": "contact_agent",
  "action": "delegate",
  "agentId": "550e8400-e29b-41d4-a716-446655440002",
  "message": "Draft a 500-word blog post about our Q4 achievements. Focus on the new product launches and customer growth. Tone: professional but warm. Target audience: existing customers.",
  "context": "This is for the company website. The user (Rutger) wants it published by Friday. Q4 revenue was $2.4M, up 18% YoY. We launched 2 new products and grew customers by 30%.",
  "priority": "high"
}`,
	"example 3": `{
  "tool": "contact_agent",
  "action": "notify",
  "agentId": "550e8400-e29b-41d4-a716-446655440000",
  "message": "The Q4 competitor analysis is complete. I've saved it as 'Q4 Competitor Analysis' in the research folder. Key finding: our main competitor launched a similar feature at 20% lower price point."
}`,
	"good context": `{"action": "ask", "agentId": "data-bot-uuid", "message": "What was our Q4 revenue by product line?",` +
		` "context": "I'm preparing the monthly investor update for the CEO. They specifically asked for YoY comparison."}`,
	"no context":  `{"action": "ask", "agentId": "data-bot-uuid", "message": "What was our Q4 revenue by product line?"}`,
	"recovery":    `{"action": "delegate", "agentId": "data-bot", "message": "...", "priority": "high"}`,
	"example 5.1": `{"action": "delegate", "agentId": "data-bot", "message": "Pull Q4 revenue, costs, and margin data...", "priority": "high"}`,
	"example 5.2": `{"action": "delegate", "agentId": "analyst-bot", "message": "Analyze Q4 trends and create visualizations...", "priority": "high"}`,
	"example 5.3": `{"action": "delegate", "agentId": "writer-bot", "message": "Draft the executive summary section...", "priority": "normal"}`,
	"example 6.1": `{"action": "ask", "agentId": "data-bot", "message": "What's our MRR trend for the last 6 months?"}`,
	"example 6.2": `{"action": "delegate", "agentId": "data-bot",
  "message": "What's our MRR trend for the last 6 months? Please include month-by-month figures.",
  "priority": "high"
}`,
	"example 7": `{"action": "ask", "agentId": "senior-analyst", "message": "Can you validate my analysis approach?"}`,
}

// TestPrintedCallsWorkAsTheyStand pastes each of them.
func TestPrintedCallsWorkAsTheyStand(t *testing.T) {
	w := newServedHub(t)
	rickon, err := w.Agent(ctx, user, "rickon")
	w.NoError(err)
	for name, printed := range printedCalls {
		var call struct{ Action, AgentID, Message string }
		if err := json.Unmarshal([]byte(printed), &call); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		body := strings.ReplaceAll(printed, call.AgentID, rickon.UUID)
		answered := make(chan reply, 1)
		go func() { answered <- w.send(request{as: "arya", path: "/v1/contact", body: body}) }()
		want := map[string]string{
			"ask": "Response from rickon: Yes.", "notify": "Notification sent to rickon.", "delegate": "Delegated to rickon (subtask task-",
		}[call.Action]
		if call.Action == "ask" {
			for asked := false; !asked; {
				taken, err := w.Take(ctx, as("rickon"), parley.Take{Wait: longWait})
				w.NoError(err)
				for _, m := range taken.Messages {
					if asked = m.Type == parley.TypeRequest; asked {
						w.answerAsRickon(m.ID, "Yes.")
					}
				}
			}
		}
		if got := <-answered; got.status != http.StatusOK || !strings.HasPrefix(find(t, got.body, "text"), want) {
			t.Errorf("%s: got %d %s", name, got.status, got.body)
		}
	}
}

// TestNamesOfAContactAreStrict: what is read besides agentId is read strictly too.
func TestNamesOfAContactAreStrict(t *testing.T) {
	w := newServedHub(t)
	const rest = `"action":"notify","message":"hello"`
	for name, body := range map[string]string{
		"another tool":        `{"tool":"send_channel_message","agentId":"gendry",` + rest + `}`,
		"a tool of no name":   `{"tool":1,"agentId":"gendry",` + rest + `}`,
		"two agents":          `{"agent":"gendry","agentId":"hound",` + rest + `}`,
		"no agent":            `{` + rest + `}`,
		"a key of other case": `{"agentid":"gendry",` + rest + `}`,
		"an unknown key":      `{"agentId":"gendry","agent_id":"gendry",` + rest + `}`,
	} {
		w.assertRefused(t, name, request{as: "arya", path: "/v1/contact", body: body}, 400, parley.BadInput)
	}
	for _, body := range []string{`{"agent":"gendry",` + rest + `}`, `{"agent":"gendry","agentId":"gendry",` + rest + `}`} {
		if got := w.send(request{as: "arya", path: "/v1/contact", body: body}); got.status != http.StatusOK {
			t.Errorf("%s: got %d %s", body, got.status, got.body)
		}
	}
}

// TestFailedContactsSayTheirSentence: detail and contacted.text are the sentence that an agent is told, whatever has failed.
func TestFailedContactsSayTheirSentence(t *testing.T) {
	w := newServedHub(t)
	late := w.send(request{as: "arya", path: "/v1/contact", body: anAsk[:len(anAsk)-1] + `,"wait":0.001}`})
	sentence := "Error: rickon did not respond within 0.001 seconds. Consider using 'delegate' for async processing. The answer will be delivered when it comes."
	if find(t, late.body, "detail") != sentence || find(t, late.body, "contacted.text") != sentence {
		t.Errorf("late: %s", late.body)
	}
	w.answerAsRickon(w.takeQuestion(), "Valyrian.")
	failed := make(chan reply, 1)
	go func() { failed <- w.send(request{as: "arya", path: "/v1/contact", body: anAsk}) }()
	_, err := w.Ack(ctx, as("rickon"), "", w.takeQuestion())
	w.NoError(err)
	sentence = "Error: rickon failed to respond: it gave no answer"
	if got := <-failed; find(t, got.body, "detail") != sentence || find(t, got.body, "contacted.text") != sentence {
		t.Errorf("failed: %s", got.body)
	}
	offline := w.send(request{as: "arya", path: "/v1/contact", body: strings.Replace(anAsk, "rickon", "hound", 1)})
	if find(t, offline.body, "detail") != "Error: hound is offline and cannot be asked. Use 'notify' to leave a message." {
		t.Errorf("offline: %s", offline.body)
	}
}

// contactInLines makes a contact whose answer comes line by line.
func (w *servedHub) contactInLines(body string, key string) linedAnswer {
	w.T.Helper()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, w.server.URL+"/v1/contact", strings.NewReader(body))
	w.NoError(err)
	for name, value := range in("Authorization", "Bearer "+w.tokens["arya"], "Content-Type", "application/json", "Accept", "application/jsonl", "Idempotency-Key", key) {
		req.Header.Set(name, value)
	}
	response, err := direct.Do(req)
	w.NoError(err)
	w.T.Cleanup(func() { _ = response.Body.Close() })
	return linedAnswer{bufio.NewScanner(response.Body), response.StatusCode, response.Header, response.Body.Close}
}

// linedAnswer is an answer of JSON lines.
type linedAnswer struct {
	*bufio.Scanner
	status int
	header http.Header
	end    func() error
}

// TestAContactInLinesBeginsWithTheStoredRequest: its caller knows the request before there is an answer, and can go on with it
// elsewhere.
func TestAContactInLinesBeginsWithTheStoredRequest(t *testing.T) {
	w := newServedHub(t)
	lines := w.contactInLines(anAsk, "k1")
	if !lines.Scan() || lines.header.Get("Content-Type") != "application/jsonl" {
		t.Fatalf("no line: %v, %s", lines.Err(), lines.header)
	}
	message := find(t, lines.Text(), "waiting.message")
	if got := w.takeQuestion(); got != message || find(t, lines.Text(), "waiting.outcome") != "waiting" || !strings.Contains(lines.Text(), `,"wait":1`) {
		t.Errorf("the first line is %s; rickon was asked %s", lines.Text(), got)
	}
	again := w.contactInLines(anAsk, "k1")
	if !again.Scan() || find(t, again.Text(), "waiting.message") != message {
		t.Errorf("the same call waits for %s", again.Text())
	}
	_ = again.end()
	w.answerAsRickon(message, "Valyrian.")
	if !lines.Scan() || find(t, lines.Text(), "contacted.text") != "Response from rickon: Valyrian." || lines.Scan() {
		t.Errorf("the last line is %s", lines.Text())
	}

	lines = w.contactInLines(anAsk[:len(anAsk)-1]+`,"wait":0.001}`, "k2")
	lines.Scan() // what was stored
	if !lines.Scan() || find(t, lines.Text(), "problem.code") != "E004" || find(t, lines.Text(), "problem.contacted.outcome") != "late" {
		t.Errorf("the last line of a late ask is %s", lines.Text())
	}
	refused := w.contactInLines(strings.Replace(anAsk, "rickon", "nobody", 1), "k3")
	if refused.status != http.StatusNotFound || refused.header.Get("Content-Type") != "application/problem+json" {
		t.Errorf("a contact that was not made: %d %s", refused.status, refused.header)
	}
	lines = w.contactInLines(strings.Replace(anAsk, `"ask"`, `"notify"`, 1), "k4")
	if !lines.Scan() || lines.header.Get("Content-Type") != "application/json" || find(t, lines.Text(), "outcome") != "notified" {
		t.Errorf("a contact that does not wait: %s", lines.Text())
	}
}
