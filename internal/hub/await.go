package hub

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/parley-hub/parley"
)

// awaitPoll is for what other processes have written.
const awaitPoll = 2 * time.Second

// AwaitRung waits until every delivery of a message that wakes, or every one if none does, has come as far
// as a rung (delivered, seen or answered) or has ended, and shows the message then. When the time is up it
// shows what there is. A run, or a session of an agent, that waits for an answer is blocked by it: E005 if that would
// close a circle.
func (h *Hub) AwaitRung(ctx context.Context, caller Caller, message string, rung parley.DeliveryState, wait time.Duration) (parley.Shown, error) {
	rungs := []parley.DeliveryState{parley.DeliveryDelivered, parley.DeliverySeen, parley.DeliveryAnswered}
	if !slices.Contains(rungs, rung) {
		return parley.Shown{}, parley.Errorf(parley.BadInput, "%q is not a rung to wait for", rung).
			Suggest("wait for delivered, seen or answered")
	}
	if wait < 0 {
		return parley.Shown{}, parley.Errorf(parley.BadInput, "the wait is %s", wait).Suggest("wait 0s or longer")
	}
	if err := h.findID(ctx, caller, opShowMessage, parley.NounMessage, &message); err != nil {
		return parley.Shown{}, err
	}
	shown, err := h.Message(ctx, caller, message)
	if err != nil || wait == 0 || allReached(shown.Deliveries, rung) {
		return shown, err
	}
	if rung == parley.DeliveryAnswered {
		release, err := h.blocked(ctx, caller, opShowMessage, wait, func(s *scene) ([]parley.Wait, error) { return s.answersTo(shown.ID) })
		if err != nil {
			return shown, err
		}
		defer release()
	}
	err = h.await(ctx, shown.ID, wait, func() (bool, error) {
		var err error
		shown, err = h.Message(ctx, caller, message)
		return err == nil && allReached(shown.Deliveries, rung), err
	})
	switch {
	case errors.Is(err, errWaited):
		return shown, nil
	case err != nil && errors.Is(err, ctx.Err()):
		return shown, h.explain(ctx, caller, err)
	default:
		return shown, err
	}
}

func allReached(list []parley.Delivery, rung parley.DeliveryState) bool {
	return len(awaited(list, rung)) == 0
}

// awaited are those deliveries of a message that have not come as far as a rung: of those that wake, or of all if
// none does.
func awaited(list []parley.Delivery, rung parley.DeliveryState) (short []parley.Delivery) {
	wakes := slices.ContainsFunc(list, func(d parley.Delivery) bool { return d.Waking })
	for _, d := range list {
		if d.Waking == wakes && !d.Reached(rung) {
			short = append(short, d)
		}
	}
	return short
}

// watches tell those who wait for a message that one of its deliveries has moved, those who wait for a task that it has, and
// those who take what is for an agent, or is posted in a conversation, into a tree that there is something.
type watches struct {
	mu sync.Mutex
	on map[string]map[chan struct{}]bool // by what is waited for; each channel has room for one sign
}

func newWatches() *watches { return &watches{on: map[string]map[chan struct{}]bool{}} }

func (w *watches) join(about ...string) (moved <-chan struct{}, leave func()) {
	w.mu.Lock()
	defer w.mu.Unlock()
	sign := make(chan struct{}, 1)
	for _, one := range about {
		if w.on[one] == nil {
			w.on[one] = map[chan struct{}]bool{}
		}
		w.on[one][sign] = true
	}
	return sign, func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		for _, one := range about {
			if delete(w.on[one], sign); len(w.on[one]) == 0 {
				delete(w.on, one)
			}
		}
	}
}

// tellAll has everybody look who waits for anything.
func (w *watches) tellAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, waiting := range w.on {
		for sign := range waiting {
			signal(sign)
		}
	}
}

func (w *watches) tell(about []string) {
	if len(about) == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, one := range about {
		for sign := range w.on[one] {
			signal(sign)
		}
	}
}
