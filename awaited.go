package parley

// AwaitedKind says what a caller waits for.
type AwaitedKind string

// The kinds.
const (
	AwaitedMessage  AwaitedKind = "message"  // its answers
	AwaitedAsk      AwaitedKind = "ask"      // its answer
	AwaitedTask     AwaitedKind = "task"     // its end
	AwaitedApproval AwaitedKind = "approval" // the decision, and what came of the call
)

// Awaited is the state of a message, an ask, a task or an approval that a caller waits for.
type Awaited struct {
	ID      string      `json:"id"`             // of the task or approval, or of the message
	Name    string      `json:"name,omitempty"` // its short name
	Kind    AwaitedKind `json:"kind"`
	State   string      `json:"state"`             // as the task, the approval, the ask or the delivery has it
	Done    bool        `json:"done"`              // nothing more comes of it
	Text    string      `json:"text,omitempty"`    // the outcome in words, once it is done
	Quotes  []Quote     `json:"quotes,omitempty"`  // the parts of text that others wrote
	Error   *Error      `json:"error,omitempty"`   // why the outcome is a failure
	Answers []Message   `json:"answers,omitempty"` // the messages that answered a message
}
