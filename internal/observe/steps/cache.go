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

// messageCache has the messages that came last.
type messageCache struct {
	entries map[string]*progress
	order   [cacheSize]string // a ring
	next    int               // the place of the oldest in it
}

// progress is a message on its way to its recipients.
type progress struct {
	message     parley.Message
	deliveries  map[string]parley.Delivery
	transitions map[string][]transition // by recipient, in order
}

// transition is when a delivery came to a rung.
type transition struct {
	num   int64
	at    time.Time
	state parley.DeliveryState
}

func newMessageCache() *messageCache { return &messageCache{entries: map[string]*progress{}} }

func (m *messageCache) get(id string) *progress { return m.entries[id] }

// keep remembers a message, without what it says.
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

// record remembers when a delivery came to a rung. Telling it again changes nothing; of several rungs in one event the last
// counts.
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

// lastBefore is the move before an event.
func (w *progress) lastBefore(num int64, recipient string) (m transition, known bool) {
	for _, earlier := range slices.Backward(w.transitions[recipient]) {
		if earlier.num < num {
			return earlier, true
		}
	}
	return transition{}, false
}

// previousTime is when a delivery came to the rung before the one of an event: as the events have told, or else as the
// delivery itself says.
func (w *progress) previousTime(num int64, m deliveryEvent) time.Time {
	if earlier, known := w.lastBefore(num, m.Recipient); known {
		return earlier.at
	}
	d := w.deliveries[m.Recipient]
	rungs := []*time.Time{d.SeenAt, d.DeliveredAt}
	switch m.State {
	case parley.DeliveryAccepted, parley.DeliveryDelivered:
		rungs = nil
	case parley.DeliverySeen:
		rungs = rungs[1:]
	}
	for _, at := range rungs {
		if at != nil {
			return *at
		}
	}
	return d.AcceptedAt
}

// previousState is where a delivery stood before an event. Where no event has told that, it came at the time of the event to all
// rungs that it has been on since.
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
