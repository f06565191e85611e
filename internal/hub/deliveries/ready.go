package deliveries

import (
	"cmp"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// Ready returns the deliveries that the caller may take now. A sleeping agent gets only asks. A paused or stopped agent gets
// only deliveries that do not wake it.
func Ready(u *unit.Unit, t parley.Take, turn int) ([]parley.Delivery, error) {
	q := storage.QueueFilter{Recipient: u.Me.ID, Wakes: true, Urgent: t.Urgent, Limit: t.Limit}
	asleep := u.Me.Asleep(u.Now)
	if len(t.Only) > 0 {
		return readyOf(u, t.Only, asleep)
	}
	if u.Me.Halted(u.Now) {
		if q.Wakes, q.Urgent = false, false; t.Waking {
			return nil, nil
		}
		return u.Queue().Ready(q)
	}
	if asleep {
		q.Urgent, q.Purpose = true, parley.PurposeAsk
		return u.Queue().Ready(q)
	}
	list, err := u.Queue().Ready(q)
	if err != nil {
		return nil, err
	}
	if t.Urgent {
		return WithOldest(u, list, q, turn)
	}
	if t.Waking {
		return list, nil
	}
	q.Wakes = false
	quiet, err := u.Queue().Ready(q)
	list = append(list, quiet...)
	slices.SortFunc(list, BySeq)
	return list[:min(t.Limit, len(list))], err
}

// BySeq compares two deliveries by the order of their messages.
func BySeq(a, b parley.Delivery) int { return cmp.Compare(a.Seq, b.Seq) }

// readyOf returns the caller's deliveries of some messages that are ready. Messages that were not delivered to the caller
// are left out without an error, which would reveal them.
func readyOf(u *unit.Unit, messages []string, asleep bool) ([]parley.Delivery, error) {
	list, err := u.Deliveries().GetAll(u.Me.ID, messages)
	return slices.DeleteFunc(list, func(d parley.Delivery) bool {
		return !d.Ready() || asleep && d.Purpose != parley.PurposeAsk || d.Waking && u.Me.Halted(u.Now)
	}), err
}

// oldestEvery is how often a caller gets its oldest delivery in place of the most urgent one, so that deliveries without
// urgency get their turn.
const oldestEvery = 8

// WithOldest replaces the least urgent deliveries by the oldest, as often as oldestEvery says.
func WithOldest(u *unit.Unit, urgent []parley.Delivery, q storage.QueueFilter, turn int) ([]parley.Delivery, error) {
	due := (turn%oldestEvery + len(urgent)) / oldestEvery
	if due == 0 || len(urgent) < q.Limit {
		return urgent, nil // the list holds every ready delivery, or none is due
	}
	q.Urgent, q.Limit = false, due
	oldest, err := u.Queue().Ready(q)
	others := slices.DeleteFunc(slices.Clone(oldest), func(d parley.Delivery) bool { return contains(urgent, d) })
	for i := len(urgent) - 1; i >= 0 && len(others) > 0; i-- {
		if !contains(oldest, urgent[i]) {
			urgent[i], others = others[0], others[1:]
		}
	}
	return urgent, err
}

// contains reports whether a list has a delivery.
func contains(list []parley.Delivery, d parley.Delivery) bool {
	return slices.ContainsFunc(list, func(other parley.Delivery) bool { return other.Seq == d.Seq })
}
