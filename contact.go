package parley

import "context"

// Pattern is how an agent turns to another one.
type Pattern string

// The patterns.
const (
	PatternAsk      Pattern = "ask"
	PatternDelegate Pattern = "delegate"
	PatternNotify   Pattern = "notify"
)

// Contact is one agent turning to another.
type Contact struct {
	Pattern  Pattern
	Agent    string
	Message  string
	Context  string   // what the other must know: it does not see the conversation this comes from
	Priority Priority // of what is delegated
}

// Contacts is a Workspace through which one agent can turn to another. What it returns is what the caller
// is told: the answer, or what becomes of the work.
type Contacts interface {
	Contact(ctx context.Context, c Contact) (string, error)
}
