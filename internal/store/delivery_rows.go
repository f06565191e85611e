package store

import (
	"database/sql"
	"encoding/json"
	"fmt"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

// What marks hold.
const (
	markOverdue = 1
	markLate    = 2
)

const deliveryColumns = `d.message, m.id, c.id, m.sender, d.agent, d.state, d.waking, d.purpose, m.priority, m.word,
	d.pair_seq, d.attempt, d.accepted_at, d.delivered_at, d.seen_at, d.settled_at, d.answered_at, m.expires_at, m.deadline,
	d.run, d.answer, d.failure, d.marks, d.lease, d.timer, d.node`

// find reads deliveries of conversations that are there. lock keeps their rows until the end of the
// update.
func (s deliveries) find(where, lock string, args ...any) ([]parley.Delivery, error) {
	var (
		list []parley.Delivery
		rows []deliveryRow
	)
	if !s.writable {
		lock = ""
	}
	err := s.each("SELECT "+deliveryColumns+` FROM deliveries d JOIN messages m ON m.seq = d.message
		JOIN conversations c ON c.num = m.conv WHERE `+alive+` AND `+where+lock, args, func(r Rows) error {
		var row deliveryRow
		d, err := row.scan(r)
		if err == nil {
			err = s.spend(nil)
		}
		list, rows = append(list, d), append(rows, row)
		return err
	})
	for i := range list {
		if err == nil {
			list[i].From, err = s.agentID(rows[i].sender)
		}
		if err == nil {
			list[i].Recipient, err = s.agentID(rows[i].recipient)
		}
	}
	if err != nil {
		return nil, err
	}
	return list, nil
}

// deliveryRow is a row of deliveries as it is read.
type deliveryRow struct {
	sender, recipient                    int64
	accepted                             int64
	message, conversation, answer, lease []byte
	state, purpose                       string
	waking, level, marks                 int
	word, run, failure, node             sql.NullString
	delivered, seen, settled, answered   sql.NullInt64
	expires, deadline, timer             sql.NullInt64
}

func (row *deliveryRow) scan(r Rows) (d parley.Delivery, err error) {
	err = r.Scan(&d.Seq, &row.message, &row.conversation, &row.sender, &row.recipient, &row.state, &row.waking, &row.purpose,
		&row.level, &row.word, &d.PairSeq, &d.Attempt, &row.accepted, &row.delivered, &row.seen, &row.settled, &row.answered,
		&row.expires, &row.deadline, &row.run, &row.answer, &row.failure, &row.marks, &row.lease, &row.timer, &row.node)
	if err != nil {
		return d, err
	}
	for field, raw := range map[*string][]byte{
		&d.Message: row.message, &d.Conversation: row.conversation, &d.Answer: row.answer, &d.Lease: row.lease,
	} {
		if *field, err = uuidText(raw); err != nil {
			return d, err
		}
	}
	if row.failure.Valid {
		if err := json.Unmarshal([]byte(row.failure.String), &d.Failure); err != nil {
			return d, fmt.Errorf("the failure of a delivery of message %s: %w", d.Message, err)
		}
	}
	d.Node = row.node.String
	d.State, d.Waking, d.Purpose, d.Run = parley.DeliveryState(row.state), row.waking != 0, parley.Purpose(row.purpose), row.run.String
	d.AcceptedAt, d.DeliveredAt, d.SeenAt = fromMillis(row.accepted), timeOrNil(row.delivered), timeOrNil(row.seen)
	d.SettledAt, d.AnsweredAt = timeOrNil(row.settled), timeOrNil(row.answered)
	d.ExpiresAt, d.Deadline = timeOrNil(row.expires), timeOrNil(row.deadline)
	d.Overdue, d.Late, d.Until = row.marks&markOverdue != 0, row.marks&markLate != 0, parley.Tick(row.timer.Int64)
	d.Priority, err = priority(row.level, row.word.String)
	return d, err
}

// encodeChange is everything about a delivery that changes.
func encodeChange(d parley.Delivery) ([]any, error) {
	answer, err := uuidOrNull(d.Answer)
	if err != nil {
		return nil, err
	}
	lease, err := uuidOrNull(d.Lease)
	if err != nil {
		return nil, err
	}
	var failure []byte
	if d.Failure != nil {
		if failure, err = json.Marshal(d.Failure); err != nil {
			return nil, err
		}
	}
	return []any{
		string(d.State), d.Attempt, millisOrNull(d.DeliveredAt), millisOrNull(d.SeenAt), millisOrNull(d.SettledAt),
		millisOrNull(d.AnsweredAt), textOrNull(d.Run), answer, textOrNull(string(failure)),
		flag(d.Overdue)*markOverdue + flag(d.Late)*markLate, lease,
		sql.NullInt64{Int64: int64(d.Until), Valid: d.Until != 0},
		millisOrNull(d.Next()), textOrNull(d.Node),
	}, nil
}

func leaseKey(lease string) ([]byte, error) {
	id, err := uuid.Parse(lease)
	if err != nil {
		return nil, parley.ErrNotFound
	}
	return id[:], nil
}
