package parley

import "slices"

// steps is a state machine: for each state, the states that may follow it.
type steps[S comparable] map[S][]S

func (m steps[S]) allow(from, to S) bool { return slices.Contains(m[from], to) }

func (m steps[S]) known(s S) bool {
	_, ok := m[s]
	return ok
}

// DeliveryState is the state of the delivery of one message to one recipient.
type DeliveryState string

// The states of a delivery. A delivery is accepted, then delivered, then seen, and then acked or answered. Or it ends in a
// failure.
const (
	DeliveryAccepted  DeliveryState = "accepted"  // the message is stored on disk
	DeliveryDelivered DeliveryState = "delivered" // the runtime has the message, or the agent has taken it
	DeliverySeen      DeliveryState = "seen"      // a turn with the message in its context has started
	DeliveryAcked     DeliveryState = "acked"
	DeliveryAnswered  DeliveryState = "answered"
	DeliveryFailed    DeliveryState = "failed"
	DeliveryExpired   DeliveryState = "expired"
	DeliveryEvicted   DeliveryState = "evicted"
	DeliveryDead      DeliveryState = "dead" // no attempts are left; a person may retry or drop it
	DeliveryDropped   DeliveryState = "dropped"
)

// deliverySteps lists the steps of a delivery. These are the usual ones:
//
//	accepted ─► delivered ─► seen ─► acked · answered · failed
//	   │            └─────────┴─ lease lost, transient failure ─► accepted (attempt + 1)
//	   └─► expired · evicted           last attempt ─► dead ─► accepted (retry) · dropped
var deliverySteps = steps[DeliveryState]{
	DeliveryAccepted: {DeliveryDelivered, DeliveryExpired, DeliveryEvicted, DeliveryFailed},
	DeliveryDelivered: {
		DeliverySeen, DeliveryAccepted, DeliveryDead, DeliveryFailed,
		DeliveryEvicted, // a bridge may remove a file to make room
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

// May reports whether a delivery may change from this state to next.
func (s DeliveryState) May(next DeliveryState) bool { return deliverySteps.allow(s, next) }

// Known reports whether this is one of the states.
func (s DeliveryState) Known() bool { return deliverySteps.known(s) }

// deliveryPath lists the states through which a delivery goes before it is settled, in order.
var deliveryPath = []DeliveryState{DeliveryAccepted, DeliveryDelivered, DeliverySeen}

// Path returns the states through which a delivery must go to reach another state, including that state. A delivery that is to be
// seen, acked or answered must be delivered and seen first.
func (s DeliveryState) Path(to DeliveryState) []DeliveryState {
	at := slices.Index(deliveryPath, s)
	if at < 0 || to != DeliverySeen && to != DeliveryAcked && to != DeliveryAnswered {
		return []DeliveryState{to}
	}
	path := slices.Clone(deliveryPath[at+1:])
	if to != DeliverySeen {
		path = append(path, to)
	}
	return path
}

// Settled reports whether the delivery is finished: acked, answered, or ended in a failure. A dead letter is not settled.
func (s DeliveryState) Settled() bool {
	switch s {
	case DeliveryAccepted, DeliveryDelivered, DeliverySeen, DeliveryDead:
		return false
	default:
		return s.Known()
	}
}

// TaskState is the state of a task.
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

// May reports whether a task may change from this state to next.
func (s TaskState) May(next TaskState) bool { return taskSteps.allow(s, next) }

// Known reports whether this is one of the states.
func (s TaskState) Known() bool { return taskSteps.known(s) }

// Ended reports whether the task has ended. Only a retry or a reassignment continues an ended task.
func (s TaskState) Ended() bool {
	return s == TaskCompleted || s == TaskFailed || s == TaskCancelled
}

// ApprovalState is the state of an approval.
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

// May reports whether an approval may change from this state to next.
func (s ApprovalState) May(next ApprovalState) bool { return approvalSteps.allow(s, next) }

// Known reports whether this is one of the states.
func (s ApprovalState) Known() bool { return approvalSteps.known(s) }

// RunState is the state of a run.
type RunState string

// The states of a run.
const (
	RunStarting  RunState = "starting"
	RunRunning   RunState = "running"
	RunWaiting   RunState = "waiting" // blocked in a wait; another run may use its slot
	RunSucceeded RunState = "succeeded"
	RunFailed    RunState = "failed"
	RunCancelled RunState = "cancelled"
	RunLost      RunState = "lost" // its process or host was lost
)

// runSteps lists the steps of a run. These are the usual ones:
//
//	starting ─► running ⇄ waiting ─► succeeded · failed · cancelled · lost
var runSteps = steps[RunState]{
	RunStarting:  {RunRunning, RunFailed, RunCancelled, RunLost},
	RunRunning:   {RunWaiting, RunSucceeded, RunFailed, RunCancelled, RunLost},
	RunWaiting:   {RunRunning, RunFailed, RunCancelled, RunLost},
	RunSucceeded: {},
	RunFailed:    {},
	RunCancelled: {},
	RunLost:      {},
}

// May reports whether a run may change from this state to next.
func (s RunState) May(next RunState) bool { return runSteps.allow(s, next) }

// Known reports whether this is one of the states.
func (s RunState) Known() bool { return runSteps.known(s) }

// Live reports whether the run has not ended.
func (s RunState) Live() bool { return len(runSteps[s]) > 0 }

// DepartureState is the state of a departure.
type DepartureState string

// The states of a departure.
const (
	DepartureDue     DepartureState = "due"
	DepartureWritten DepartureState = "written" // the bridge has renamed the file into place; the delivery is delivered, or settled in a channel
	DepartureSeen    DepartureState = "seen"    // the file was removed, or moved to processed/
	DepartureFailed  DepartureState = "failed"  // the bridge can never write the file; the hub tells the sender
	DepartureEvicted DepartureState = "evicted" // the file was removed to make room for a newer one; the hub tells the sender
)

var departureSteps = steps[DepartureState]{
	DepartureDue:     {DepartureWritten, DepartureSeen, DepartureFailed, DepartureEvicted},
	DepartureWritten: {DepartureSeen, DepartureEvicted, DepartureFailed}, // failed: the recipient no longer lives in the tree
	DepartureSeen:    {},
	DepartureFailed:  {DepartureDue}, // the recipient lives in the tree again
	DepartureEvicted: {},
}

// May reports whether a departure may change from this state to next.
func (s DepartureState) May(next DepartureState) bool { return departureSteps.allow(s, next) }

// Known reports whether this is one of the states.
func (s DepartureState) Known() bool { return departureSteps.known(s) }
