package chat

import (
	"fmt"
	"slices"
	"strings"

	"github.com/parley-hub/parley"
)

// deliveryStates has the delivery states of messages, by recipient.
type deliveryStates struct {
	states  map[string]map[string]parley.DeliveryState // by message and recipient
	changes map[string]int                             // number of events by message
}

func newDeliveryStates() deliveryStates {
	return deliveryStates{map[string]map[string]parley.DeliveryState{}, map[string]int{}}
}

// applyEvent applies an event of a delivery.
func (d *deliveryStates) applyEvent(e parley.Event) {
	state, ok := strings.CutPrefix(string(e.Kind), "delivery.")
	if !ok || !parley.DeliveryState(state).Known() {
		return
	}
	d.changes[e.Message]++
	d.set(e.Message, e.Agent, parley.DeliveryState(state))
}

// load sets the deliveries of a message, as they were after a number of its events. It returns false if there were more
// events since, because then the deliveries are outdated.
func (d *deliveryStates) load(message string, list []parley.Delivery, after int) bool {
	if d.changes[message] != after {
		return false
	}
	for _, delivery := range list {
		d.set(message, delivery.Recipient, delivery.State)
	}
	return true
}

func (d *deliveryStates) set(message, recipient string, state parley.DeliveryState) {
	if d.states[message] == nil {
		d.states[message] = map[string]parley.DeliveryState{}
	}
	d.states[message][recipient] = state
}

// isSettled reports whether all deliveries of a message have reached their last state.
func (d *deliveryStates) isSettled(message string) bool {
	for _, state := range d.states[message] {
		if !state.Settled() || state == parley.DeliveryAcked { // an answer may follow an ack
			return false
		}
	}
	return len(d.states[message]) > 0
}

// failedStates are the states of messages that did not reach a recipient.
var failedStates = []parley.DeliveryState{
	parley.DeliveryFailed, parley.DeliveryDead, parley.DeliveryExpired, parley.DeliveryEvicted, parley.DeliveryDropped,
}

// stateOrder is the order of states in a summary.
var stateOrder = append([]parley.DeliveryState{
	parley.DeliveryAnswered, parley.DeliveryAcked, parley.DeliverySeen, parley.DeliveryDelivered, parley.DeliveryAccepted,
}, failedStates...)

// summary returns the states of a message in a few words, and reports whether a delivery failed.
func (d *deliveryStates) summary(message string) (words string, bad bool) {
	states := d.states[message]
	if len(states) == 0 {
		return string(parley.DeliveryAccepted), false // a message without recipients is stored
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
