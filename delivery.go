package parley

import (
	"slices"
	"time"
)

// Delivery is one message on its way to one recipient.
type Delivery struct {
	Message string `json:"message" doc:"The message's id."`
	// Seq is that of the message.
	Seq          int64         `json:"seq" doc:"The position in the hub's total order."`
	Conversation string        `json:"conversation" doc:"The conversation's id."`
	From         string        `json:"from" doc:"The sender's id."`
	Recipient    string        `json:"recipient" doc:"The recipient's id."`
	State        DeliveryState `json:"state" doc:"The state of the delivery."`
	Waking       bool          `json:"waking" doc:"Whether the message wakes the recipient."`
	Purpose      Purpose       `json:"purpose,omitempty" doc:"The purpose of the delivery, if it carries more than a message: an ask, a task, a result, an approval or an error."`
	Priority     Priority      `json:"priority"`
	PairSeq      int64         `json:"pair_seq" doc:"The count of deliveries from this sender to this recipient, from 1."`
	Attempt      int           `json:"attempt" doc:"The number of failed attempts."`

	AcceptedAt  time.Time  `json:"accepted_at" doc:"When the message was stored."`
	DeliveredAt *time.Time `json:"delivered_at,omitempty" doc:"When it was handed over."`
	SeenAt      *time.Time `json:"seen_at,omitempty" doc:"When it was seen."`
	SettledAt   *time.Time `json:"settled_at,omitempty" doc:"When the delivery was settled: acknowledged, answered, or ended in a failure."`
	AnsweredAt  *time.Time `json:"answered_at,omitempty" doc:"When it was answered."`
	ExpiresAt   *time.Time `json:"expires_at,omitempty" doc:"When it expires."`
	Deadline    *time.Time `json:"deadline,omitempty" doc:"When an ack or an answer is due."`

	Run     string `json:"run,omitempty" doc:"The run in which it was seen."`
	Answer  string `json:"answer,omitempty" doc:"The message that answered it."`
	Failure *Error `json:"failure,omitempty" doc:"Why the last attempt failed, or why the delivery ended."`
	Overdue bool   `json:"overdue,omitempty" doc:"The delivery was not seen in time, and the hub told the sender."`
	Late    bool   `json:"late,omitempty" doc:"The delivery missed its deadline, and the hub told the sender."`

	// Lease is who has it, and Until the moment when that ends. Without a lease, Until is the end of
	// the pause before the next try.
	Lease string `json:"-"`
	Until Tick   `json:"-"`
	Node  string `json:"-"` // the hub that gave the lease, by the name that outlives its process

	// Damage says why the row cannot be trusted. It must not be handed to anybody.
	Damage *Damage `json:"-"`
}

// Tick is a moment on the store's lease clock, in milliseconds. Only ticks of one store compare. It is
// no wall clock: whoever moves that moves no lease. 0 is never.
type Tick int64

// After is the tick a while later.
func (t Tick) After(d time.Duration) Tick { return t + Tick(d.Milliseconds()) }

// Purpose is what a delivery is for beside telling its recipient something. One with a purpose takes
// no room in an inbox, and is neither evicted nor refused.
type Purpose string

// The purposes.
const (
	PurposeAsk      Purpose = "ask" // somebody waits: due at once, tried once
	PurposeTask     Purpose = "task"
	PurposeCallback Purpose = "callback"
	PurposeApproval Purpose = "approval" // a request for one, or the decision
	PurposeError    Purpose = "error"    // what became of a message of the recipient's own
)

// Open says that something is still owed: accepted, delivered, or seen by somebody who is at it.
func (d Delivery) Open() bool {
	switch d.State {
	case DeliveryAccepted, DeliveryDelivered:
		return true
	default:
		return d.State == DeliverySeen && d.Lease != ""
	}
}

// Wanted reports whether the recipient must act on the delivery: answer an ask, do a task, decide about a call, or
// acknowledge the message by its deadline. Everything else is settled once a person has been shown it.
func (d Delivery) Wanted() bool {
	switch d.Purpose {
	case PurposeAsk, PurposeTask, PurposeApproval:
		return true
	default:
		return d.Deadline != nil
	}
}

// Answerable says that the recipient can still answer the message: it has not answered it yet, and the delivery has not
// failed. An answer may follow an ack.
func (d Delivery) Answerable() bool {
	switch d.State {
	case DeliveryAccepted, DeliveryDelivered, DeliverySeen, DeliveryAcked:
		return true
	default:
		return false
	}
}

// Ready says that it waits to be taken.
func (d Delivery) Ready() bool { return d.State == DeliveryAccepted && d.Until == 0 }

// Reached says whether it has come as far as a rung (delivered, seen or answered), or has ended in a
// failure and will not. An ack is no answer, which may follow it.
func (d Delivery) Reached(rung DeliveryState) bool {
	switch d.State {
	case DeliveryAccepted:
		return false
	case DeliveryDelivered:
		return rung == DeliveryDelivered
	case DeliverySeen, DeliveryAcked:
		return rung != DeliveryAnswered
	default:
		return true
	}
}

// Next is the next moment of wall time at which something is due for this delivery, or nil: it expires,
// it is overdue, or its deadline is missed.
func (d Delivery) Next() *time.Time {
	var next *time.Time
	consider := func(t *time.Time, counts bool) {
		if counts && t != nil && (next == nil || t.Before(*next)) {
			next = t
		}
	}
	consider(d.ExpiresAt, d.State == DeliveryAccepted)
	consider(d.Deadline, d.Awaited())
	overdue := d.OverdueAt()
	consider(&overdue, d.Unseen())
	return next
}

// Awaited says that a deadline still counts for it. Of a dead letter its sender knows already.
func (d Delivery) Awaited() bool {
	return d.Deadline != nil && !d.Late && !d.State.Settled() && d.State != DeliveryDead
}

// Unseen says that it may yet become overdue.
func (d Delivery) Unseen() bool {
	return d.Waking && !d.Overdue && (d.State == DeliveryAccepted || d.State == DeliveryDelivered)
}

// OverdueAt is when it should have been seen.
func (d Delivery) OverdueAt() time.Time { return d.AcceptedAt.Add(d.Priority.Due()) }

// Inbox is what waits for one participant.
type Inbox struct {
	Waking int `json:"waking" doc:"Open deliveries that count towards the depth."`
	Quiet  int `json:"quiet" doc:"Open deliveries that wake nobody."`
	// Work counts open deliveries with a purpose, which take no room: asks, tasks, results, approvals.
	Work    int   `json:"work" doc:"The live runs, the oldest first."`
	Evicted int64 `json:"evicted" doc:"How many deliveries were evicted so far."`
}

const maxRunBytes = 256

// CheckRun says why a string cannot name a run, or nil.
func CheckRun(id string) error { return checkText("run", id, maxRunBytes) }

// Failure is why a try has failed. All but FailureFinal are worth another try.
type Failure string

// The failures.
const (
	FailureLost    Failure = "lost"    // the lease, session, process or host is gone
	FailureBusy    Failure = "busy"    // the runtime has too much to do (429)
	FailureServer  Failure = "server"  // the runtime's own failure (5xx)
	FailureNoStart Failure = "nostart" // the runtime could not be started
	FailureStopped Failure = "stopped" // the hub or the agent was stopped; this counts as no try
	FailureFinal   Failure = "final"   // trying again would not help
)

// pauses are the shortest and longest wait before another try.
var pauses = map[Failure][2]time.Duration{
	FailureLost:    {time.Second, time.Minute},
	FailureBusy:    {5 * time.Second, 5 * time.Minute},
	FailureServer:  {2 * time.Second, 2 * time.Minute},
	FailureNoStart: {5 * time.Second, 10 * time.Minute},
}

// Known says whether this is a failure at all.
func (f Failure) Known() bool { return f == FailureFinal || f == FailureStopped || pauses[f][0] > 0 }

// Pause is how long to wait after so many failed tries: twice as long each time, to a limit.
func (f Failure) Pause(failed int) time.Duration {
	pause := pauses[f]
	for wait := pause[0]; ; wait *= 2 {
		if failed--; failed <= 0 || wait >= pause[1] {
			return min(wait, pause[1])
		}
	}
}

// Reach is what a message means for one participant: a delivery, whether it wakes, and what it is for.
type Reach struct {
	Agent    string
	Wakes    bool
	Purpose  Purpose
	Sequence int64 // the sender's own count, where it keeps one
}

// Reaches says who a message is for, in the order of the members. A plain post in a channel is
// for nobody in particular and only makes the channel unread.
func (m Message) Reaches(c Conversation, members []string, fromHuman bool) []Reach {
	everyone := m.To == All
	direct := c.FixedMembers() // DM, ephemeral, implicit group
	calls := slices.Contains(m.Mentions, All)
	// In an implicit group a person talks to all, unless the text mentions another member. A mention of the person itself,
	// or of somebody outside, picks nobody out.
	picked := slices.ContainsFunc(members, func(agent string) bool {
		return agent != m.From && agent != System && slices.Contains(m.Mentions, agent)
	})
	forAll := c.Kind != Group || fromHuman && !picked
	var reached []Reach
	for _, agent := range members {
		if agent == m.From || agent == System {
			continue
		}
		named := m.To == agent || calls || slices.Contains(m.Mentions, agent)
		if !named && !everyone && !direct {
			continue
		}
		wakes := named || direct && !everyone && forAll
		reached = append(reached, Reach{Agent: agent, Wakes: wakes && m.Type.Wakes()})
	}
	return reached
}

// AnswerReaches says who the answer of a run is for, in the order of the members: whom it names, whom it
// answers, and where the members are fixed all of them. It wakes whom it mentions, and those of whom it answers
// that are marked, nobody else: an answer that woke the runs of others would be answered.
func (m Message) AnswerReaches(c Conversation, members []string, answered map[string]bool) []Reach {
	everyone := slices.Contains(m.Mentions, All)
	var reached []Reach
	for _, agent := range members {
		if agent == m.From || agent == System {
			continue
		}
		mentioned := everyone || slices.Contains(m.Mentions, agent)
		wakes, answers := answered[agent]
		if mentioned || answers || agent == m.To || c.FixedMembers() {
			reached = append(reached, Reach{Agent: agent, Wakes: mentioned || wakes})
		}
	}
	return reached
}

// Addressees are those whom a message is addressed to: whom it names, and where the members are fixed all
// of them but its sender. What the hub itself says there is for whom it names only.
func (m Message) Addressees(c Conversation) []string {
	ids := slices.Clone(m.Mentions)
	if m.To != "" {
		ids = append(ids, m.To)
	}
	if m.From != System {
		ids = append(ids, slices.DeleteFunc(c.SetMembers(), func(id string) bool { return id == m.From })...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
