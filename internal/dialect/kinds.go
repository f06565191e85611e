package dialect

import "github.com/parley-hub/parley"

// kind is what a message does, as far as the dialects tell it apart.
type kind int

const (
	kindTask      kind = iota // a task, or what wakes
	kindNotice                // what does not wake
	kindAnswer                // a response or result
	kindFailure               // an error after which nothing more is tried
	kindWarning               // one after which something is
	kindCommand               // S3's command
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

// The words of the seeds for types that the canonical envelope has others for.
const (
	taskAssign     parley.Type = "task_assign"     // S0
	taskResult     parley.Type = "task_result"     // S0
	incident       parley.Type = "incident"        // S0
	taskDelegation parley.Type = "task-delegation" // S3
	statusUpdate   parley.Type = "status-update"   // S3
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

// events of S1 and states of S3 that stand for each other.
var (
	stateOf = map[string]string{"progress": "in_progress", "warning": "blocked", "completed": "completed", "failed": "failed"}
	eventOf = map[string]string{"in_progress": "progress", "blocked": "warning", "completed": "completed", "failed": "failed"}
)

// bodyDiffers reports whether the type and the payload of a document must be written anew.
func bodyDiffers(was, want contents) bool {
	return was.Type != want.Type || was.Text != want.Text || string(was.Payload) != string(want.Payload) || !equalOptionalTimes(was.Deadline, want.Deadline)
}
