package local

import (
	"sync"

	"github.com/parley-hub/parley"
)

// BridgeStates is what running bridges say of themselves, by their ids, and whether there are others now.
type BridgeStates struct {
	Mu      sync.Mutex
	of      map[string]parley.BridgeStatus
	claimed map[string]parley.Tier // what agents without a tier have last called themselves, by bridge and agent
	Changed chan struct{}
	noted   chan struct{} // closed when one says something of itself, and then replaced
	Run     bool          // this process runs bridges
}

func NewBridgeStates() *BridgeStates {
	return &BridgeStates{
		of: map[string]parley.BridgeStatus{}, claimed: map[string]parley.Tier{}, Changed: make(chan struct{}, 1), noted: make(chan struct{}),
	}
}

func (b *BridgeStates) Note(id string, s parley.BridgeStatus) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	b.of[id] = s
	b.wake()
}

// wake has those look again who wait for bridges.
func (b *BridgeStates) wake() {
	close(b.noted)
	b.noted = make(chan struct{})
}

// Next is closed when a bridge next says something of itself. The second result says whether this process runs bridges.
func (b *BridgeStates) Next() (<-chan struct{}, bool) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return b.noted, b.Run
}

// Claims notes the tier that somebody gives itself in the documents of a bridge, and says whether that is news.
func (b *BridgeStates) Claims(id, agent string, tier parley.Tier) (news bool) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	key := id + "/" + agent
	news = b.claimed[key] != tier
	b.claimed[key] = tier
	return news
}

func (b *BridgeStates) Look(id string) parley.BridgeStatus {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	return b.of[id]
}

func (b *BridgeStates) Forget(id string) {
	b.Mu.Lock()
	defer b.Mu.Unlock()
	delete(b.of, id)
	b.wake()
}
