// Package steps turns the events of a hub into steps of deliveries: which message was sent, delivered or processed, or has
// failed, when, and after how long.
package steps

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// Step is one state that the delivery of a message to one recipient has reached.
type Step struct {
	Num        int64 // number of the event
	At         time.Time
	Message    parley.Message // without its content
	Recipient  string         // "" if the message has no recipients
	State      parley.DeliveryState
	Waking     bool
	Person     bool      // the recipient is a person
	Accepted   time.Time // when the hub accepted the message
	PreviousAt time.Time // when the delivery reached its previous state
	Attempt    string    // identifies the attempt: its run, or the attempt number
	Requeued   bool      // the delivery is pending again, for another attempt
	Transient  bool      // the same event moved the delivery on to another state
	Failure    *parley.Error
}

// The values of Status, which ClawOS defines for its message log.
const (
	Sent      = "sent"
	Delivered = "delivered"
	Processed = "processed"
	Failed    = "failed"
)

// Status returns how far the message is, in the terms of the message log.
func (s Step) Status() string {
	switch s.State {
	case parley.DeliveryAccepted:
		return Sent
	case parley.DeliveryDelivered:
		return Delivered
	case parley.DeliverySeen, parley.DeliveryAcked, parley.DeliveryAnswered:
		return Processed
	default:
		return Failed
	}
}

// Latency is the time since the message was accepted.
func (s Step) Latency() time.Duration { return max(s.At.Sub(s.Accepted), 0) }

// IsFirstProcessing reports whether this step is an agent's first sight of a message that wakes it. Steps of people do not
// count, because nobody measures how fast people read.
func (s Step) IsFirstProcessing() bool {
	return s.Waking && !s.Person && s.State == parley.DeliverySeen
}

// Significant reports whether the step should be logged and counted. A delivery that is seen and answered by one event is
// processed only once, so its transient step is not significant.
func (s Step) Significant() bool { return !s.Transient || s.Status() != Processed }

// Hub looks up messages and agents that the reader does not have in its cache.
type Hub interface {
	// Message returns a message with its deliveries. IsMissing holds for the error if there is none.
	Message(ctx context.Context, caller hub.Caller, id string) (parley.Shown, error)
	// Agent returns an agent. IsMissing holds for the error if there is none.
	Agent(ctx context.Context, caller hub.Caller, name string) (parley.Agent, error)
}

// IsMissing reports whether an error says that something does not exist, or not any more.
func IsMissing(err error) bool {
	if err == nil {
		return false
	}
	reason := parley.AsError(err).Reason
	return reason == parley.NotFound || reason == parley.Gone
}

// theHub is the caller for lookups: it may see everything.
var theHub = hub.Caller{Agent: parley.System}

// Reader turns events into steps. It caches the newest messages, so it rarely has to look one up. It is not safe for
// concurrent use.
type Reader struct {
	hub    Hub
	cache  *messageCache
	people map[string]bool
}

// NewReader makes a reader with an empty cache.
func NewReader(h Hub) *Reader {
	return &Reader{hub: h, cache: newMessageCache(), people: map[string]bool{}}
}

// Steps returns the steps of events, in order. The same events give the same steps again. Steps skips deleted messages.
func (r *Reader) Steps(ctx context.Context, batch []hub.Followed) (steps []Step, err error) {
	for _, e := range batch {
		switch {
		case e.Posted != nil:
			steps, err = r.appendPosted(ctx, steps, e)
		case e.Kind.Within("delivery"):
			steps, err = r.appendTransitions(ctx, steps, e)
		}
		if err != nil {
			return nil, err
		}
	}
	return steps, nil
}

// appendPosted adds a step "accepted" for each recipient of a new message, or one step if there is none.
func (r *Reader) appendPosted(ctx context.Context, steps []Step, e hub.Followed) ([]Step, error) {
	p := r.cache.keep(*e.Posted, e.Deliveries)
	if len(e.Deliveries) == 0 {
		return append(steps, Step{
			Num: e.Num, At: e.At, Message: p.message, State: parley.DeliveryAccepted, Accepted: e.At, PreviousAt: e.At,
		}), nil
	}
	for _, d := range e.Deliveries {
		step, err := r.newStep(ctx, p, e, deliveryEvent{Recipient: d.Recipient, State: parley.DeliveryAccepted})
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// deliveryEvent is the data of an event of a delivery.
type deliveryEvent struct {
	Recipient string               `json:"-"`
	State     parley.DeliveryState `json:"state"`
	Attempt   int                  `json:"attempt"`
	Run       string               `json:"run"`
	Failure   *parley.Error        `json:"failure"`
}

func (r *Reader) appendTransitions(ctx context.Context, steps []Step, e hub.Followed) ([]Step, error) {
	m := deliveryEvent{Recipient: e.Agent}
	if err := json.Unmarshal(e.Data, &m); err != nil {
		return nil, err
	}
	p, err := r.progressOf(ctx, e.Message)
	if IsMissing(err) {
		return steps, nil
	}
	if err != nil {
		return nil, err
	}
	path := p.previousState(e, m).Path(m.State)
	if len(path) == 0 { // the state is unchanged, as far as is known
		path = []parley.DeliveryState{m.State}
	}
	for i, state := range path {
		m.State = state
		step, err := r.newStep(ctx, p, e, m)
		if err != nil {
			return nil, err
		}
		step.Requeued, step.Transient = state == parley.DeliveryAccepted, i < len(path)-1
		if i > 0 {
			step.PreviousAt = e.At
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// Message returns a message without its content. It returns an error for which IsMissing holds if there is none.
func (r *Reader) Message(ctx context.Context, id string) (parley.Message, error) {
	w, err := r.progressOf(ctx, id)
	if err != nil {
		return parley.Message{}, err
	}
	return w.message, nil
}

// progressOf returns the progress of a message, from the cache or from the hub.
func (r *Reader) progressOf(ctx context.Context, id string) (*progress, error) {
	if w := r.cache.get(id); w != nil {
		return w, nil
	}
	shown, err := r.hub.Message(ctx, theHub, id)
	if err != nil {
		return nil, err
	}
	return r.cache.keep(shown.Message, shown.Deliveries), nil
}

func (r *Reader) newStep(ctx context.Context, w *progress, e hub.Followed, m deliveryEvent) (Step, error) {
	d := w.deliveries[m.Recipient]
	step := Step{
		Num: e.Num, At: e.At, Message: w.message, Recipient: m.Recipient, State: m.State, Waking: d.Waking,
		Accepted: d.AcceptedAt, PreviousAt: w.previousTime(e.Num, m), Attempt: m.Run, Failure: m.Failure,
	}
	if step.Attempt == "" {
		step.Attempt = strconv.Itoa(m.Attempt)
	}
	if step.Accepted.IsZero() {
		step.Accepted = w.message.CreatedAt
	}
	if step.PreviousAt.IsZero() || step.PreviousAt.After(step.At) {
		step.PreviousAt = step.At
	}
	w.record(m.Recipient, transition{e.Num, e.At, m.State})
	var err error
	step.Person, err = r.isPerson(ctx, m.Recipient)
	return step, err
}

func (r *Reader) isPerson(ctx context.Context, id string) (bool, error) {
	if is, known := r.people[id]; known {
		return is, nil
	}
	a, err := r.hub.Agent(ctx, theHub, id)
	if IsMissing(err) {
		return false, nil // it was removed
	}
	if err == nil {
		r.people[id] = a.Kind == parley.KindHuman
	}
	return r.people[id], err
}
