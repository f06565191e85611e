package cli

import "testing"

const (
	answeredAsk = `{"text":"Response from DataBot: $2.4M,\nup 18% YoY.","outcome":"answered","agent":"data","conversation":"c","message":"m","answer":"n"}`
	lateAsk     = `problem {"code":"E004","detail":"DataBot did not respond within 120 seconds.","recoverable":true,` +
		`"contacted":{"text":"","outcome":"late","agent":"data","conversation":"c","message":"m"}}`
	slowWork = `{"text":"Delegated to WriterBot (subtask task-7). You'll receive the result automatically when WriterBot finishes.","outcome":"delegated","agent":"writer","conversation":"c","message":"m","task":"task-7"}`
	heldAsk  = `202 {"text":"This action requires approval. Waiting for approval...","approval":{"id":"a1","number":7,"state":"pending","agent":"intern","decider":"boss"}}`
	heldTwo  = `202 {"text":"This action requires approval. Waiting for approval...","approval":{"id":"a1","number":7,"state":"pending","agent":"intern"}}`
)

func TestContacts(t *testing.T) {
	runSessions(t, "POST /v1/contact", []session{
		{
			name: "an answer", args: []string{"ask", "data", "What was Q4 revenue?", "--context", "For the CEO", "--key", "k1"}, answer: answeredAsk,
			asks: `POST /v1/contact {"action":"ask","agent":"data","message":"What was Q4 revenue?","context":"For the CEO","idempotency_key":"k1"}`,
			out:  "Response from DataBot: $2.4M,\nup 18% YoY.\n",
		},
		{
			name: "an answer as fields", args: []string{"ask", "data", "-", "--wait=90s", "-o", "jsonl"}, stdin: "What\nwas it?\n", answer: answeredAsk,
			asks: `POST /v1/contact {"action":"ask","agent":"data","message":"What\nwas it?","wait":90}`,
			out:  answeredAsk + "\n",
		},
		{
			name: "late", args: []string{"ask", "data"}, stdin: "What was it?", answer: lateAsk,
			asks: `POST /v1/contact {"action":"ask","agent":"data","message":"What was it?"}`, code: exitTimedOut,
			err: "note: the request goes on; wait for it with: parley wait m\nparley: E004: DataBot did not respond within 120 seconds.\n",
		},
		{
			name: "refused", args: []string{"ask", "data", "?"}, answer: `problem {"code":"E001","detail":"intern may not contact data"}`,
			asks: `POST /v1/contact {"action":"ask","agent":"data","message":"?"}`, code: exitDenied,
			err: "parley: E001: intern may not contact data\n",
		},
		{
			name: "held", args: []string{"ask", "data", "?"}, answer: heldAsk,
			asks: `POST /v1/contact {"action":"ask","agent":"data","message":"?"}`,
			out:  "This action requires approval. Waiting for approval...\n",
			err:  "approval-7: boss decides (see the request: parley approval show approval-7)\nto wait for the outcome: parley wait approval-7; an answer comes to the inbox of the caller too\n",
		},
		{
			name: "held for an owner", args: []string{"notify", "data", "!"}, answer: heldTwo,
			asks: `POST /v1/contact {"action":"notify","agent":"data","message":"!"}`,
			out:  "This action requires approval. Waiting for approval...\n",
			err:  "approval-7: an owner decides (see the request: parley approval show approval-7)\nto wait for the outcome: parley wait approval-7; an answer comes to the inbox of the caller too\n",
		},
		{
			name: "work", args: []string{"delegate", "writer", "Draft it", "--priority", "high", "--deadline", "2030-01-02T10:00:00Z", "--after", "task-1,task-2"},
			answer: `{"text":"Delegated to WriterBot (subtask task-7). You'll receive the result automatically when WriterBot finishes.","outcome":"delegated","agent":"writer","conversation":"c","message":"m","task":"task-7"}`,
			asks:   `POST /v1/contact {"action":"delegate","agent":"writer","message":"Draft it","priority":"high","deadline":"2030-01-02T10:00:00Z","after":["task-1","task-2"]}`,
			out:    "Delegated to WriterBot (subtask task-7). You'll receive the result automatically when WriterBot finishes.\n",
		},
		{
			name: "work that is waited for", args: []string{"delegate", "writer", "Draft it", "--wait"}, answer: slowWork,
			asks: `POST /v1/contact {"action":"delegate","agent":"writer","message":"Draft it","wait":600}`, code: exitTimedOut,
			out: "Delegated to WriterBot (subtask task-7). You'll receive the result automatically when WriterBot finishes.\n",
			err: "parley: E004: there is no result within 10m0s; the hub delivers it when it comes (wait for the result: parley wait task-7)\n",
		},
		{
			name: "work that fails", args: []string{"delegate", "writer", "Draft it", "--wait"},
			answer: `problem {"code":"E005","detail":"WriterBot failed to complete the task: no paper","contacted":{"outcome":"delegated","message":"m","task":"task-7"}}`,
			asks:   `POST /v1/contact {"action":"delegate","agent":"writer","message":"Draft it","wait":600}`, code: exitError,
			err: "note: see what happened: parley task show task-7\nparley: E005: WriterBot failed to complete the task: no paper\n",
		},
		{
			name: "a time after --wait", args: []string{"ask", "data", "--wait", "5s"}, code: exitUsage,
			err: "parley: write --wait=5s (see parley ask --help)\n",
		},
		{
			name: "a time after --wait and a text", args: []string{"delegate", "data", "?", "--wait", "5s"}, code: exitUsage,
			err: "parley: write --wait=5s (see parley delegate --help)\n",
		},
		{
			name: "after a variable that is not set", args: []string{"delegate", "data", "?", "--after", ""}, code: exitUsage,
			err: "parley: --after is empty (see parley delegate --help)\n",
		},
		{
			name: "too long a wait", args: []string{"ask", "data", "?", "--wait=11m"}, code: exitUsage,
			err: "parley: --wait is at most 10m0s (see parley ask --help)\n",
		},
		{
			name: "a deadline that is none", args: []string{"delegate", "data", "?", "--deadline", "soon"}, code: exitUsage,
			err: "parley: --deadline: \"soon\" is not a time; write 2h, or 2006-01-02 15:04, or 2006-01-02T15:04:05Z (see parley delegate --help)\n",
		},
	})
}
