package natslink

import (
	"context"
	"hash/maphash"
	"sync"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const (
	source = "nats"
	// lanes is how many requests are answered at once, so that the store commits them together. Requests with the same token
	// share a lane, so they stay in their order.
	lanes          = 16
	laneLength     = 64               // requests in one lane; further requests wait in the connection
	requestTimeout = 30 * time.Second // for one request
)

// receiver takes requests to post messages from the hub's subject.
type receiver struct {
	*Link
	lanes [lanes]chan request
	seed  maphash.Seed
}

func newReceiver(l *Link) *receiver {
	in := &receiver{Link: l, seed: maphash.MakeSeed()}
	for i := range in.lanes {
		in.lanes[i] = make(chan request, laneLength)
	}
	return in
}

// run subscribes after it has found that the stream belongs to this hub, because another hub may have the same name. If a client
// gets no reply because the hub stops, the hub has not processed the request.
func (in *receiver) run(ctx context.Context, started func()) {
	started()
	if !in.awaitStream(ctx) {
		return
	}
	var workers sync.WaitGroup
	for _, lane := range in.lanes {
		workers.Go(func() { in.answerAll(ctx, lane) })
	}
	subscription, err := in.conn.QueueSubscribe(in.subject("send"), "parley", func(m *nats.Msg) { in.enqueue(ctx, m) })
	if err != nil {
		in.Log.Error("cannot subscribe to requests in NATS; restart the hub to retry", "error", err)
	} else {
		_ = in.conn.FlushTimeout(serverTimeout) // if this fails, the library subscribes with the next connection
		in.Log.Info("the hub takes messages from NATS", "subject", in.subject("send"))
	}
	workers.Wait()
	if err == nil {
		_ = subscription.Unsubscribe() // a lost connection has no subscriptions
	}
}

func (in *receiver) answerAll(ctx context.Context, lane <-chan request) {
	for {
		select {
		case r := <-lane:
			in.answer(ctx, r)
		case <-ctx.Done():
			return
		}
	}
}

// awaitStream waits until the hub's stream can be used. It returns false when ctx is done.
func (in *receiver) awaitStream(ctx context.Context) bool {
	lastError := ""
	for {
		if in.state.await(ctx) != nil {
			return false
		}
		_, err := in.findPosition(ctx)
		if err == nil {
			in.state.notePublishing(nil)
			return true
		}
		if ctx.Err() != nil {
			return false
		}
		in.state.notePublishing(err)
		if lastError != err.Error() {
			lastError = err.Error()
			in.Log.Warn("cannot use the stream of this hub in NATS; retrying in 2s", "error", err, "suggestion", parley.AsError(err).Suggestion)
		}
		sleep(ctx, streamRetryDelay)
	}
}

func sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

// enqueue parses a request and puts it into the lane of its token.
func (in *receiver) enqueue(ctx context.Context, m *nats.Msg) {
	r := read(m, in.limit())
	select {
	case in.lanes[maphash.String(in.seed, r.Token)%lanes] <- r:
	case <-ctx.Done():
	}
}

// limit returns the size limit of a request, in bytes. JSON may write six bytes for one, and metadata adds to the body.
func (in *receiver) limit() int { return 8 * in.Body }

func (in *receiver) answer(ctx context.Context, r request) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), requestTimeout)
	defer cancel()
	receipt, err := in.post(ctx, r)
	in.reply(r.message, receipt, err)
}

// post posts a message as the HTTP API does.
func (in *receiver) post(ctx context.Context, r request) (parley.Receipt, error) {
	if r.err != nil {
		return parley.Receipt{}, r.err
	}
	caller, err := in.identify(ctx, r.Token)
	if err != nil {
		return parley.Receipt{}, err
	}
	caller.Trace = r.trace
	return in.hub.Post(ctx, caller, r.Draft)
}

func (in *receiver) identify(ctx context.Context, token string) (hub.Caller, error) {
	if token == "" {
		return hub.Caller{}, unauthenticated("the request has no credential")
	}
	caller, err := in.hub.Identify(ctx, token)
	if err != nil {
		return caller, err
	}
	if caller.Kind != parley.TokenPlain { // above all not the token of a run, which is valid only on the machine of the hub
		return caller, unauthenticated("the secret is not a token")
	}
	caller.Source = source
	return caller, nil
}

func unauthenticated(sentence string) *parley.Error {
	return parley.Errorf(parley.NotPermitted, "%s", sentence).Because(parley.Unauthenticated).
		Suggest("send a token in the header %s, or as token in the body", headerToken)
}
