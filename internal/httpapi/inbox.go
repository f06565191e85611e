package httpapi

import (
	"context"

	"github.com/parley-hub/parley"
)

type peekInput struct {
	Limit int   `query:"limit" minimum:"0" maximum:"500" doc:"The most items to return; 0 or missing: 20."`
	After int64 `query:"after" minimum:"0" doc:"Only deliveries of messages with a larger seq."`

	Newest bool  `query:"newest" doc:"List the newest message first, and include messages that the caller has seen and must still act on."`
	Before int64 `query:"before" minimum:"0" doc:"With newest: only deliveries of messages with a smaller seq."`
}

func peekInbox(ctx context.Context, c *call, in *peekInput) (parley.Peeked, error) {
	switch {
	case in.Newest && in.After > 0:
		return parley.Peeked{}, parley.Errorf(parley.BadInput, "newest and after are given together").Suggest("use before with newest")
	case in.Newest:
		return c.hub.PeekNewest(ctx, c.caller, in.Before, in.Limit)
	case in.Before > 0:
		return parley.Peeked{}, parley.Errorf(parley.BadInput, "before is given without newest").Suggest("add newest=true")
	}
	return c.hub.PeekAfter(ctx, c.caller, in.After, in.Limit)
}

// TakeRequest selects deliveries to take.
type TakeRequest struct {
	Limit      int      `json:"limit,omitempty" minimum:"0" maximum:"500" doc:"The most deliveries to take; 0 or missing: 20."`
	Wait       float64  `json:"wait,omitempty" minimum:"0" maximum:"50" doc:"How many seconds to wait for a delivery."`
	Lease      float64  `json:"lease,omitempty" doc:"The length of the lease in seconds; 0 or missing: 60."`
	AtMostOnce bool     `json:"at_most_once,omitempty" doc:"Acknowledge the deliveries at once. The hub does not deliver them again if the caller loses them."`
	Waking     bool     `json:"waking,omitempty" doc:"Only deliveries that wake."`
	Urgent     bool     `json:"urgent,omitempty" doc:"Take by priority instead of in order; only deliveries that wake."`
	Only       []string `json:"only,omitempty" doc:"Only the deliveries of these messages."`
	Seen       bool     `json:"seen,omitempty" doc:"Mark the deliveries as seen with the answer."`
	Run        string   `json:"run,omitempty" doc:"The run that takes the deliveries."`
	Session    string   `json:"session,omitempty" doc:"The key of a live client session of the caller. The deliveries are leased to it as long as it lives; lease is ignored."`
	Again      bool     `json:"again,omitempty" doc:"With session: the take repeats one whose answer was lost. It also returns what the session took and has not marked as seen."`
}

// Taken has the deliveries that were taken. Until the lease ends, the hub gives them to no other caller.
type Taken struct {
	Lease        string            `json:"lease,omitempty" doc:"The lease's id, for ack, nack, extend, see and settle."`
	LeaseSeconds float64           `json:"lease_seconds,omitempty" doc:"The length of the lease in seconds."`
	Deliveries   []parley.Delivery `json:"deliveries" doc:"The deliveries that the participant took."`
	Messages     []parley.Message  `json:"messages" doc:"The message of each delivery, in the same order."`
	Answered     parley.ShortNames `json:"answered,omitempty" doc:"The short names of the messages that these answer, by id, as far as they are known."`
}

func take(ctx context.Context, c *call, in *bodyInput[TakeRequest]) (Taken, error) {
	b := in.Body
	wait, err := checkWait(b.Wait)
	if err != nil {
		return Taken{}, err
	}
	how := parley.Take{
		Limit: b.Limit, Wait: wait, Lease: seconds(b.Lease), AtMostOnce: b.AtMostOnce, Waking: b.Waking, Urgent: b.Urgent,
		Only: b.Only, Seen: b.Seen, Run: b.Run, Session: b.Session, Again: b.Again,
	}
	taken, err := c.take(ctx, how)
	return Taken{taken.Lease, taken.For.Seconds(), taken.Deliveries, taken.Messages, taken.Answered}, err
}

func (c *call) take(ctx context.Context, how parley.Take) (parley.Taken, error) {
	if how.Wait == 0 {
		return c.hub.Take(ctx, c.caller, how)
	}
	return whileWaiting(ctx, c, func(ctx context.Context) (parley.Taken, error) { return c.hub.Take(ctx, c.caller, how) })
}

// AckRequest acknowledges messages.
type AckRequest struct {
	Lease    string   `json:"lease,omitempty" doc:"Only deliveries that this lease still holds."`
	Session  string   `json:"session,omitempty" doc:"Only deliveries that this client session of the caller holds; without lease."`
	Messages []string `json:"messages" maxItems:"500" doc:"The ids of the messages."`
}

func ack(ctx context.Context, c *call, in *bodyInput[AckRequest]) (List[parley.Delivery], error) {
	if err := checkHolder(in.Body.Lease, in.Body.Session); err != nil {
		return List[parley.Delivery]{}, err
	}
	if in.Body.Session != "" {
		return listOf(c.hub.AckSession(ctx, c.caller, in.Body.Session, in.Body.Messages...))
	}
	return listOf(c.hub.Ack(ctx, c.caller, in.Body.Lease, in.Body.Messages...))
}

// ShownRequest names messages that a person has seen.
type ShownRequest struct {
	Messages []string `json:"messages" maxItems:"500" doc:"The ids of the messages. The id of the caller's own message stands for the hub's reports about it."`
}

func markShown(ctx context.Context, c *call, in *bodyInput[ShownRequest]) (List[parley.Delivery], error) {
	return listOf(c.hub.MarkShown(ctx, c.caller, in.Body.Messages...))
}

// NackRequest gives messages back, with the reason of the failure.
type NackRequest struct {
	Lease      string         `json:"lease" doc:"The lease's id, from take."`
	Messages   []string       `json:"messages" maxItems:"500" doc:"The ids of the messages."`
	Failure    parley.Failure `json:"failure,omitempty" enum:"lost,busy,server,nostart,final" doc:"Why the attempt failed. The hub retries every failure except final, which is the default."`
	Reason     string         `json:"reason,omitempty" doc:"A sentence for the sender."`
	RetryAfter float64        `json:"retry_after,omitempty" minimum:"0" doc:"The shortest pause before the next attempt, in seconds."`
}

func nack(ctx context.Context, c *call, in *bodyInput[NackRequest]) (List[parley.Delivery], error) {
	b := in.Body
	why := parley.Trouble{Failure: b.Failure, Reason: b.Reason, After: seconds(b.RetryAfter)}
	return listOf(c.hub.Nack(ctx, c.caller, b.Lease, why, b.Messages...))
}

// ExtendRequest extends a lease.
type ExtendRequest struct {
	Lease   string  `json:"lease" doc:"The lease's id, from take."`
	Seconds float64 `json:"seconds,omitempty" doc:"The new length of the lease in seconds, from now; 0 or missing: 60."`
}

func extend(ctx context.Context, c *call, in *bodyInput[ExtendRequest]) (List[parley.Delivery], error) {
	return listOf(c.hub.Extend(ctx, c.caller, in.Body.Lease, seconds(in.Body.Seconds)))
}

// SeeRequest reports that a turn has started.
type SeeRequest struct {
	Lease string `json:"lease" doc:"The lease's id, from take."`
	Run   string `json:"run,omitempty" doc:"The run that has the messages in its context."`
}

func see(ctx context.Context, c *call, in *bodyInput[SeeRequest]) (List[parley.Delivery], error) {
	return listOf(c.hub.See(ctx, c.caller, in.Body.Lease, in.Body.Run))
}

// SettleRequest reports how a turn has ended.
type SettleRequest struct {
	Lease      string         `json:"lease,omitempty" doc:"The lease's id, from take."`
	Session    string         `json:"session,omitempty" doc:"The key of a client session of the caller, instead of a lease: everything that it has taken. Without an answer or failure, what it has not marked as seen is given back."`
	Answer     string         `json:"answer,omitempty" doc:"The id of the message that answers every delivery of the lease."`
	Failure    parley.Failure `json:"failure,omitempty" enum:"lost,busy,server,nostart,final" doc:"Why the turn failed, instead of an answer."`
	Reason     string         `json:"reason,omitempty" doc:"A sentence for the sender."`
	RetryAfter float64        `json:"retry_after,omitempty" minimum:"0" doc:"The shortest pause before the next attempt, in seconds."`
}

func settle(ctx context.Context, c *call, in *bodyInput[SettleRequest]) (List[parley.Delivery], error) {
	b := in.Body
	how := parley.Outcome{Answer: b.Answer}
	if b.Failure != "" || b.Reason != "" || b.RetryAfter != 0 {
		how.Trouble = &parley.Trouble{Failure: b.Failure, Reason: b.Reason, After: seconds(b.RetryAfter)}
	}
	if err := checkHolder(b.Lease, b.Session); err != nil {
		return List[parley.Delivery]{}, err
	}
	if b.Session != "" {
		return listOf(c.hub.SettleSession(ctx, c.caller, b.Session, how))
	}
	return listOf(c.hub.Settle(ctx, c.caller, b.Lease, how))
}

// checkHolder returns E003 for a call that names both a lease and a client session.
func checkHolder(lease, session string) error {
	if lease == "" || session == "" {
		return nil
	}
	return parley.Errorf(parley.BadInput, "lease and session are given together").Suggest("name the holder of the deliveries once")
}

func deadLetters(ctx context.Context, c *call, in *pageInput) (List[parley.Delivery], error) {
	after, err := in.after()
	if err != nil {
		return List[parley.Delivery]{}, err
	}
	list, err := c.hub.DeadLetters(ctx, c.caller, after, in.size())
	return pageByNumber(list, in.size(), func(d parley.Delivery) int64 { return d.Seq }), err
}

type deadLetterInput struct {
	Message   string `path:"message" doc:"The message: its short name, its id, or a beginning or end of the id of six characters or more." example:"m1234"`
	Recipient string `path:"recipient" doc:"The recipient that the message did not reach." example:"arya"`
}

func retryDead(ctx context.Context, c *call, in *deadLetterInput) (parley.Delivery, error) {
	return c.hub.RetryDead(ctx, c.caller, in.Message, in.Recipient)
}

func dropDead(ctx context.Context, c *call, in *deadLetterInput) (parley.Delivery, error) {
	return c.hub.DropDead(ctx, c.caller, in.Message, in.Recipient)
}
