package outcomes

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/feed"
	"github.com/parley-hub/parley/internal/hub/inbox"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// credentialPoll is how often the hub looks for expired credentials, and how long it waits before it reads the log again after
// a failure.
const credentialPoll = time.Second

// longCalls ends long calls whose credential has ended. While long calls are open, it follows the log of events, which has the
// revocations by all hubs on the database. Its lock is taken before the stream's.
type longCalls struct {
	hub  *Service
	wake chan struct{}

	mu    sync.Mutex
	open  map[*longCall]struct{}
	after int64              // the event up to which the log was read; noPosition while nothing reads it
	sub   *feed.Subscription // follows the log
}

const noPosition = -1

type longCall struct {
	caller unit.Caller // with its id
	end    context.CancelCauseFunc
}

func newLongCalls(h *Service) *longCalls {
	return &longCalls{hub: h, wake: make(chan struct{}, 1), open: map[*longCall]struct{}{}, after: noPosition}
}

// WatchCredential returns a context for a long call. The context ends when the caller's credential is revoked or expires, or when the
// caller is removed; context.Cause returns the reason. The caller must call release at the end.
func (s *Service) WatchCredential(ctx context.Context, caller unit.Caller) (held context.Context, release func(), err error) {
	if caller.Agent, err = inbox.CallerID(ctx, s.Core, caller, unit.OpIdentify); err != nil {
		return nil, nil, err
	}
	held, end := context.WithCancelCause(ctx)
	o := &longCall{caller: caller, end: end}
	release = func() {
		s.calls.drop(o)
		end(nil)
	}
	s.calls.add(o)
	// From here on the log has every revocation after this position. Earlier revocations are in the token's row.
	if err = s.calls.begin(ctx); err == nil {
		err = s.calls.check(ctx, o)
	}
	if err != nil {
		release()
		return nil, nil, s.Explain(ctx, caller, err)
	}
	return held, release, nil
}

func (o *longCalls) add(call *longCall) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.open[call] = struct{}{}
}

func (o *longCalls) drop(call *longCall) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.open, call)
	if len(o.open) == 0 && o.sub != nil {
		o.sub.Nudge() // no call needs the log any more
	}
}

// begin makes sure that something reads the log, from its present end or an earlier position.
func (o *longCalls) begin(ctx context.Context) error {
	if o.position() != noPosition {
		return nil
	}
	newest, err := o.newest(ctx)
	if err != nil {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.after == noPosition {
		o.after = newest
	}
	select {
	case o.wake <- struct{}{}:
	default:
	}
	return nil
}

func (o *longCalls) newest(ctx context.Context) (newest int64, err error) {
	err = o.hub.Store.View(ctx, func(tx storage.Tx) error {
		_, newest, err = tx.Log().Bounds()
		return err
	})
	return newest, err
}

func (o *longCalls) position() int64 {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.after
}

// check ends a call if the caller's credential is no longer good.
func (o *longCalls) check(ctx context.Context, call *longCall) error {
	err := o.hub.Store.View(ctx, func(tx storage.Tx) error {
		agent, err := tx.Agents().Find(call.caller.Agent)
		if err == nil && agent.RemovedAt != nil {
			err = access.ErrNotKnown()
		}
		if err != nil || call.caller.Token == "" {
			return err
		}
		t, err := tx.Tokens().Get(call.caller.Token)
		if errors.Is(err, parley.ErrNotFound) {
			err = access.ErrNotKnown()
		}
		if err != nil {
			return err
		}
		return access.Usable(tx, t, o.hub.Now())
	})
	if parley.CodeOf(err) == parley.NotPermitted {
		call.end(err)
	}
	return err
}

func (s *Service) expireCalls(ctx context.Context, started func()) {
	s.Regularly(ctx, started, credentialPoll, s.calls.expire)
}

// expire ends calls whose credential has expired by the wall clock, which may jump.
func (o *longCalls) expire(context.Context) error {
	now := o.hub.Now()
	o.end(access.ErrExpired(), func(c unit.Caller) bool { return c.Until != nil && !c.Until.After(now) })
	return nil
}

// end ends the calls of the callers that whose selects.
func (o *longCalls) end(cause error, matches func(unit.Caller) bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for call := range o.open {
		if matches(call.caller) {
			call.end(cause)
		}
	}
}

// follow reads the log while long calls are open.
func (o *longCalls) follow(ctx context.Context, started func()) {
	started()
	for ctx.Err() == nil {
		after := o.position()
		if after == noPosition {
			select {
			case <-ctx.Done():
			case <-o.wake:
			}
			continue
		}
		err := o.watch(ctx, after)
		if parley.CodeOf(err) == parley.BadInput { // the log no longer has this position
			err = o.checkAll(ctx)
		}
		if err != nil && ctx.Err() == nil {
			o.hub.Config.Log.Error("cannot follow revocations; retrying in 1s", "error", err)
			select {
			case <-ctx.Done():
			case <-time.After(credentialPoll):
			}
		}
	}
}

// watch follows the log until no long call is open.
func (o *longCalls) watch(ctx context.Context, after int64) error {
	filter := parley.EventFilter{Kinds: append(runEndKinds(), parley.EventTokenRevoked, parley.EventAgentRemoved)}
	sub, err := o.hub.feed.Subscribe(ctx, unit.Caller{Agent: parley.System}, after, filter)
	if err != nil {
		return err
	}
	defer sub.Close()
	o.mu.Lock()
	o.sub = sub
	o.mu.Unlock()
	for o.moveTo(after) {
		var list []parley.Event
		if list, after, err = sub.Next(ctx); err != nil {
			return err
		}
		for _, e := range list {
			o.endCallsOf(e)
		}
	}
	return nil
}

// endCallsOf ends the calls whose credential an event ends.
func (o *longCalls) endCallsOf(e parley.Event) {
	switch e.Kind {
	case parley.EventAgentRemoved:
		o.end(access.ErrNotKnown(), func(c unit.Caller) bool { return c.Agent == e.Agent })
	default:
		var data struct{ Token, Run string } // the token of a run has the run's id
		if json.Unmarshal(e.Data, &data) == nil {
			ended := data.Token + data.Run
			o.end(access.ErrNotKnown(), func(c unit.Caller) bool { return ended != "" && (c.Token == ended || c.Run == ended) })
		}
	}
}

// runEndKinds returns the events by which runs, and their tokens, end.
func runEndKinds() []parley.EventKind {
	return []parley.EventKind{
		parley.EventRun(parley.RunSucceeded), parley.EventRun(parley.RunFailed), parley.EventRun(parley.RunCancelled), parley.EventRun(parley.RunLost),
	}
}

// moveTo stores the position, and reports whether long calls are open.
func (o *longCalls) moveTo(after int64) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.open) == 0 {
		o.after, o.sub = noPosition, nil
		return false
	}
	o.after = after
	return true
}

// checkAll checks the credential of every call, and continues after the last event that was stored before the check.
func (o *longCalls) checkAll(ctx context.Context) error {
	newest, err := o.newest(ctx)
	if err != nil {
		return err
	}
	o.mu.Lock()
	held := slices.Collect(maps.Keys(o.open))
	o.mu.Unlock()
	for _, call := range held {
		if err := o.check(ctx, call); err != nil && parley.CodeOf(err) != parley.NotPermitted {
			return err
		}
	}
	o.moveTo(newest)
	return nil
}
