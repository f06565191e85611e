package store

import (
	"slices"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// wanted is the condition for a delivery whose recipient must act on it: see parley.Delivery.NeedsAction.
const wanted = "(d.purpose IN ('ask', 'task', 'approval') OR m.deadline IS NOT NULL)"

// inboxParts are the parts of an inbox. Each has an index of its own.
var inboxParts = []string{
	"d.state = 'accepted' AND d.timer IS NULL AND d.waking = 1",
	"d.state = 'accepted' AND d.timer IS NULL AND d.waking = 0",
	"(d.timer IS NOT NULL OR d.state = 'delivered')",
	"d.state = 'seen' AND d.lease IS NULL AND d.waking = 1 AND " + wanted,
}

func (s queue) Newest(p storage.InboxPage) (list []parley.Delivery, err error) {
	to, err := s.agentNamed(p.Recipient)
	if err != nil {
		return nil, err
	}
	for _, part := range inboxParts {
		sql := &query{}
		sql.add("d.agent = ?", to.num)
		sql.add("AND " + part)
		if p.Before > 0 {
			sql.add("AND d.place < ?", p.Before)
		}
		if p.Wanted {
			sql.add("AND d.waking = 1 AND " + wanted)
		}
		sql.add("ORDER BY d.place DESC LIMIT 0 + ?", p.Limit)
		found, err := s.find(sql.text.String(), s.locks.Wait, sql.args...)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	slices.SortFunc(list, func(a, b parley.Delivery) int { return bySeq(b, a) })
	return list[:min(len(list), p.Limit)], nil
}
