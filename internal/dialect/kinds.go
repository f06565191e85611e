package dialect

import "github.com/parley-hub/parley"

// kind is the effect of a message, as far as the dialects distinguish it.
type kind int

const (
	kindTask      kind = iota // a task, or another message that wakes
	kindNotice                // a message that does not wake
	kindAnswer                // a response or result
	kindFailure               // an error without further attempts
	kindWarning               // an error before a retry
	kindCommand               // a command of the Routing Protocol
	kindHeartbeat             // a heartbeat
)

// kindOf returns the kind of a departure. Types of the formats count as the canonical type they stand for.
func kindOf(out parley.Departure) kind {
	switch out.Message.Type {
	case parley.TypeRequest, parley.TypeTask, taskAssign, taskDelegation:
		return kindTask
	case parley.TypeResponse, parley.TypeResult, taskResult:
		return kindAnswer
	case parley.TypeNotification, parley.TypeStatus, statusUpdate:
		return kindNotice
	case parley.TypeCommand:
		return kindCommand
	case parley.TypeHeartbeat:
		return kindHeartbeat
	case parley.TypeError, incident:
		if out.Final {
			return kindFailure
		}
		return kindWarning
	}
	if out.Wakes {
		return kindTask
	}
	return kindNotice
}

// Types of the formats that have another name in the hub, or none.
const (
	taskAssign     parley.Type = "task_assign"     // the Multi-Agent OS format
	taskResult     parley.Type = "task_result"     // the Multi-Agent OS format
	incident       parley.Type = "incident"        // the Multi-Agent OS format
	taskDelegation parley.Type = "task-delegation" // the Routing Protocol
	statusUpdate   parley.Type = "status-update"   // the Routing Protocol
)

// outcome returns the result of an answer in the words of ClawOS and the Routing Protocol.
func outcome(t *parley.Task) string {
	switch {
	case t == nil:
		return "success"
	case t.Status == parley.TaskFailed, t.Status == parley.TaskCancelled:
		return "failure"
	case t.Outcome == parley.OutcomePartial:
		return "partial"
	default:
		return "success"
	}
}

// stateOf maps events of ClawOS to states of the Routing Protocol, and eventOf maps them back.
var (
	stateOf = map[string]string{"progress": "in_progress", "warning": "blocked", "completed": "completed", "failed": "failed"}
	eventOf = map[string]string{"in_progress": "progress", "blocked": "warning", "completed": "completed", "failed": "failed"}
)

// bodyDiffers reports whether the type and the payload of a document must be written again.
func bodyDiffers(was, want contents) bool {
	return was.Type != want.Type || was.Text != want.Text || string(was.Payload) != string(want.Payload) || !equalOptionalTimes(was.Deadline, want.Deadline)
}
