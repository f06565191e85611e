package steps

import (
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

const (
	mostKnown = 4096 // messages
	mostMoves = 16   // of one delivery
)

// memory has the messages that came last.
type memory struct {
	ways  map[string]*way
	order [mostKnown]string // a ring
	next  int               // the place of the oldest in it
}

// way is a message on its way to its recipients.
type way struct {
	message    parley.Message
	deliveries map[string]parley.Delivery
	moves      map[string][]move // by recipient, in order
}

// move is when a delivery came to a rung.
type move struct {
	num   int64
	at    time.Time
	state parley.DeliveryState
}

func newMemory() *memory { return &memory{ways: map[string]*way{}} }

func (m *memory) get(id string) *way { return m.ways[id] }

// keep remembers a message, without what it says.
func (m *memory) keep(message parley.Message, deliveries []parley.Delivery) *way {
	if known := m.ways[message.ID]; known != nil {
		return known
	}
	message.Content, message.Payload, message.Metadata = parley.Content{}, nil, nil
	w := &way{message: message, deliveries: map[string]parley.Delivery{}, moves: map[string][]move{}}
	for _, d := range deliveries {
		w.deliveries[d.Recipient] = d
	}
	delete(m.ways, m.order[m.next])
	m.ways[message.ID], m.order[m.next] = w, message.ID
	m.next = (m.next + 1) % mostKnown
	return w
}

// note remembers when a delivery came to a rung. Telling it again changes nothing; of several rungs in one event the last
// counts.
func (w *way) note(recipient string, m move) {
	moves := w.moves[recipient]
	if i := slices.IndexFunc(moves, func(known move) bool { return known.num == m.num }); i >= 0 {
		moves[i] = m
		return
	}
	if len(moves) == mostMoves {
		moves = slices.Delete(moves, 0, 1)
	}
	w.moves[recipient] = append(moves, m)
}

// last is the move before an event.
func (w *way) last(num int64, recipient string) (m move, known bool) {
	for _, earlier := range slices.Backward(w.moves[recipient]) {
		if earlier.num < num {
			return earlier, true
		}
	}
	return move{}, false
}

// before is when a delivery came to the rung before the one of an event: as the events have told, or else as the
// delivery itself says.
func (w *way) before(num int64, m moved) time.Time {
	if earlier, known := w.last(num, m.Recipient); known {
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

// state is where a delivery stood before an event. Where no event has told that, it came at the time of the event to all
// rungs that it has been on since.
func (w *way) state(e hub.Followed, m moved) parley.DeliveryState {
	if earlier, known := w.last(e.Num, m.Recipient); known {
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
