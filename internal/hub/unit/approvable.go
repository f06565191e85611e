package unit

import (
	"context"
	"encoding/json"
	"maps"
	"strings"

	"github.com/parley-hub/parley"
)

// ApprovableCall is a tool whose calls may be held: how a call of it is told in words, and how it is made once it is
// approved.
type ApprovableCall struct {
	Words   func(u *Unit, agent string, args json.RawMessage) (CallWords, error)
	Prepare func(ctx context.Context, as Caller, args json.RawMessage) (Execution, error)
}

// CallWords are a held call as people are told of it.
type CallWords struct {
	Wants  string // contact SeniorAnalystBot
	Doing  string // contacting SeniorAnalystBot
	Action string
	Parts  []parley.ApprovalPart
}

// JoinCalls joins the tools of several subjects.
func JoinCalls(subjects ...map[string]ApprovableCall) map[string]ApprovableCall {
	all := map[string]ApprovableCall{}
	for _, tools := range subjects {
		maps.Copy(all, tools)
	}
	return all
}

// Approvable makes a tool of functions that take its arguments.
func Approvable[A any](tell func(*Unit, string, A) (CallWords, error), prepare func(context.Context, Caller, A) (Execution, error)) ApprovableCall {
	return ApprovableCall{
		Words: func(u *Unit, agent string, raw json.RawMessage) (w CallWords, err error) {
			var args A
			if err := json.Unmarshal(raw, &args); err != nil {
				return w, err
			}
			return tell(u, agent, args)
		},
		Prepare: func(ctx context.Context, as Caller, raw json.RawMessage) (Execution, error) {
			var args A
			if err := json.Unmarshal(raw, &args); err != nil {
				return nil, err
			}
			return prepare(ctx, as, args)
		},
	}
}

// WithNotices is what an approved call returned, and what its caller must know besides.
func WithNotices(text string, notices []string) string {
	lines := []string{text}
	for _, notice := range notices {
		lines = append(lines, "Note: "+notice)
	}
	return strings.Join(lines, "\n")
}

// Result is what an approved call has returned.
type Result struct {
	Text    string
	Failure *parley.Error
	Waits   bool // it is an ask: what it returns comes later
	Refused bool // it was not made, and failure says why
}

// Execution makes an approved call, as its agent.
type Execution func(*Unit, parley.Approval) (Result, error)

// HeldBy says that a call needs an approval first, and why. It ends the update of the call, so that nothing of it
// remains; then Hub.heldOr stores the call.
type HeldBy struct {
	Verdict parley.Verdict
	Target  string        // whom the call contacts, if it is one in particular
	Draft   *parley.Draft // of a post: where it goes by ids, which nobody changes while it waits
}

func (HeldBy) Error() string { return parley.HeldText }
