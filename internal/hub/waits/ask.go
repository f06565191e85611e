package waits

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/storage"
)

// OpenAsks are the asks that somebody has not answered yet.
func OpenAsks(u *unit.Unit, to string) ([]parley.Delivery, error) {
	list, err := u.Queue().Ready(storage.Queue{Recipient: to, Wakes: true, Urgent: true, Purpose: parley.PurposeAsk, Limit: unit.MostAsks})
	if err != nil {
		return nil, err
	}
	held, err := u.Queue().Held(to, 0, unit.MostAsks)
	for _, d := range held {
		if d.Purpose == parley.PurposeAsk {
			list = append(list, d)
		}
	}
	return list, err
}

// IsAsk says whether a message is the request of an ask.
func IsAsk(m parley.Message) bool {
	return m.Source == unit.SourceContact && m.Type == parley.TypeRequest
}
