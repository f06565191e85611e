package store

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

type queue struct{ deliveries }

func (s queue) Now() (parley.Tick, error) {
	if s.broken != nil {
		return 0, s.broken
	}
	now, err := s.clock(s.conn)
	return parley.Tick(now), s.note(err)
}

func (s queue) Ready(q storage.QueueFilter) ([]parley.Delivery, error) {
	to, err := s.agentNamed(q.Recipient)
	if err != nil {
		return nil, err
	}
	sql := unleased(to.num, q)
	switch {
	case q.Plain:
		sql.add("AND d.purpose = ''")
	case q.Purpose == parley.PurposeAsk:
		sql.add("AND d.purpose = 'ask' AND d.rank = ?", askRank) // the index contains the rank, but not the purpose
	case q.Purpose != "":
		sql.add("AND d.purpose = ?", string(q.Purpose))
	}
	if q.After > 0 {
		sql.add("AND d.place > ?", q.After)
	}
	if q.From != "" {
		from, err := s.agentNamed(q.From)
		if err != nil {
			return nil, err
		}
		sql.add("AND m.sender + 0 = ?", from.num) // without the index by senders, because the recipient's queue is shorter
	}
	if err := s.filterConversations(sql, q); err != nil {
		return nil, err
	}
	order := "ORDER BY d.place"
	if q.Urgent && q.Wakes {
		order = "ORDER BY d.rank DESC, d.place"
	}
	sql.add(order+" LIMIT 0 + ?", q.Limit)
	return s.find(sql.text.String(), s.locks.Skip, sql.args...)
}

// unleased selects the deliveries of a recipient that no consumer has leased.
func unleased(recipient int64, q storage.QueueFilter) *query {
	sql := &query{}
	sql.add("d.agent = ? AND d.state = 'accepted'", recipient)
	if q.Paused {
		sql.add("AND d.timer IS NOT NULL")
	} else {
		sql.add("AND d.timer IS NULL")
	}
	if q.Wakes {
		sql.add("AND d.waking = 1")
	} else {
		sql.add("AND d.waking = 0")
	}
	return sql
}

func (s queue) Senders(q storage.QueueFilter) (list []storage.SenderCount, err error) {
	to, err := s.agentNamed(q.Recipient)
	if err != nil {
		return nil, err
	}
	sql := unleased(to.num, q)
	var senders []int64
	err = s.each(`SELECT m.sender, count(*), min(m.seq) FROM deliveries d JOIN messages m ON m.seq = d.message
		JOIN conversations c ON c.num = m.conv WHERE `+notDeleted+" AND d.purpose = '' AND "+sql.text.String()+"GROUP BY m.sender", sql.args,
		func(r Rows) error {
			var (
				sender int64
				one    storage.SenderCount
			)
			err := r.Scan(&sender, &one.Count, &one.Oldest)
			senders, list = append(senders, sender), append(list, one)
			return err
		})
	for i, num := range senders {
		if err == nil {
			list[i].Sender, err = s.agentID(num)
			err = ignoreMissing(err)
		}
	}
	// The sender of a damaged message is unknown.
	return slices.DeleteFunc(list, func(one storage.SenderCount) bool { return one.Sender == "" }), err
}

// filterConversations restricts a query to conversations. The sum keeps PostgreSQL from reading all messages of a conversation
// first: the recipient's queue is shorter.
func (s queue) filterConversations(sql *query, q storage.QueueFilter) error {
	if q.In != "" {
		conv, err := s.conversationKey(q.In)
		if err != nil {
			return err
		}
		sql.add("AND m.conv + 0 = ?", conv.num)
	}
	for _, id := range uuids(q.NotIn) {
		sql.add("AND c.id <> ?", id)
	}
	return nil
}

func (s queue) LeasedOrPaused(recipient string, after int64, limit int) ([]parley.Delivery, error) {
	to, err := s.agentNamed(recipient)
	if err != nil {
		return nil, err
	}
	return s.find("d.agent = $1 AND (d.timer IS NOT NULL OR d.state = 'delivered') AND d.place > $2 ORDER BY d.place LIMIT 0 + $3",
		s.locks.Skip, to.num, after, limit)
}

func (s queue) Leased(lease string) ([]parley.Delivery, error) {
	key, err := leaseKey(lease)
	if err != nil {
		return nil, err
	}
	return s.find("d.lease = $1 ORDER BY d.message", s.locks.Wait, key)
}

func (s queue) Lapsed(now parley.Tick, limit int) ([]parley.Delivery, error) {
	return s.find("d.timer <= $1 ORDER BY d.timer LIMIT 0 + $2", s.locks.Skip, int64(now), limit)
}

func (s queue) LeasedByNode(node string) (list []parley.Delivery, err error) {
	list, err = s.find("d.lease IS NOT NULL AND d.node = $1", s.locks.Wait, node)
	slices.SortFunc(list, bySeq)
	return list, err
}

func (s queue) LeaseHolders() (map[string]bool, error) {
	nums := map[int64]bool{}
	// Each lease has a timer. The range and the inner query keep PostgreSQL from reading all deliveries and messages: there are few leases.
	err := s.each(`SELECT d.agent FROM deliveries d
		WHERE d.timer BETWEEN 1 AND 9223372036854775807 AND d.lease IS NOT NULL AND d.state <> 'accepted' AND (SELECT m.seq
		FROM messages m JOIN conversations c ON c.num = m.conv WHERE m.seq = d.message AND `+notDeleted+" LIMIT 1) IS NOT NULL", nil, func(r Rows) error {
		var num int64
		err := r.Scan(&num)
		nums[num] = true
		return err
	})
	holders := map[string]bool{}
	for num := range nums {
		if err != nil {
			break
		}
		var id string
		if id, err = s.agentID(num); err == nil {
			holders[id] = true
		}
		err = ignoreMissing(err) // a damaged row has no recipient
	}
	return holders, err
}

func bySeq(a, b parley.Delivery) int { return cmp.Compare(a.Seq, b.Seq) }

func (s queue) Due(now time.Time, limit int) ([]parley.Delivery, error) {
	return s.find("d.next_at <= $1 ORDER BY d.next_at LIMIT 0 + $2", s.locks.Skip, millis(now), limit)
}

func (s queue) Dead(after int64, limit int) ([]parley.Delivery, error) {
	return s.find(`d.state = 'dead' AND d.message > $1 AND d.message <= (SELECT max(page.message) FROM
		(SELECT message FROM deliveries WHERE state = 'dead' AND message > $1 ORDER BY message LIMIT 0 + $2) AS page)
		ORDER BY d.message, d.agent`, "", after, limit)
}

func (s queue) Heartbeat(sender, recipient string) (parley.Delivery, error) {
	from, err := s.agentNamed(sender)
	if err != nil {
		return parley.Delivery{}, err
	}
	to, err := s.agentNamed(recipient)
	if err != nil {
		return parley.Delivery{}, err
	}
	return onlyDelivery(s.find(`d.agent = $2 AND d.message = (SELECT heartbeat FROM pairs WHERE sender = $1 AND recipient = $2)`,
		s.locks.Wait, from.num, to.num))
}

func (s queue) Inbox(recipient string) (inbox parley.Inbox, err error) {
	to, err := s.agentNamed(recipient)
	if err != nil {
		return inbox, err
	}
	if s.lastInbox.agent == to.num {
		return s.lastInbox.Inbox, nil
	}
	err = s.row("SELECT waking, quiet, work, evicted FROM inboxes WHERE agent = $1", []any{to.num},
		[]any{&inbox.Waking, &inbox.Quiet, &inbox.Work, &inbox.Evicted})
	_, err = notFound(err)
	return inbox, err
}

func (s queue) Inboxes() (map[string]parley.Inbox, error) {
	inboxes := map[string]parley.Inbox{}
	err := s.each("SELECT a.id, i.waking, i.quiet, i.work, i.evicted FROM inboxes i JOIN agents a ON a.num = i.agent", nil,
		func(r Rows) error {
			var (
				id    string
				inbox parley.Inbox
			)
			err := r.Scan(&id, &inbox.Waking, &inbox.Quiet, &inbox.Work, &inbox.Evicted)
			inboxes[id] = inbox
			return err
		})
	return inboxes, err
}

// ready is the condition for a waking delivery that no consumer has leased.
const ready = "d.state = 'accepted' AND d.timer IS NULL AND d.waking = 1"

// readyAgents steps through the index from one recipient to the next. The index contains only deliveries that no consumer has
// leased.
const (
	readyAfter  = "SELECT (SELECT d.agent FROM deliveries d WHERE " + ready + " AND d.agent > "
	firstReady  = " ORDER BY d.agent, d.rank DESC, d.place LIMIT 1)"
	readyAgents = "WITH RECURSIVE w (agent) AS (" + readyAfter + "0" + firstReady + `
			UNION ALL ` + readyAfter + "w.agent" + firstReady + ` FROM w WHERE w.agent IS NOT NULL)
		SELECT w.agent FROM w WHERE (SELECT d.message FROM deliveries d JOIN messages m ON m.seq = d.message
			JOIN conversations c ON c.num = m.conv
			WHERE d.agent = w.agent AND ` + notDeleted + " AND " + ready + " ORDER BY d.rank DESC, d.place LIMIT 1) IS NOT NULL"
)

func (s queue) AgentsToWake(limit int) (ids []string, err error) {
	var nums []int64
	err = s.each(readyAgents, nil, func(r Rows) error {
		var num int64
		err := r.Scan(&num)
		nums = append(nums, num)
		return err
	})
	for _, num := range nums {
		if err != nil || len(ids) == limit {
			break
		}
		var row *agentRow
		row, err = s.agentNumbered(num)
		if errors.Is(err, parley.ErrNotFound) { // a damaged row has no recipient, and must not keep other agents from being woken
			err = nil
			continue
		}
		if err == nil && row.agent.Kind == parley.KindAgent && row.agent.RemovedAt == nil {
			ids = append(ids, row.agent.ID)
		}
	}
	return ids, err
}

func (s queue) CountAsks(recipient string) (n int, err error) {
	to, err := s.agentNamed(recipient)
	if err != nil {
		return 0, err
	}
	err = s.row(`SELECT count(*) FROM deliveries d JOIN messages m ON m.seq = d.message JOIN conversations c ON c.num = m.conv
		WHERE d.agent = $1 AND d.purpose = 'ask' AND `+openDelivery+" AND "+notDeleted, []any{to.num}, []any{&n})
	return n, err
}

func (s queue) OfTask(recipient, task string, limit int) (list []parley.Delivery, err error) {
	to, err := s.agentNamed(recipient)
	if err != nil {
		return nil, err
	}
	for _, part := range []string{ // each part has an index of its own
		"d.state = 'accepted' AND d.timer IS NULL", "(d.timer IS NOT NULL OR d.state = 'delivered')",
	} {
		found, err := s.find("d.agent = $1 AND d.waking = 1 AND "+part+" AND m.task = $2 ORDER BY d.place LIMIT 0 + $3",
			s.locks.Wait, to.num, task, limit-len(list))
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	slices.SortFunc(list, bySeq)
	return list, nil
}

func (s queue) Orphaned() (ids []string, err error) {
	// The order is the order of the index. Without it, PostgreSQL would scan all deliveries if most of them are for one agent.
	const first = `(SELECT d.message FROM deliveries d JOIN messages m ON m.seq = d.message
		JOIN conversations c ON c.num = m.conv WHERE d.agent = a.num AND ` + notDeleted + ` AND `
	err = s.each("SELECT a.id FROM agents a WHERE a.removed_at IS NOT NULL AND ("+
		first+"d.state = 'accepted' AND d.timer IS NULL AND d.waking IN (0, 1) ORDER BY d.waking, d.place LIMIT 1) IS NOT NULL OR "+
		first+"(d.timer IS NOT NULL OR d.state = 'delivered') ORDER BY d.place LIMIT 1) IS NOT NULL)",
		nil, func(r Rows) error {
			var id string
			err := r.Scan(&id)
			ids = append(ids, id)
			return err
		})
	return ids, err
}

// needsAction is the condition for a delivery whose recipient must act on it: see parley.Delivery.NeedsAction.
const needsAction = "(d.purpose IN ('ask', 'task', 'approval') OR m.deadline IS NOT NULL)"

// inboxParts are the parts of an inbox. Each has an index of its own.
var inboxParts = []string{
	"d.state = 'accepted' AND d.timer IS NULL AND d.waking = 1",
	"d.state = 'accepted' AND d.timer IS NULL AND d.waking = 0",
	"(d.timer IS NOT NULL OR d.state = 'delivered')",
	"d.state = 'seen' AND d.lease IS NULL AND d.waking = 1 AND " + needsAction,
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
			sql.add("AND d.waking = 1 AND " + needsAction)
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
