package parley

import "slices"

// steps is a state machine: for each state, the states that may follow it.
type steps[S comparable] map[S][]S

func (m steps[S]) allow(from, to S) bool { return slices.Contains(m[from], to) }

func (m steps[S]) known(s S) bool {
	_, ok := m[s]
	return ok
}

// DeliveryState is how far one message has come on its way to one recipient.
type DeliveryState string

// A delivery climbs from accepted to seen and settles, or ends in a named failure.
const (
	DeliveryAccepted  DeliveryState = "accepted"  // stored durably
	DeliveryDelivered DeliveryState = "delivered" // handed to the runtime, or fetched
	DeliverySeen      DeliveryState = "seen"      // in the context of a turn that has started
	DeliveryAcked     DeliveryState = "acked"
	DeliveryAnswered  DeliveryState = "answered"
	DeliveryFailed    DeliveryState = "failed"
	DeliveryExpired   DeliveryState = "expired"
	DeliveryEvicted   DeliveryState = "evicted"
	DeliveryDead      DeliveryState = "dead" // out of attempts; a person may retry or drop it
	DeliveryDropped   DeliveryState = "dropped"
)

var deliverySteps = steps[DeliveryState]{
	DeliveryAccepted: {DeliveryDelivered, DeliveryExpired, DeliveryEvicted, DeliveryFailed},
	DeliveryDelivered: {
		DeliverySeen, DeliveryAccepted, DeliveryDead, DeliveryFailed,
		DeliveryEvicted, // what lies in a directory may be taken away to make room
	},
	DeliverySeen: {
		DeliveryAcked, DeliveryAnswered, DeliveryFailed, DeliveryAccepted, DeliveryDead,
	},
	DeliveryAcked:    {DeliveryAnswered}, // an answer may follow an ack
	DeliveryDead:     {DeliveryAccepted, DeliveryDropped},
	DeliveryAnswered: {},
	DeliveryFailed:   {},
	DeliveryExpired:  {},
	DeliveryEvicted:  {},
	DeliveryDropped:  {},
}

// May says whether a delivery in this state may step to next.
func (s DeliveryState) May(next DeliveryState) bool { return deliverySteps.allow(s, next) }

// Known says whether this is a state at all.
func (s DeliveryState) Known() bool { return deliverySteps.known(s) }

// rungs is how far a delivery can climb before it settles.
var rungs = []DeliveryState{DeliveryAccepted, DeliveryDelivered, DeliverySeen}

// Path is the states to step through to reach another. What is seen, acked or answered has been
// delivered and seen on the way.
func (s DeliveryState) Path(to DeliveryState) []DeliveryState {
	rung := slices.Index(rungs, s)
	if rung < 0 || to != DeliverySeen && to != DeliveryAcked && to != DeliveryAnswered {
		return []DeliveryState{to}
	}
	path := slices.Clone(rungs[rung+1:])
	if to != DeliverySeen {
		path = append(path, to)
	}
	return path
}

// Settled says that nothing is owed any more: acknowledged, answered, or ended in a failure that
// is not a dead letter.
func (s DeliveryState) Settled() bool {
	switch s {
	case DeliveryAccepted, DeliveryDelivered, DeliverySeen, DeliveryDead:
		return false
	default:
		return s.Known()
	}
}

// TaskState is what has become of a piece of delegated work.
type TaskState string

// The states of a task.
const (
	TaskQueued    TaskState = "queued"
	TaskActive    TaskState = "active"
	TaskCompleted TaskState = "completed"
	TaskFailed    TaskState = "failed"
	TaskCancelled TaskState = "cancelled"
)

var taskSteps = steps[TaskState]{
	TaskQueued:    {TaskActive, TaskFailed, TaskCancelled},
	TaskActive:    {TaskCompleted, TaskFailed, TaskCancelled, TaskQueued},
	TaskCompleted: {},
	TaskFailed:    {TaskQueued}, // retry, reassign
	TaskCancelled: {TaskQueued},
}

// May says whether a task in this state may step to next.
func (s TaskState) May(next TaskState) bool { return taskSteps.allow(s, next) }

// Known says whether this is a state at all.
func (s TaskState) Known() bool { return taskSteps.known(s) }

// Ended says that the task will not go on unless somebody retries it.
func (s TaskState) Ended() bool {
	return s == TaskCompleted || s == TaskFailed || s == TaskCancelled
}

// ApprovalState is what has become of a held call.
type ApprovalState string

// The states of an approval.
const (
	ApprovalPending   ApprovalState = "pending"
	ApprovalApproved  ApprovalState = "approved"
	ApprovalExecuted  ApprovalState = "executed"
	ApprovalDenied    ApprovalState = "denied"
	ApprovalExpired   ApprovalState = "expired"
	ApprovalWithdrawn ApprovalState = "withdrawn"
)

var approvalSteps = steps[ApprovalState]{
	ApprovalPending:   {ApprovalApproved, ApprovalDenied, ApprovalExpired, ApprovalWithdrawn},
	ApprovalApproved:  {ApprovalExecuted, ApprovalWithdrawn},
	ApprovalExecuted:  {},
	ApprovalDenied:    {},
	ApprovalExpired:   {},
	ApprovalWithdrawn: {},
}

// May says whether an approval in this state may step to next.
func (s ApprovalState) May(next ApprovalState) bool { return approvalSteps.allow(s, next) }

// Known says whether this is a state at all.
func (s ApprovalState) Known() bool { return approvalSteps.known(s) }

// RunState is where one invocation of a runtime stands.
type RunState string

// The states of a run.
const (
	RunStarting  RunState = "starting"
	RunRunning   RunState = "running"
	RunWaiting   RunState = "waiting" // blocked in a wait, its slot given back
	RunSucceeded RunState = "succeeded"
	RunFailed    RunState = "failed"
	RunCancelled RunState = "cancelled"
	RunLost      RunState = "lost" // its process or host is gone
)

var runSteps = steps[RunState]{
	RunStarting:  {RunRunning, RunFailed, RunCancelled, RunLost},
	RunRunning:   {RunWaiting, RunSucceeded, RunFailed, RunCancelled, RunLost},
	RunWaiting:   {RunRunning, RunFailed, RunCancelled, RunLost},
	RunSucceeded: {},
	RunFailed:    {},
	RunCancelled: {},
	RunLost:      {},
}

// May says whether a run in this state may step to next.
func (s RunState) May(next RunState) bool { return runSteps.allow(s, next) }

// Known says whether this is a state at all.
func (s RunState) Known() bool { return runSteps.known(s) }

// Live says that the run has not ended.
func (s RunState) Live() bool { return len(runSteps[s]) > 0 }

// DepartureState is what became of a departure.
type DepartureState string

// The states of a departure.
const (
	DepartureDue     DepartureState = "due"
	DepartureWritten DepartureState = "written" // renamed into place: delivered; in a channel that settles it
	DepartureSeen    DepartureState = "seen"    // gone, or in processed/
	DepartureFailed  DepartureState = "failed"  // it can never be written: its sender is told
	DepartureEvicted DepartureState = "evicted" // its file made room for a newer one: its sender is told
)

var departureSteps = steps[DepartureState]{
	DepartureDue:     {DepartureWritten, DepartureSeen, DepartureFailed, DepartureEvicted},
	DepartureWritten: {DepartureSeen, DepartureEvicted, DepartureFailed}, // failed: whoever it is for does not live there any more
	DepartureSeen:    {},
	DepartureFailed:  {DepartureDue}, // whoever it is for is there again
	DepartureEvicted: {},
}

// May says whether a departure in this state may step to next.
func (s DepartureState) May(next DepartureState) bool { return departureSteps.allow(s, next) }

// Known says whether this is a state at all.
func (s DepartureState) Known() bool { return departureSteps.known(s) }
