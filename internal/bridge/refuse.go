package bridge

import (
	"cmp"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/dialect"
)

// refuseDocument refuses a document for good. If its sender can be told, it returns the document for the hub, which tells
// the sender once. Otherwise only the log says so.
func (e *engine) refuseDocument(q *queue, i item, f file, why *parley.Error) (document, bool) {
	a, known := e.peekSender(q, f)
	why = e.withIssues(f, a.Name, why)
	if !known {
		e.refuseFile(q, f, why)
		return document{}, false
	}
	a.Refused, f.head = why, nil
	return document{q, i, f, a}, true
}

// withIssues adds the validation issues that the Routing Protocol logs for every invalid message.
func (e *engine) withIssues(f file, id string, why *parley.Error) *parley.Error {
	if e.dialect != dialect.Routing || f.raw == nil && f.head == nil {
		return why
	}
	issues := parley.Issues{Error: "VALIDATION_FAILED", Issues: []string{why.Message}}
	if why.Validation != nil {
		issues = *why.Validation
	}
	issues.MsgID, issues.Action = cmp.Or(issues.MsgID, id, strings.TrimSuffix(f.name, ".json")), discarded
	whole := *why
	return whole.WithIssues(issues)
}

// discarded is what becomes of a message that is not valid, in the words of the format.
const discarded = "Message discarded, logged to error.log"

// peekSender reads the sender and the id of an invalid document. It reports false if there is no sender to tell.
func (e *engine) peekSender(q *queue, f file) (a parley.Arrival, known bool) {
	text := f.raw
	if text == nil {
		text = f.head
	}
	a = dialect.Peek(e.dialect, text)
	if !e.view.bridge.Speaks(a.From) || !isPlain(f.name) {
		return a, false
	}
	a.Name = cmp.Or(a.Name, strings.TrimSuffix(f.name, ".json"))
	a.BridgeFile = parley.BridgeFile{Path: f.path, Digest: cmp.Or(f.digest, e.identify(f))}
	a.At = f.mtime
	_ = e.layout.complete(q.inlet, f, &a) // it is refused already
	return a, isPlain(a.Name) && !a.History
}
