package steps

import (
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const (
	cacheSize      = 4096 // messages
	maxTransitions = 16   // of one delivery
)

// messageCache holds the newest messages.
type messageCache struct {
	entries map[string]*progress
	order   [cacheSize]string // a ring of message ids
	next    int               // index of the oldest id in the ring
}

// progress is a message with the recent transitions of its deliveries.
type progress struct {
	message     parley.Message
	deliveries  map[string]parley.Delivery
	transitions map[string][]transition // by recipient, in order
}

// transition is the time when a delivery reached a state.
type transition struct {
	num   int64
	at    time.Time
	state parley.DeliveryState
}

func newMessageCache() *messageCache { return &messageCache{entries: map[string]*progress{}} }

func (m *messageCache) get(id string) *progress { return m.entries[id] }

// keep adds a message to the cache, without its content, unless it is already there.
func (m *messageCache) keep(message parley.Message, deliveries []parley.Delivery) *progress {
	if known := m.entries[message.ID]; known != nil {
		return known
	}
	message.Content, message.Payload, message.Metadata = parley.Content{}, nil, nil
	w := &progress{message: message, deliveries: map[string]parley.Delivery{}, transitions: map[string][]transition{}}
	for _, d := range deliveries {
		w.deliveries[d.Recipient] = d
	}
	delete(m.entries, m.order[m.next])
	m.entries[message.ID], m.order[m.next] = w, message.ID
	m.next = (m.next + 1) % cacheSize
	return w
}

// record notes when a delivery reached a state. A repeated event changes nothing. If one event has several states, the last
// one counts.
func (w *progress) record(recipient string, m transition) {
	moves := w.transitions[recipient]
	if i := slices.IndexFunc(moves, func(known transition) bool { return known.num == m.num }); i >= 0 {
		moves[i] = m
		return
	}
	if len(moves) == maxTransitions {
		moves = slices.Delete(moves, 0, 1)
	}
	w.transitions[recipient] = append(moves, m)
}

// lastBefore returns the last recorded transition of a recipient before an event.
func (w *progress) lastBefore(num int64, recipient string) (m transition, known bool) {
	for _, earlier := range slices.Backward(w.transitions[recipient]) {
		if earlier.num < num {
			return earlier, true
		}
	}
	return transition{}, false
}

// previousTime returns when a delivery reached the state before the one of an event. It uses the recorded transitions, or
// else the times of the delivery.
func (w *progress) previousTime(num int64, m deliveryEvent) time.Time {
	if earlier, known := w.lastBefore(num, m.Recipient); known {
		return earlier.at
	}
	d := w.deliveries[m.Recipient]
	times := []*time.Time{d.SeenAt, d.DeliveredAt}
	switch m.State {
	case parley.DeliveryAccepted, parley.DeliveryDelivered:
		times = nil
	case parley.DeliverySeen:
		times = times[1:]
	}
	for _, at := range times {
		if at != nil {
			return *at
		}
	}
	return d.AcceptedAt
}

// previousState returns the state of a delivery before an event. If no transition is recorded, the times of the delivery that
// are before the event decide.
func (w *progress) previousState(e hub.Followed, m deliveryEvent) parley.DeliveryState {
	if earlier, known := w.lastBefore(e.Num, m.Recipient); known {
		return earlier.state
	}
	d := w.deliveries[m.Recipient]
	earlier := func(at *time.Time) bool { return at != nil && at.Before(e.At) }
	switch {
	case earlier(d.SettledAt) && d.State == parley.DeliveryAnswered && m.State == parley.DeliveryAnswered:
		return parley.DeliveryAcked
	case earlier(d.SeenAt):
		return parley.DeliverySeen
	case earlier(d.DeliveredAt):
		return parley.DeliveryDelivered
	default:
		return parley.DeliveryAccepted
	}
}
