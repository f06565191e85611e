// Package steps reads the order of a hub as what it means for messages: which was sent, delivered, processed or has failed,
// when, and after how long.
package steps

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// Step is one rung that a message has come to on its way to one recipient.
type Step struct {
	Num        int64 // its place in the order
	At         time.Time
	Message    parley.Message // without what it says
	Recipient  string         // none: it is for nobody in particular
	State      parley.DeliveryState
	Waking     bool
	Person     bool      // the recipient is one
	Accepted   time.Time // when the way began
	PreviousAt time.Time // when it came to the rung before
	Attempt    string    // tells one try from another: the run it is for, or a count
	Requeued   bool      // it was given back, and waits for another try
	Transient  bool      // it went on to another rung in the same moment
	Failure    *parley.Error
}

// The words of S1 for how far a message is.
const (
	Sent      = "sent"
	Delivered = "delivered"
	Processed = "processed"
	Failed    = "failed"
)

// Status is how far the message is, in the words of S1.
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

// IsFirstProcessing says whether by this step an agent that was to be woken has the message before it. People have all the
// time they need.
func (s Step) IsFirstProcessing() bool {
	return s.Waking && !s.Person && s.State == parley.DeliverySeen
}

// Significant says whether the step says more than the next one: what is seen and answered at once was processed once.
func (s Step) Significant() bool { return !s.Transient || s.Status() != Processed }

// Hub is what is asked when something is not known any more.
type Hub interface {
	Message(ctx context.Context, caller hub.Caller, id string) (parley.Shown, error)
	Agent(ctx context.Context, caller hub.Caller, name string) (parley.Agent, error)
}

// IsMissing says whether what was asked for does not exist any more.
func IsMissing(err error) bool {
	if err == nil {
		return false
	}
	reason := parley.AsError(err).Reason
	return reason == parley.NotFound || reason == parley.Gone
}

// theHub asks for what the hub itself may see.
var theHub = hub.Caller{Agent: parley.System}

// Reader turns events into steps. It remembers the messages that came last, so that it seldom has to ask for one. It is
// for one goroutine.
type Reader struct {
	hub    Hub
	cache  *messageCache
	people map[string]bool
}

// NewReader makes one.
func NewReader(h Hub) *Reader {
	return &Reader{hub: h, cache: newMessageCache(), people: map[string]bool{}}
}

// Steps are the steps among some events, in their order. Events that are told again give the same steps again. What was
// deleted meanwhile is left out.
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

// appendPosted adds that a message was accepted, for each of its recipients.
func (r *Reader) appendPosted(ctx context.Context, steps []Step, e hub.Followed) ([]Step, error) {
	way := r.cache.keep(*e.Posted, e.Deliveries)
	if len(e.Deliveries) == 0 {
		return append(steps, Step{
			Num: e.Num, At: e.At, Message: way.message, State: parley.DeliveryAccepted, Accepted: e.At, PreviousAt: e.At,
		}), nil
	}
	for _, d := range e.Deliveries {
		step, err := r.newStep(ctx, way, e, deliveryEvent{Recipient: d.Recipient, State: parley.DeliveryAccepted})
		if err != nil {
			return nil, err
		}
		steps = append(steps, step)
	}
	return steps, nil
}

// deliveryEvent is what an event of a delivery says.
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
	way, err := r.progressOf(ctx, e.Message)
	if IsMissing(err) {
		return steps, nil
	}
	if err != nil {
		return nil, err
	}
	path := way.previousState(e, m).Path(m.State)
	if len(path) == 0 { // it stands where it stood, as far as that is known
		path = []parley.DeliveryState{m.State}
	}
	for i, state := range path {
		m.State = state
		step, err := r.newStep(ctx, way, e, m)
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

// Message is a message without what it says.
func (r *Reader) Message(ctx context.Context, id string) (parley.Message, error) {
	w, err := r.progressOf(ctx, id)
	if err != nil {
		return parley.Message{}, err
	}
	return w.message, nil
}

// progressOf is what is known of a message.
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
