package parley

// AwaitedKind says what a caller waits for.
type AwaitedKind string

// The kinds. For each, the comment says what the caller waits for.
const (
	AwaitedMessage  AwaitedKind = "message"  // its answers
	AwaitedAsk      AwaitedKind = "ask"      // its answer
	AwaitedTask     AwaitedKind = "task"     // its end
	AwaitedApproval AwaitedKind = "approval" // the decision, and the outcome of the call
)

// Awaited is the state of a message, an ask, a task or an approval that a caller waits for.
type Awaited struct {
	ID      string      `json:"id" doc:"The id of the message, the task or the approval."`
	Name    string      `json:"name,omitempty" doc:"Its short name, like task-101, approval-7 or m1234."`
	Kind    AwaitedKind `json:"kind" doc:"What it is."`
	From    string      `json:"from,omitempty" doc:"Of an ask: the participant that asked."`
	State   string      `json:"state" doc:"The state of the task, the approval, the ask or the delivery."`
	Done    bool        `json:"done" doc:"Whether it has ended."`
	Text    string      `json:"text,omitempty" doc:"The outcome in words, once it is done."`
	Quotes  []Quote     `json:"quotes,omitempty" doc:"The parts of \x60text\x60 that others wrote."`
	Error   *Error      `json:"error,omitempty" doc:"Why it failed; E004 if time ran out."`
	Answers []Message   `json:"answers,omitempty" doc:"The messages that answered a message."`
}
