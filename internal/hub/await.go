package hub

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/parley-hub/parley"
)

// awaitPoll is for what other processes have written.
const awaitPoll = 2 * time.Second

// AwaitRung waits until every delivery of a message that wakes, or every one if none does, has come as far
// as a rung (delivered, seen or answered) or has ended, and shows the message then. When the time is up it
// shows what there is.
func (h *Hub) AwaitRung(ctx context.Context, caller Caller, message string, rung parley.DeliveryState, wait time.Duration) (parley.Shown, error) {
	rungs := []parley.DeliveryState{parley.DeliveryDelivered, parley.DeliverySeen, parley.DeliveryAnswered}
	if !slices.Contains(rungs, rung) {
		return parley.Shown{}, parley.Errorf(parley.BadInput, "%q is not a rung to wait for", rung).
			Suggest("wait for delivered, seen or answered")
	}
	if wait < 0 {
		return parley.Shown{}, parley.Errorf(parley.BadInput, "the wait is %s", wait).Suggest("wait 0s or longer")
	}
	shown, err := h.Message(ctx, caller, message)
	if err != nil || wait == 0 || allReached(shown.Deliveries, rung) {
		return shown, err
	}
	moved, leave := h.watches.join(shown.ID)
	defer leave()
	poll, end := time.NewTicker(awaitPoll), time.NewTimer(wait)
	defer poll.Stop()
	defer end.Stop()
	for {
		// Looked at again after joining, so that nothing falls between.
		shown, err = h.Message(ctx, caller, message)
		if err != nil || allReached(shown.Deliveries, rung) {
			return shown, err
		}
		select {
		case <-moved:
		case <-poll.C:
		case <-end.C:
			return shown, nil
		case <-ctx.Done():
			return shown, h.explain(ctx, caller, ctx.Err())
		}
	}
}

func allReached(list []parley.Delivery, rung parley.DeliveryState) bool {
	wakes := slices.ContainsFunc(list, func(d parley.Delivery) bool { return d.Waking })
	return !slices.ContainsFunc(list, func(d parley.Delivery) bool {
		return d.Waking == wakes && !d.Reached(rung)
	})
}

// watches tell those who wait for a message that one of its deliveries has moved.
type watches struct {
	mu sync.Mutex
	on map[string]map[chan struct{}]bool // by message; each channel has room for one sign
}

func newWatches() *watches { return &watches{on: map[string]map[chan struct{}]bool{}} }

func (w *watches) join(message string) (moved <-chan struct{}, leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	sign := make(chan struct{}, 1)
	if w.on[message] == nil {
		w.on[message] = map[chan struct{}]bool{}
	}
	w.on[message][sign] = true
	return sign, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		if delete(w.on[message], sign); len(w.on[message]) == 0 {
			delete(w.on, message)
		}
	}
}

func (w *watches) tell(messages []string) {
	if len(messages) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, message := range messages {
		for sign := range w.on[message] {
			signal(sign)
		}
	}
}
