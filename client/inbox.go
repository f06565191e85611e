package client

import (
	"context"
	"net/http"
	"time"

	"github.com/parley-hub/parley"
)

// Peek returns the first deliveries in the caller's inbox, at most limit. They stay there.
func (c *Client) Peek(ctx context.Context, limit int) (parley.Peeked, error) {
	return c.PeekAfter(ctx, 0, limit)
}

// PeekAfter returns the same as Peek, but only deliveries of messages after a seq.
func (c *Client) PeekAfter(ctx context.Context, after int64, limit int) (parley.Peeked, error) {
	return fetch[parley.Peeked](ctx, c, query("limit", count(limit), "after", count(after)), "inbox")
}

// PeekNewest returns deliveries in the caller's inbox, the newest first, of messages before a seq; with 0, of all messages. It
// includes messages that the caller has seen and must still act on.
func (c *Client) PeekNewest(ctx context.Context, before int64, limit int) (parley.Peeked, error) {
	return fetch[parley.Peeked](ctx, c, query("newest", "true", "limit", count(limit), "before", count(before)), "inbox")
}

// MarkShown reports that the caller, a person, has seen messages. The hub settles those that need no action of the person. If
// the caller is an agent, the call changes nothing.
func (c *Client) MarkShown(ctx context.Context, messages ...string) ([]parley.Delivery, error) {
	return c.deliveries(ctx, "shown", leaseMessages{Messages: messages})
}

// Take takes pending deliveries from the caller's inbox, under a lease. Until the lease ends, the hub gives them to no other
// caller. The caller answers or acknowledges the messages, extends the lease, or gives the messages back. If the inbox is
// empty, Take waits as long as t.Wait says, at most MaxWait. If nothing comes, the result has no messages.
func (c *Client) Take(ctx context.Context, t parley.Take) (parley.Taken, error) {
	in := struct {
		parley.Take
		Wait  float64 `json:"wait,omitempty"`
		Lease float64 `json:"lease,omitempty"`
	}{t, min(t.Wait, MaxWait).Seconds(), t.Lease.Seconds()}
	out, err := callWith[struct {
		parley.Taken
		LeaseSeconds float64 `json:"lease_seconds"`
	}](ctx, c, request{method: http.MethodPost}, in, t.Wait, "inbox", "take")
	out.Taken.For = time.Duration(out.LeaseSeconds * float64(time.Second))
	return out.Taken, err
}

// leaseMessages names messages of a lease.
type leaseMessages struct {
	Lease    string   `json:"lease,omitempty"`
	Messages []string `json:"messages"`
}

// trouble is the JSON of a parley.Trouble.
type trouble struct {
	parley.Trouble
	RetryAfter float64 `json:"retry_after,omitempty"`
}

func (c *Client) deliveries(ctx context.Context, verb string, in any) ([]parley.Delivery, error) {
	page, err := call[Page[parley.Delivery]](ctx, c, http.MethodPost, in, "inbox", verb)
	return page.Items, err
}

// Ack acknowledges messages for the caller. With a lease, it acknowledges only deliveries that this lease still holds.
func (c *Client) Ack(ctx context.Context, lease string, messages ...string) ([]parley.Delivery, error) {
	return c.deliveries(ctx, "ack", leaseMessages{lease, messages})
}

// Nack gives back messages of a lease, and reports why the attempt failed.
func (c *Client) Nack(ctx context.Context, lease string, failure parley.Trouble, messages ...string) ([]parley.Delivery, error) {
	return c.deliveries(ctx, "nack", struct {
		leaseMessages
		trouble
	}{leaseMessages{lease, messages}, trouble{failure, failure.After.Seconds()}})
}

// Extend sets the end of a lease to length from now.
func (c *Client) Extend(ctx context.Context, lease string, length time.Duration) ([]parley.Delivery, error) {
	return c.deliveries(ctx, "extend", struct {
		Lease   string  `json:"lease"`
		Seconds float64 `json:"seconds"`
	}{lease, length.Seconds()})
}

// See reports that a turn has started whose context has all messages of a lease.
func (c *Client) See(ctx context.Context, lease, run string) ([]parley.Delivery, error) {
	return c.deliveries(ctx, "see", struct {
		Lease string `json:"lease"`
		Run   string `json:"run,omitempty"`
	}{lease, run})
}

// Settle ends all deliveries of a lease: as answered by a message, as failed, or as acknowledged.
func (c *Client) Settle(ctx context.Context, lease string, outcome parley.Outcome) ([]parley.Delivery, error) {
	return c.deliveries(ctx, "settle", settlement{Lease: lease}.with(outcome))
}

// settlement is the JSON of the end of a turn.
type settlement struct {
	Lease   string `json:"lease,omitempty"`
	Session string `json:"session,omitempty"`
	Answer  string `json:"answer,omitempty"`
	*trouble
}

func (in settlement) with(outcome parley.Outcome) settlement {
	in.Answer = outcome.Answer
	if outcome.Trouble != nil {
		in.trouble = &trouble{*outcome.Trouble, outcome.Trouble.After.Seconds()}
	}
	return in
}
