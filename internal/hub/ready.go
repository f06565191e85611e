package hub

import (
	"cmp"
	"slices"
	"sync"

	"github.com/parley-hub/parley"
)

// ready is what the caller may take now. Who sleeps is only there for asks, and who is paused or stopped for
// what wakes nobody.
func (s *scene) ready(t parley.Take, turn int) ([]parley.Delivery, error) {
	q := parley.Queue{Recipient: s.me.ID, Wakes: true, Urgent: t.Urgent, Limit: t.Limit}
	asleep := s.me.Asleep(s.now)
	if len(t.Only) > 0 {
		return s.readyOf(t.Only, asleep)
	}
	if s.me.Halted(s.now) {
		if q.Wakes, q.Urgent = false, false; t.Waking {
			return nil, nil
		}
		return s.Queue().Ready(q)
	}
	if asleep {
		q.Urgent, q.Purpose = true, parley.PurposeAsk
		return s.Queue().Ready(q)
	}
	list, err := s.Queue().Ready(q)
	if err != nil {
		return nil, err
	}
	if t.Urgent {
		return s.withOldest(list, q, turn)
	}
	if t.Waking {
		return list, nil
	}
	q.Wakes = false
	quiet, err := s.Queue().Ready(q)
	list = append(list, quiet...)
	slices.SortFunc(list, bySeq)
	return list[:min(t.Limit, len(list))], err
}

func bySeq(a, b parley.Delivery) int { return cmp.Compare(a.Seq, b.Seq) }

// readyOf is those of the caller's deliveries of some messages that are ready. Whether there is a message
// that was not delivered to the caller, it does not learn.
func (s *scene) readyOf(messages []string, asleep bool) ([]parley.Delivery, error) {
	list, err := s.Deliveries().GetAll(s.me.ID, messages)
	return slices.DeleteFunc(list, func(d parley.Delivery) bool {
		return !d.Ready() || asleep && d.Purpose != parley.PurposeAsk || d.Waking && s.me.Halted(s.now)
	}), err
}

// oldestEvery is how often the oldest is taken instead of the most urgent, so that what is not urgent
// has its turn too.
const oldestEvery = 8

// withOldest puts the oldest into the place of the least urgent wherever it is its turn.
func (s *scene) withOldest(urgent []parley.Delivery, q parley.Queue, turn int) ([]parley.Delivery, error) {
	due := (turn%oldestEvery + len(urgent)) / oldestEvery
	if due == 0 || len(urgent) < q.Limit {
		return urgent, nil // nobody is left behind
	}
	q.Urgent, q.Limit = false, due
	oldest, err := s.Queue().Ready(q)
	left := slices.DeleteFunc(slices.Clone(oldest), func(d parley.Delivery) bool { return among(urgent, d) })
	for i := len(urgent) - 1; i >= 0 && len(left) > 0; i-- {
		if !among(oldest, urgent[i]) {
			urgent[i], left = left[0], left[1:]
		}
	}
	return urgent, err
}

func among(list []parley.Delivery, d parley.Delivery) bool {
	return slices.ContainsFunc(list, func(other parley.Delivery) bool { return other.Seq == d.Seq })
}

// turns counts what each agent has taken by priority.
type turns struct {
	mu    sync.Mutex
	taken map[string]int
}

func newTurns() *turns { return &turns{taken: map[string]int{}} }

func (t *turns) at(agent string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.taken[agent]
}

func (t *turns) move(agent string, n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.taken[agent] += n
}
