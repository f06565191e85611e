package store

import (
	"database/sql"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/crc32"
	"slices"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

// The bits of the column marks.
const (
	markOverdue = 1
	markLate    = 2
)

const deliveryColumns = `d.message, d.agent, d.state, m.id, c.id, m.sender, d.waking, d.purpose, m.priority, m.word,
	d.pair_seq, d.attempt, d.accepted_at, d.delivered_at, d.seen_at, d.settled_at, d.answered_at, m.expires_at, m.deadline,
	d.run, d.answer, d.failure, d.marks, d.lease, d.timer, d.node, d.rank, d.place, d.sum`

// find reads deliveries in conversations that are not deleted. The clause lock locks their rows until the end of the update. A
// damaged row is returned with its Damage. If its recipient or state cannot be read, find notes the damage and leaves the row
// out.
func (s deliveries) find(where, lock string, args ...any) ([]parley.Delivery, error) {
	var (
		list []parley.Delivery
		rows []deliveryRow
	)
	if !s.writable {
		lock = ""
	}
	err := s.each("SELECT "+deliveryColumns+` FROM deliveries d JOIN messages m ON m.seq = d.message
		JOIN conversations c ON c.num = m.conv WHERE `+notDeleted+` AND `+where+lock, args, func(r Rows) error {
		var row deliveryRow
		d, err := row.scan(r)
		if err != nil {
			d.Damage = rowDamage(d.Seq, idText(row.message), "its row cannot be read")
		}
		list, rows = append(list, d), append(rows, row)
		return s.countBytes(nil)
	})
	for i := range list {
		if err == nil {
			err = s.nameParties(&list[i], rows[i])
		}
	}
	if err != nil {
		return nil, err
	}
	return slices.DeleteFunc(list, s.unusable), nil
}

// nameParties sets the sender and the recipient of a delivery. A number that no agent has is damage.
func (s deliveries) nameParties(d *parley.Delivery, row deliveryRow) (err error) {
	if d.From, err = s.agentID(row.sender); errors.Is(err, parley.ErrNotFound) {
		d.From, err = parley.System, nil
		d.Damage = rowDamage(d.Seq, d.Message, "its message has no known sender")
	}
	if err != nil {
		return err
	}
	d.Recipient, err = s.agentID(row.recipient)
	return ignoreMissing(err)
}

// unusable reports whether a row is too damaged to have a recipient, and notes the damage.
func (s deliveries) unusable(d parley.Delivery) bool {
	bad := d.Recipient == "" || !d.State.Known()
	if bad && d.Damage == nil {
		d.Damage = rowDamage(d.Seq, d.Message, "its recipient or its state is unknown")
	}
	if d.Damage != nil {
		s.damages.add(*d.Damage)
	}
	return bad
}

func rowDamage(seq int64, message, why string) *parley.Damage {
	return &parley.Damage{What: "a delivery of message", Seq: seq, ID: message, Why: why}
}

func ignoreMissing(err error) error {
	if errors.Is(err, parley.ErrNotFound) {
		return nil
	}
	return err
}

// deliveryRow is a row of deliveries as it is read.
type deliveryRow struct {
	sender, recipient, place             int64
	accepted                             int64
	message, conversation, answer, lease []byte
	state, purpose                       string
	waking, level, marks, rank           int
	word, run, failure, node             sql.NullString
	delivered, seen, settled, answered   sql.NullInt64
	expires, deadline, timer, sum        sql.NullInt64
}

// scan reads a row as far as it can be read.
func (row *deliveryRow) scan(r Rows) (d parley.Delivery, err error) {
	err = r.Scan(&d.Seq, &row.recipient, &row.state, &row.message, &row.conversation, &row.sender, &row.waking, &row.purpose,
		&row.level, &row.word, &d.PairSeq, &d.Attempt, &row.accepted, &row.delivered, &row.seen, &row.settled, &row.answered,
		&row.expires, &row.deadline, &row.run, &row.answer, &row.failure, &row.marks, &row.lease, &row.timer, &row.node,
		&row.rank, &row.place, &row.sum)
	d.Node = row.node.String
	d.State, d.Waking, d.Purpose, d.Run = parley.DeliveryState(row.state), row.waking != 0, parley.Purpose(row.purpose), row.run.String
	d.AcceptedAt, d.DeliveredAt, d.SeenAt = fromMillis(row.accepted), timeOrNil(row.delivered), timeOrNil(row.seen)
	d.SettledAt, d.AnsweredAt = timeOrNil(row.settled), timeOrNil(row.answered)
	d.ExpiresAt, d.Deadline = timeOrNil(row.expires), timeOrNil(row.deadline)
	d.Overdue, d.Late, d.Until = row.marks&markOverdue != 0, row.marks&markLate != 0, parley.Tick(row.timer.Int64)
	d.Priority = parley.DefaultPriority
	for _, id := range []struct {
		field *string
		raw   []byte
	}{{&d.Message, row.message}, {&d.Conversation, row.conversation}, {&d.Answer, row.answer}, {&d.Lease, row.lease}} {
		text, parseErr := uuidText(id.raw)
		*id.field, err = text, errors.Join(err, parseErr)
	}
	if row.failure.Valid {
		err = errors.Join(err, json.Unmarshal([]byte(row.failure.String), &d.Failure))
	}
	if err != nil {
		return d, err
	}
	if row.sum.Valid && row.sum.Int64 != row.checksum(d) {
		d.Damage = rowDamage(d.Seq, d.Message, parley.WrongChecksum)
	}
	d.Priority, err = priority(row.level, row.word.String)
	return d, err
}

func (row *deliveryRow) checksum(d parley.Delivery) int64 {
	return deliverySum(d.Seq, row.recipient, row.waking, row.purpose, row.rank, row.place, d.PairSeq, row.accepted)
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// deliverySum returns the checksum over the columns of a delivery that never change.
func deliverySum(message, agent int64, waking int, purpose string, rank int, place, pairSeq, accepted int64) int64 {
	var raw [7*8 + 32]byte
	b := raw[:0]
	for _, n := range [...]int64{message, agent, int64(waking), int64(rank), place, pairSeq, accepted} {
		b = binary.BigEndian.AppendUint64(b, uint64(n))
	}
	return int64(crc32.Checksum(append(b, purpose...), castagnoli))
}

// encodeChange returns the columns of a delivery that may change.
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
