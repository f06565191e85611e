package bridge

import (
	"cmp"
	"strings"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/dialect"
)

// refuseDocument refuses a document for good. If the hub can tell its sender, it returns the document and true; the hub then
// tells the sender once. Otherwise it writes the refusal only into the tree.
func (e *engine) refuseDocument(q *importQueue, i item, f file, cause *parley.Error) (document, bool) {
	a, known := e.peekSender(q, f)
	cause = e.withIssues(f, a.Name, cause)
	if !known {
		e.refuseFile(q, f, cause)
		return document{}, false
	}
	a.Refused, f.head = cause, nil
	return document{q, i, f, a}, true
}

// withIssues adds the validation issues that the Routing Protocol logs for every invalid message.
func (e *engine) withIssues(f file, id string, cause *parley.Error) *parley.Error {
	if e.dialect != dialect.Routing || f.raw == nil && f.head == nil {
		return cause
	}
	issues := parley.Issues{Error: "VALIDATION_FAILED", Issues: []string{cause.Message}}
	if cause.Validation != nil {
		issues = *cause.Validation
	}
	issues.MsgID, issues.Action = cmp.Or(issues.MsgID, id, strings.TrimSuffix(f.name, ".json")), discarded
	whole := *cause
	return whole.WithIssues(issues)
}

// discarded is the action for an invalid message, in the words of the Routing Protocol.
const discarded = "Message discarded, logged to error.log"

// peekSender reads the sender and the id of an invalid document. It returns false if there is no sender to tell.
func (e *engine) peekSender(q *importQueue, f file) (a parley.Arrival, known bool) {
	text := f.raw
	if text == nil {
		text = f.head
	}
	a = dialect.Peek(e.dialect, text)
	if !e.view.bridge.HasAgent(a.From) || !isPlain(f.name) {
		return a, false
	}
	a.Name = cmp.Or(a.Name, strings.TrimSuffix(f.name, ".json"))
	a.BridgeFile = parley.BridgeFile{Path: f.path, Digest: cmp.Or(f.digest, e.identify(f))}
	a.At = f.mtime
	_ = e.layout.complete(q.inlet, f, &a) // the document is refused anyway
	return a, isPlain(a.Name) && !a.History
}
