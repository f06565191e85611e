package chat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
)

// deliveryStates knows how far messages have come on their way to each recipient.
type deliveryStates struct {
	states  map[string]map[string]parley.DeliveryState // message, recipient
	changes map[string]int                             // events, of each message
}

func newDeliveryStates() deliveryStates {
	return deliveryStates{map[string]map[string]parley.DeliveryState{}, map[string]int{}}
}

// applyEvent takes in an event of a delivery.
func (l *deliveryStates) applyEvent(e parley.Event) {
	state, ok := strings.CutPrefix(string(e.Kind), "delivery.")
	if !ok || !parley.DeliveryState(state).Known() {
		return
	}
	l.changes[e.Message]++
	l.set(e.Message, e.Agent, parley.DeliveryState(state))
}

// load takes in the deliveries of a message, as they were after so many of its events. It is false if
// more has happened since: then they are old.
func (l *deliveryStates) load(message string, list []parley.Delivery, after int) bool {
	if l.changes[message] != after {
		return false
	}
	for _, d := range list {
		l.set(message, d.Recipient, d.State)
	}
	return true
}

func (l *deliveryStates) set(message, recipient string, state parley.DeliveryState) {
	if l.states[message] == nil {
		l.states[message] = map[string]parley.DeliveryState{}
	}
	l.states[message][recipient] = state
}

// settled says that nothing more can become of a message.
func (l *deliveryStates) settled(message string) bool {
	for _, state := range l.states[message] {
		if !state.Settled() || state == parley.DeliveryAcked { // an answer may follow an ack
			return false
		}
	}
	return len(l.states[message]) > 0
}

// failedStates are the states in which a message did not reach somebody.
var failedStates = []parley.DeliveryState{
	parley.DeliveryFailed, parley.DeliveryDead, parley.DeliveryExpired, parley.DeliveryEvicted, parley.DeliveryDropped,
}

// stateOrder is the order in which states are named.
var stateOrder = append([]parley.DeliveryState{
	parley.DeliveryAnswered, parley.DeliveryAcked, parley.DeliverySeen, parley.DeliveryDelivered, parley.DeliveryAccepted,
}, failedStates...)

// summary says in a few words how far a message has come, and whether somebody will not get it.
func (l *deliveryStates) summary(message string) (words string, bad bool) {
	states := l.states[message]
	if len(states) == 0 {
		return string(parley.DeliveryAccepted), false // it is for nobody in particular, and stored
	}
	count := map[parley.DeliveryState]int{}
	for _, state := range states {
		count[state]++
		bad = bad || slices.Contains(failedStates, state)
	}
	var parts []string
	for _, state := range stateOrder {
		switch {
		case count[state] == len(states):
			return string(state), bad
		case count[state] > 0:
			parts = append(parts, fmt.Sprintf("%d %s", count[state], state))
		}
	}
	return strings.Join(parts, ", "), bad
}
