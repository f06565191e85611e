package hub

import (
	"context"
	"iter"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// At returns the hub as one participant uses it.
func (h *Hub) At(caller unit.Caller) parley.Workspace { return workspace{h, caller, nil} }

// AtWithin returns the hub as one participant uses it within a call that counts as one that waits. What waits in the call uses the slot
// of the call if it is free.
func (h *Hub) AtWithin(caller unit.Caller, slot *unit.SharedSlot) parley.Workspace {
	return workspace{h, caller, slot}
}

type workspace struct {
	hub    *Hub
	caller unit.Caller
	slot   *unit.SharedSlot // of the call that the caller makes; nil if there is none
}

func (w workspace) Post(ctx context.Context, d parley.Draft) (parley.Receipt, error) {
	return w.hub.Post(ctx, w.caller, d)
}

func (w workspace) Read(ctx context.Context, conversation string, before int64, limit int) (parley.NamedMessages, error) {
	return w.hub.HistoryWithNames(ctx, w.caller, conversation, parley.Page{Before: before, Limit: limit})
}

func (w workspace) Who(ctx context.Context) ([]parley.Presence, error) {
	return w.hub.Who(ctx, w.caller)
}

func (w workspace) Named(ctx context.Context, ids ...string) ([]parley.Presence, error) {
	return w.hub.Named(ctx, w.caller, ids...)
}

func (w workspace) Self(ctx context.Context) (parley.Agent, error) {
	return w.hub.Agent(ctx, w.caller, w.caller.Agent)
}

func (w workspace) Conversations(ctx context.Context, f parley.ListFilter) ([]parley.ConversationView, error) {
	list, _, err := w.hub.Conversations(ctx, w.caller, f)
	return list, err
}

func (w workspace) Search(ctx context.Context, r parley.SearchRequest) (parley.SearchResult, error) {
	return w.hub.Search(ctx, w.caller, r)
}

func (w workspace) Peek(ctx context.Context, limit int) (parley.Peeked, error) {
	return w.hub.Peek(ctx, w.caller, limit)
}

func (w workspace) Sleep(ctx context.Context, until time.Time) error {
	_, err := w.hub.Sleep(ctx, w.caller, w.caller.Agent, until)
	return err
}

func (w workspace) Remember(ctx context.Context, n parley.NewNote) (parley.Note, error) {
	return w.hub.Remember(ctx, w.caller, n)
}

func (w workspace) Recall(ctx context.Context, f parley.NoteFilter) ([]parley.Note, error) {
	return w.hub.Recall(ctx, w.caller, f)
}

func (w workspace) Forget(ctx context.Context, note string) error {
	return w.hub.Forget(ctx, w.caller, note)
}

// Take counts as a call that waits if it may wait.
func (w workspace) Take(ctx context.Context, t parley.Take) (parley.Taken, error) {
	if t.Wait == 0 {
		return w.hub.Take(ctx, w.caller, t)
	}
	return whileWaiting(ctx, w, func(caller unit.Caller) (parley.Taken, error) { return w.hub.Take(ctx, caller, t) })
}

func (w workspace) Ack(ctx context.Context, lease string, messages ...string) ([]parley.Delivery, error) {
	return w.hub.Ack(ctx, w.caller, lease, messages...)
}

// OpenSession counts as a stream while its connection is open.
func (w workspace) OpenSession(ctx context.Context, n parley.NewSession) (parley.SessionStream, error) {
	underway, err := w.hub.Begin(ctx, w.caller, unit.Streaming)
	if err != nil {
		return nil, err
	}
	c, err := w.hub.OpenSession(ctx, underway.Caller, n)
	if err != nil {
		underway.End()
		return nil, err
	}
	return countedSession{c, underway}, nil
}

// countedSession ends its count as a stream when its connection is closed.
type countedSession struct {
	parley.SessionStream
	underway unit.Underway
}

func (c countedSession) Close() error {
	defer c.underway.End()
	return c.SessionStream.Close()
}

func (w workspace) Sessions(ctx context.Context) ([]parley.Session, error) {
	return w.hub.Sessions(ctx, w.caller)
}

func (w workspace) See(ctx context.Context, lease, run string) ([]parley.Delivery, error) {
	return w.hub.See(ctx, w.caller, lease, run)
}

func (w workspace) AckSession(ctx context.Context, key string, messages ...string) ([]parley.Delivery, error) {
	return w.hub.AckSession(ctx, w.caller, key, messages...)
}

func (w workspace) SettleSession(ctx context.Context, key string, outcome parley.Outcome) ([]parley.Delivery, error) {
	return w.hub.SettleSession(ctx, w.caller, key, outcome)
}

// AwaitOutcome counts as a call that waits.
func (w workspace) AwaitOutcome(ctx context.Context, id string, wait time.Duration) (parley.Awaited, error) {
	return whileWaiting(ctx, w, func(caller unit.Caller) (parley.Awaited, error) { return w.hub.AwaitOutcome(ctx, caller, id, wait) })
}

// The pauses before the hub is asked for events again.
const (
	shortPause = 200 * time.Millisecond
	longPause  = 10 * time.Second
)

// Events counts as a stream, and does not make the caller present. An error loses its position, also one by which the caller was so slow that the log no longer reaches back.
func (w workspace) Events(ctx context.Context, f parley.EventFilter) iter.Seq2[parley.Event, error] {
	return func(yield func(parley.Event, error) bool) {
		reset := false
		for pause := shortPause; ; pause = min(2*pause, longPause) {
			stopped := false
			err := w.follow(ctx, f, reset, func(e parley.Event) bool {
				pause, stopped = shortPause, !yield(e, nil)
				return !stopped
			})
			if stopped || ctx.Err() != nil || !yield(parley.Event{}, err) || !isTemporary(err) {
				return
			}
			select {
			case <-time.After(max(pause, parley.AsError(err).RetryAfter)):
			case <-ctx.Done():
				return
			}
			reset = true
		}
	}
}

// isTemporary reports whether a caller can follow the events later, if it cannot now.
func isTemporary(err error) bool {
	e := parley.AsError(err)
	return e.Code == parley.Unavailable || e.Code == parley.TimedOut || e.Code == parley.Internal || e.Reason == parley.NotFound
}

// follow passes on events from now on until each returns false, which is no error. With reset, it begins with EventReset.
func (w workspace) follow(ctx context.Context, f parley.EventFilter, reset bool, each func(parley.Event) bool) error {
	underway, err := w.hub.Begin(ctx, w.caller, unit.Streaming)
	if err != nil {
		return err
	}
	defer underway.End()
	newest, err := w.hub.LastEvent(ctx, underway.Caller)
	if err != nil {
		return err
	}
	sub, err := w.hub.Observe(ctx, underway.Caller, newest, f)
	if err != nil {
		return err
	}
	defer sub.Close()
	if reset && !each(parley.Event{Num: newest, Kind: parley.EventReset}) {
		return nil
	}
	for {
		list, _, err := sub.Next(ctx)
		if err != nil {
			return err
		}
		for _, e := range list {
			if !each(e) {
				return nil
			}
		}
	}
}

// Contact may wait for an answer, and counts as a call that waits.
func (w workspace) Contact(ctx context.Context, c parley.Contact) (parley.Contacted, error) {
	return whileWaiting(ctx, w, func(caller unit.Caller) (parley.Contacted, error) { return w.hub.Contact(ctx, caller, c) })
}

// ContactTelling may wait for an answer, and counts as a call that waits.
func (w workspace) ContactTelling(ctx context.Context, c parley.Contact, onStored func(parley.Contacted)) (parley.Contacted, error) {
	return whileWaiting(ctx, w, func(caller unit.Caller) (parley.Contacted, error) {
		return w.hub.ContactTelling(ctx, caller, c, func(stored parley.Contacted, _ time.Duration) { onStored(stored) })
	})
}

// whileWaiting makes a call that may wait. The hub limits how many of these a participant makes at a time.
func whileWaiting[T any](ctx context.Context, w workspace, do func(unit.Caller) (T, error)) (out T, err error) {
	if leave, ok := w.slot.Use(); ok {
		defer leave()
		return do(w.caller.Counted())
	}
	underway, err := w.hub.Begin(ctx, w.caller, unit.Waiting)
	if err != nil {
		return out, err
	}
	defer underway.End()
	return do(underway.Caller)
}

func (w workspace) Tasks(ctx context.Context, f parley.TaskFilter) ([]parley.TaskView, error) {
	return w.hub.Tasks(ctx, w.caller, f)
}

func (w workspace) Task(ctx context.Context, id string) (parley.TaskView, error) {
	return w.hub.Task(ctx, w.caller, id)
}

func (w workspace) UpdateTask(ctx context.Context, id string, c parley.TaskChange) (parley.TaskView, error) {
	return w.hub.UpdateTask(ctx, w.caller, id, c)
}

func (w workspace) Approvals(ctx context.Context, f parley.ApprovalFilter) ([]parley.Approval, error) {
	return w.hub.Approvals(ctx, w.caller, f)
}

func (w workspace) DecideApproval(ctx context.Context, id string, d parley.Decision) (parley.Approval, error) {
	return w.hub.Decide(ctx, w.caller, id, d)
}
