package storetest

import (
	"cmp"
	"slices"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// allDeliveries returns the deliveries of all messages, by seq.
func (m *model) allDeliveries() (all []parley.Delivery) {
	for _, msg := range m.messages {
		all = append(all, m.deliveries[msg.ID]...)
	}
	return all
}

// someDelivery returns a delivery that a step selects, or one that does not exist if there are too few.
func (m *model) someDelivery(h *history, s step) parley.Delivery {
	all := m.allDeliveries()
	if n := 2*s.A + s.B; n < len(all) {
		return all[n]
	}
	return parley.Delivery{Message: newID(), Seq: m.seq + 1<<30, Recipient: h.id(s.B), State: parley.DeliveryAccepted}
}

func (m *model) put(before, after parley.Delivery) error {
	list := m.deliveries[before.Message]
	i := slices.IndexFunc(list, func(d parley.Delivery) bool { return d.Recipient == before.Recipient })
	if i < 0 || list[i].State != before.State || list[i].Attempt != before.Attempt || list[i].Lease != before.Lease {
		return parley.ErrNotFound
	}
	if after.State == parley.DeliveryEvicted && before.State != parley.DeliveryEvicted && after.Failure != nil {
		m.evicted[after.Recipient]++
	}
	list[i] = after
	return nil
}

// firstConversations returns the ids of the first two conversations, or of fewer.
func (m *model) firstConversations() (ids []string) {
	for _, c := range m.conversations[:min(2, len(m.conversations))] {
		ids = append(ids, c.ID)
	}
	return ids
}

// ready is what waits to be taken, by the words of parley.Queue.
func (m *model) ready(q storage.QueueFilter) (list []parley.Delivery) {
	for _, d := range m.allDeliveries() {
		if d.Recipient == q.Recipient && d.Ready() && d.Waking == q.Wakes &&
			(q.Purpose == "" || d.Purpose == q.Purpose) && (!q.Plain || d.Purpose == "") &&
			!slices.Contains(q.NotIn, d.Conversation) {
			list = append(list, d)
		}
	}
	if q.Urgent {
		ask := func(d parley.Delivery) int {
			if d.Purpose == parley.PurposeAsk {
				return 0
			}
			return 1
		}
		slices.SortStableFunc(list, func(a, b parley.Delivery) int {
			return cmp.Or(ask(a)-ask(b), b.Priority.Level()*ask(b)-a.Priority.Level()*ask(a))
		})
	}
	return list[:min(q.Limit, len(list))]
}

// inbox counts the open deliveries of an agent.
func (m *model) inbox(agent string) parley.Inbox {
	inbox := parley.Inbox{Evicted: m.evicted[agent]}
	for _, d := range m.allDeliveries() {
		if d.Recipient == agent {
			count(&inbox, d)
		}
	}
	return inbox
}

func count(inbox *parley.Inbox, d parley.Delivery) {
	switch {
	case !d.Open():
	case d.Purpose != "":
		inbox.Work++
	case d.Waking:
		inbox.Waking++
	default:
		inbox.Quiet++
	}
}

// deleteDeliveries remembers the counts of open deliveries, because they count until their rows are erased.
func (m *model) deleteDeliveries(message string) {
	for _, d := range m.deliveries[message] {
		inbox := m.deletedInboxes[d.Recipient]
		count(&inbox, d)
		m.deletedInboxes[d.Recipient] = inbox
	}
	delete(m.deliveries, message)
}
