package chat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
)

// ladder knows how far messages have come on their way to each recipient.
type ladder struct {
	states  map[string]map[string]parley.DeliveryState // message, recipient
	changes map[string]int                             // events, of each message
}

func newLadder() ladder {
	return ladder{map[string]map[string]parley.DeliveryState{}, map[string]int{}}
}

// step takes in an event of a delivery.
func (l *ladder) step(e parley.Event) {
	state, ok := strings.CutPrefix(string(e.Kind), "delivery.")
	if !ok || !parley.DeliveryState(state).Known() {
		return
	}
	l.changes[e.Message]++
	l.put(e.Message, e.Agent, parley.DeliveryState(state))
}

// learn takes in the deliveries of a message, as they were after so many of its events. It is false if
// more has happened since: then they are old.
func (l *ladder) learn(message string, list []parley.Delivery, after int) bool {
	if l.changes[message] != after {
		return false
	}
	for _, d := range list {
		l.put(message, d.Recipient, d.State)
	}
	return true
}

func (l *ladder) put(message, recipient string, state parley.DeliveryState) {
	if l.states[message] == nil {
		l.states[message] = map[string]parley.DeliveryState{}
	}
	l.states[message][recipient] = state
}

// settled says that nothing more can become of a message.
func (l *ladder) settled(message string) bool {
	for _, state := range l.states[message] {
		if !state.Settled() || state == parley.DeliveryAcked { // an answer may follow an ack
			return false
		}
	}
	return len(l.states[message]) > 0
}

// ends are the states in which a message did not reach somebody.
var ends = []parley.DeliveryState{
	parley.DeliveryFailed, parley.DeliveryDead, parley.DeliveryExpired, parley.DeliveryEvicted, parley.DeliveryDropped,
}

// rungs is the order in which states are named.
var rungs = append([]parley.DeliveryState{
	parley.DeliveryAnswered, parley.DeliveryAcked, parley.DeliverySeen, parley.DeliveryDelivered, parley.DeliveryAccepted,
}, ends...)

// rung says in a few words how far a message has come, and whether somebody will not get it.
func (l *ladder) rung(message string) (words string, bad bool) {
	states := l.states[message]
	if len(states) == 0 {
		return string(parley.DeliveryAccepted), false // it is for nobody in particular, and stored
	}
	count := map[parley.DeliveryState]int{}
	for _, state := range states {
		count[state]++
		bad = bad || slices.Contains(ends, state)
	}
	var parts []string
	for _, state := range rungs {
		switch {
		case count[state] == len(states):
			return string(state), bad
		case count[state] > 0:
			parts = append(parts, fmt.Sprintf("%d %s", count[state], state))
		}
	}
	return strings.Join(parts, ", "), bad
}
