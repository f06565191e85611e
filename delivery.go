package parley

import (
	"slices"
	"time"
)

// Delivery is the delivery of one message to one recipient.
type Delivery struct {
	Message string `json:"message" doc:"The message's id."`
	// Seq is the message's position in the hub's order.
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

	// Lease names the holder of the delivery, and Until is the end of the lease. Without a lease, Until is the end of
	// the pause before the next attempt.
	Lease string `json:"-"`
	Until Tick   `json:"-"`
	Node  string `json:"-"` // the hub process that gave the lease; the name stays the same after a restart

	// Damage is set if the row does not match its checksum. The hub must not deliver the message then.
	Damage *Damage `json:"-"`
}

// Tick is a moment on the store's clock for leases, in milliseconds. Only ticks of the same store can be compared. Changes of the
// wall clock do not affect ticks. 0 means never.
type Tick int64

// After returns the tick after a duration.
func (t Tick) After(d time.Duration) Tick { return t + Tick(d.Milliseconds()) }

// Purpose says what a delivery is for, if it does more than bring a message. A delivery with a purpose does not count towards the
// depth of an inbox, and the hub neither evicts nor refuses it.
type Purpose string

// The purposes.
const (
	PurposeAsk      Purpose = "ask" // a caller waits for the answer: due at once, and one attempt
	PurposeTask     Purpose = "task"
	PurposeCallback Purpose = "callback"
	PurposeApproval Purpose = "approval" // a request for an approval, or the decision on it
	PurposeError    Purpose = "error"    // a report that a message of the recipient has failed
)

// Open reports whether the delivery is not finished: it is accepted, delivered, or seen under a lease.
func (d Delivery) Open() bool {
	switch d.State {
	case DeliveryAccepted, DeliveryDelivered:
		return true
	default:
		return d.State == DeliverySeen && d.Lease != ""
	}
}

// NeedsAction reports whether the recipient must act on the delivery: answer an ask, do a task, decide on a held call, or
// acknowledge the message by its deadline. The hub settles other deliveries to a person when the person has seen them.
func (d Delivery) NeedsAction() bool {
	switch d.Purpose {
	case PurposeAsk, PurposeTask, PurposeApproval:
		return true
	default:
		return d.Deadline != nil
	}
}

// Answerable reports whether the recipient can still answer the message: it has not answered yet, and the delivery has not
// failed. An answer may follow an ack.
func (d Delivery) Answerable() bool {
	switch d.State {
	case DeliveryAccepted, DeliveryDelivered, DeliverySeen, DeliveryAcked:
		return true
	default:
		return false
	}
}

// Ready reports whether a consumer can take the delivery.
func (d Delivery) Ready() bool { return d.State == DeliveryAccepted && d.Until == 0 }

// Reached reports whether the delivery has reached a state (delivered, seen or answered), or can no longer reach it. An acked
// delivery has not reached answered, because an answer may follow.
func (d Delivery) Reached(state DeliveryState) bool {
	switch d.State {
	case DeliveryAccepted:
		return false
	case DeliveryDelivered:
		return state == DeliveryDelivered
	case DeliverySeen, DeliveryAcked:
		return state != DeliveryAnswered
	default:
		return true
	}
}

// Next returns the next wall-clock time at which the delivery expires, becomes overdue or misses its deadline. It returns nil if
// there is none.
func (d Delivery) Next() *time.Time {
	var next *time.Time
	consider := func(t *time.Time, counts bool) {
		if counts && t != nil && (next == nil || t.Before(*next)) {
			next = t
		}
	}
	consider(d.ExpiresAt, d.State == DeliveryAccepted)
	consider(d.Deadline, d.MayMissDeadline())
	overdue := d.OverdueAt()
	consider(&overdue, d.MayBecomeOverdue())
	return next
}

// MayMissDeadline reports whether the delivery can still miss its deadline. A dead letter cannot, because the sender already
// knows of it.
func (d Delivery) MayMissDeadline() bool {
	return d.Deadline != nil && !d.Late && !d.State.Settled() && d.State != DeliveryDead
}

// MayBecomeOverdue reports whether the delivery can still become overdue.
func (d Delivery) MayBecomeOverdue() bool {
	return d.Waking && !d.Overdue && (d.State == DeliveryAccepted || d.State == DeliveryDelivered)
}

// OverdueAt returns the moment at which the delivery becomes overdue unless the recipient has seen it.
func (d Delivery) OverdueAt() time.Time { return d.AcceptedAt.Add(d.Priority.Due()) }

// Inbox counts the open deliveries of one participant.
type Inbox struct {
	Waking int `json:"waking" doc:"Open deliveries that count towards the depth."`
	Quiet  int `json:"quiet" doc:"Open deliveries that wake nobody."`
	// Work counts open deliveries with a purpose: asks, tasks, results, approvals. They do not count towards the depth.
	Work    int   `json:"work" doc:"Open asks, tasks, results and approvals. They do not count towards the depth."`
	Evicted int64 `json:"evicted" doc:"How many deliveries were evicted so far."`
}

const maxRunBytes = 256

// CheckRun returns why a string cannot name a run, or nil.
func CheckRun(id string) error { return checkText("run", id, maxRunBytes) }

// Failure is the kind of failure of an attempt. The hub retries after every failure except FailureFinal.
type Failure string

// The failures.
const (
	FailureLost    Failure = "lost"    // the lease has ended, or its holder (a session, process or host) is lost
	FailureBusy    Failure = "busy"    // the runtime is overloaded (429)
	FailureServer  Failure = "server"  // the runtime itself failed (5xx)
	FailureNoStart Failure = "nostart" // the runtime could not be started
	FailureStopped Failure = "stopped" // somebody stopped the hub or the agent; the attempt does not count
	FailureFinal   Failure = "final"   // a retry would not help
)

// pauses has the shortest and the longest pause before the next attempt.
var pauses = map[Failure][2]time.Duration{
	FailureLost:    {time.Second, time.Minute},
	FailureBusy:    {5 * time.Second, 5 * time.Minute},
	FailureServer:  {2 * time.Second, 2 * time.Minute},
	FailureNoStart: {5 * time.Second, 10 * time.Minute},
}

// Known reports whether this is one of the failures.
func (f Failure) Known() bool { return f == FailureFinal || f == FailureStopped || pauses[f][0] > 0 }

// Pause returns the pause before the next attempt, after a number of failed attempts. The pause doubles with each failed attempt,
// up to a limit.
func (f Failure) Pause(failed int) time.Duration {
	pause := pauses[f]
	for wait := pause[0]; ; wait *= 2 {
		if failed--; failed <= 0 || wait >= pause[1] {
			return min(wait, pause[1])
		}
	}
}

// NewDelivery describes a delivery to make: its recipient, whether it wakes the recipient, and its purpose.
type NewDelivery struct {
	Agent    string
	Wakes    bool
	Purpose  Purpose
	Sequence int64 // the sender's own count; 0 if the sender does not count
}

// NewDeliveries returns the deliveries of a message, in the order of the members. A post in a channel that is addressed to nobody
// and mentions nobody has no deliveries: members only see the channel as unread.
func (m Message) NewDeliveries(c Conversation, members []string, fromHuman bool) []NewDelivery {
	toAll := m.To == All
	direct := c.FixedMembers() // DM, ephemeral, implicit group
	mentionsAll := slices.Contains(m.Mentions, All)
	// In an unnamed group, a person's message wakes all members, unless it mentions another member. A mention of the sender, or of
	// an agent outside the group, does not count.
	mentionsMember := slices.ContainsFunc(members, func(agent string) bool {
		return agent != m.From && agent != System && slices.Contains(m.Mentions, agent)
	})
	wakesAll := c.Kind != Group || fromHuman && !mentionsMember
	var reached []NewDelivery
	for _, agent := range members {
		if agent == m.From || agent == System {
			continue
		}
		named := m.To == agent || mentionsAll || slices.Contains(m.Mentions, agent)
		if !named && !toAll && !direct {
			continue
		}
		wakes := named || direct && !toAll && wakesAll
		reached = append(reached, NewDelivery{Agent: agent, Wakes: wakes && m.Type.Wakes()})
	}
	return reached
}

// AnswerDeliveries returns the deliveries of a run's answer, in the order of the members. The answer is delivered to the members
// that it mentions, to the members in answered and, if the members are fixed, to all. It wakes the members that it mentions, and
// the members for which answered is true. It does not wake other members, because their runs would answer the answer, in a loop.
func (m Message) AnswerDeliveries(c Conversation, members []string, answered map[string]bool) []NewDelivery {
	mentionsAll := slices.Contains(m.Mentions, All)
	var reached []NewDelivery
	for _, agent := range members {
		if agent == m.From || agent == System {
			continue
		}
		mentioned := mentionsAll || slices.Contains(m.Mentions, agent)
		wakes, answers := answered[agent]
		if mentioned || answers || agent == m.To || c.FixedMembers() {
			reached = append(reached, NewDelivery{Agent: agent, Wakes: mentioned || wakes})
		}
	}
	return reached
}

// Addressees returns the participants to which a message is addressed: the addressee in To, the mentioned participants and, if
// the members are fixed, all other members. Messages of the hub are not addressed to the other members.
func (m Message) Addressees(c Conversation) []string {
	ids := slices.Clone(m.Mentions)
	if m.To != "" {
		ids = append(ids, m.To)
	}
	if m.From != System {
		ids = append(ids, slices.DeleteFunc(c.FixedMemberIDs(), func(id string) bool { return id == m.From })...)
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
