package contact

import (
	"slices"

	"github.com/parley-hub/parley"
)

// Awaited are those deliveries of a message that have not come as far as a rung: of those that wake, or of all if
// none does.
func Awaited(list []parley.Delivery, rung parley.DeliveryState) (short []parley.Delivery) {
	wakes := slices.ContainsFunc(list, func(d parley.Delivery) bool { return d.Waking })
	for _, d := range list {
		if d.Waking == wakes && !d.Reached(rung) {
			short = append(short, d)
		}
	}
	return short
}
