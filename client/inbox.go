package client

import (
	"context"
	"net/http"
	"time"

	"github.com/parley-hub/parley"
)

// Peek shows what is in the caller's inbox. Looking consumes nothing.
func (c *Client) Peek(ctx context.Context, limit int) (parley.Peeked, error) {
	return c.PeekAfter(ctx, 0, limit)
}

// PeekAfter is Peek of what is after a seq.
func (c *Client) PeekAfter(ctx context.Context, after int64, limit int) (parley.Peeked, error) {
	return fetch[parley.Peeked](ctx, c, query("limit", count(limit), "after", count(after)), "inbox")
}

// PeekNewest is Peek from the newest message on, before a seq (0: all). It also shows what the caller has seen and must still
// act on.
func (c *Client) PeekNewest(ctx context.Context, before int64, limit int) (parley.Peeked, error) {
	return fetch[parley.Peeked](ctx, c, query("newest", "true", "limit", count(limit), "before", count(before)), "inbox")
}

// MarkShown says that the caller, a person, was shown messages. Those that want nothing of the person are settled. For
// agents nothing changes.
func (c *Client) MarkShown(ctx context.Context, messages ...string) ([]parley.Delivery, error) {
	return c.deliveries(ctx, "shown", leaseMessages{Messages: messages})
}

// Take takes what is in the caller's inbox, under a lease that must be acknowledged, extended or given
// back. It waits at most MaxWait for something.
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

// leased names messages that were taken.
type leaseMessages struct {
	Lease    string   `json:"lease,omitempty"`
	Messages []string `json:"messages"`
}

// trouble is a parley.Trouble in a call.
type trouble struct {
	parley.Trouble
	RetryAfter float64 `json:"retry_after,omitempty"`
}

func (c *Client) deliveries(ctx context.Context, verb string, in any) ([]parley.Delivery, error) {
	page, err := call[Page[parley.Delivery]](ctx, c, http.MethodPost, in, "inbox", verb)
	return page.Items, err
}

// Ack settles messages for the caller. With the lease they were taken under, only what nobody else has taken
// meanwhile.
func (c *Client) Ack(ctx context.Context, lease string, messages ...string) ([]parley.Delivery, error) {
	return c.deliveries(ctx, "ack", leaseMessages{lease, messages})
}

// Nack gives back messages of a lease, and says why they could not be done.
func (c *Client) Nack(ctx context.Context, lease string, failure parley.Trouble, messages ...string) ([]parley.Delivery, error) {
	return c.deliveries(ctx, "nack", struct {
		leaseMessages
		trouble
	}{leaseMessages{lease, messages}, trouble{failure, failure.After.Seconds()}})
}

// Extend makes a lease end so long from now.
func (c *Client) Extend(ctx context.Context, lease string, length time.Duration) ([]parley.Delivery, error) {
	return c.deliveries(ctx, "extend", struct {
		Lease   string  `json:"lease"`
		Seconds float64 `json:"seconds"`
	}{lease, length.Seconds()})
}

// See says that a turn has started which has all that a lease holds in its context.
func (c *Client) See(ctx context.Context, lease, run string) ([]parley.Delivery, error) {
	return c.deliveries(ctx, "see", struct {
		Lease string `json:"lease"`
		Run   string `json:"run,omitempty"`
	}{lease, run})
}

// Settle ends all that a lease holds: with the message that answers it, with what went wrong, or as
// acknowledged.
func (c *Client) Settle(ctx context.Context, lease string, outcome parley.Outcome) ([]parley.Delivery, error) {
	in := struct {
		Lease  string `json:"lease"`
		Answer string `json:"answer,omitempty"`
		*trouble
	}{Lease: lease, Answer: outcome.Answer}
	if outcome.Trouble != nil {
		in.trouble = &trouble{*outcome.Trouble, outcome.Trouble.After.Seconds()}
	}
	return c.deliveries(ctx, "settle", in)
}
