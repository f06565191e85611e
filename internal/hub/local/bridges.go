package local

import (
	"sync"

	"github.com/parley-hub/parley"
)

// BridgeStates are the states that running bridges report, by the ids of the bridges.
type BridgeStates struct {
	Mu      sync.Mutex
	of      map[string]parley.BridgeStatus
	claimed map[string]parley.Tier // the tier that an agent without one last claimed, by bridge and agent
	Changed chan struct{}
	noted   chan struct{} // closed and replaced when a bridge reports a state
	Run     bool          // whether this process runs bridges
}

// NewBridgeStates returns an empty set of states.
func NewBridgeStates() *BridgeStates {
	return &BridgeStates{
		of: map[string]parley.BridgeStatus{}, claimed: map[string]parley.Tier{}, Changed: make(chan struct{}, 1), noted: make(chan struct{}),
	}
}

// Note stores the state that a bridge reports.
func (b *BridgeStates) Note(id string, s parley.BridgeStatus) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.of[id] = s
	b.wake()
}

// wake wakes everything that waits for a state. The caller holds b.Mu.
func (b *BridgeStates) wake() {
	close(b.noted)
	b.noted = make(chan struct{})
}

// Next returns a channel that is closed when a bridge next reports a state, and whether this process runs bridges.
func (b *BridgeStates) Next() (<-chan struct{}, bool) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return b.noted, b.Run
}

// NoteClaim notes the tier that an agent claims in the documents of a bridge, and reports whether the claim is new.
func (b *BridgeStates) NoteClaim(id, agent string, tier parley.Tier) (news bool) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	key := id + "/" + agent
	news = b.claimed[key] != tier
	b.claimed[key] = tier
	return news
}

// Look returns the last reported state of a bridge, or the zero value.
func (b *BridgeStates) Look(id string) parley.BridgeStatus {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return b.of[id]
}

// Forget removes the state of a bridge.
func (b *BridgeStates) Forget(id string) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	delete(b.of, id)
	b.wake()
}
