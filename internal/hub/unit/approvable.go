package unit

import (
	"context"
	"encoding/json"
	"maps"
	"strings"

	"github.com/parley-hub/parley"
)

// ApprovableCall is a tool whose calls may need an approval. Words describes a call to the people who decide. Prepare makes
// the call ready to run once it is approved.
type ApprovableCall struct {
	Words   func(u *Unit, agent string, args json.RawMessage) (CallWords, error)
	Prepare func(ctx context.Context, as Caller, args json.RawMessage) (Execution, error)
}

// CallWords describe a call that needs an approval to the people who decide on it.
type CallWords struct {
	Wants  string // such as: contact SeniorAnalystBot
	Doing  string // such as: contacting SeniorAnalystBot
	Action string
	Parts  []parley.ApprovalPart
}

// JoinCalls joins the approvable tools of several packages into one map.
func JoinCalls(subjects ...map[string]ApprovableCall) map[string]ApprovableCall {
	all := map[string]ApprovableCall{}
	for _, tools := range subjects {
		maps.Copy(all, tools)
	}
	return all
}

// Approvable makes an ApprovableCall of two functions that take the tool's arguments as a value of type A.
func Approvable[A any](describe func(*Unit, string, A) (CallWords, error), prepare func(context.Context, Caller, A) (Execution, error)) ApprovableCall {
	return ApprovableCall{
		Words: func(u *Unit, agent string, raw json.RawMessage) (w CallWords, err error) {
			var args A
			if err := json.Unmarshal(raw, &args); err != nil {
				return w, err
			}
			return describe(u, agent, args)
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

// WithNotices returns the text of an approved call, followed by one line for each notice.
func WithNotices(text string, notices []string) string {
	lines := []string{text}
	for _, notice := range notices {
		lines = append(lines, "Note: "+notice)
	}
	return strings.Join(lines, "\n")
}

// Result is what an approved call returned.
type Result struct {
	Text    string
	Failure *parley.Error
	Waits   bool // the call is an ask: its answer comes later
	Refused bool // the call was not made; Failure says why
}

// Execution makes an approved call in the name of its agent.
type Execution func(*Unit, parley.Approval) (Result, error)

// HeldBy is the error of a call that needs an approval first, and says why. The hub rolls the call's update back, and then
// stores the call with an approval request.
type HeldBy struct {
	Verdict parley.Verdict
	Target  string        // the id of the agent that the call contacts, if it contacts exactly one
	Draft   *parley.Draft // of a post: with ids in place of names, which may change while the approval is pending
}

func (HeldBy) Error() string { return parley.HeldText }
