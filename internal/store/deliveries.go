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

type deliveries struct{ *tx }

func (s deliveries) Insert(m parley.Message, to []parley.NewDelivery) ([]parley.Delivery, error) {
	if !s.writable {
		return nil, errReadOnly
	}
	from, err := s.agentNamed(m.From)
	if err != nil {
		return nil, err
	}
	recipients, err := s.recipients(m, to)
	if err != nil {
		return nil, err
	}
	made := make([]parley.Delivery, 0, len(to))
	for i, recipient := range recipients {
		d := parley.Delivery{
			Message: m.ID, Seq: m.Seq, Conversation: m.Conversation, From: from.agent.ID, Recipient: recipient.agent.ID,
			State: parley.DeliveryAccepted, Waking: to[i].Wakes, Purpose: to[i].Purpose, Priority: m.Priority,
			AcceptedAt: m.CreatedAt, ExpiresAt: m.ExpiresAt, Deadline: m.Deadline,
		}
		if d.PairSeq, err = s.nextPairSeq(from.num, recipient.num, m, to[i].Sequence); err != nil {
			return nil, err
		}
		if err := s.insert(d, recipient.num); err != nil {
			return nil, err
		}
		if err := s.addToInbox(recipient.num, d); err != nil {
			return nil, err
		}
		made = append(made, d)
	}
	return made, nil
}

// nextPairSeq draws the next pair_seq from a sender to a recipient, or stores the sender's own sequence number.
func (s deliveries) nextPairSeq(from, to int64, m parley.Message, sequence int64) (n int64, err error) {
	if sequence > 0 {
		n, err = sequence, s.storePairSeq(from, to, sequence)
	} else {
		err = s.row(`INSERT INTO pairs (sender, recipient, count) VALUES ($1, $2, 1)
			ON CONFLICT (sender, recipient) DO UPDATE SET count = pairs.count + 1 RETURNING count`,
			[]any{from, to}, []any{&n})
	}
	if err == nil && m.Type == parley.TypeHeartbeat {
		err = s.write("UPDATE pairs SET heartbeat = $3 WHERE sender = $1 AND recipient = $2", from, to, m.Seq)
	}
	return n, err
}

func (s deliveries) storePairSeq(from, to, n int64) error {
	return s.write(`INSERT INTO pairs (sender, recipient, count) VALUES ($1, $2, $3)
		ON CONFLICT (sender, recipient) DO UPDATE SET count = excluded.count`, from, to, n)
}

func (s deliveries) insert(d parley.Delivery, recipient int64) error {
	rank := d.Priority.Level()
	if d.Purpose == parley.PurposeAsk {
		rank = askRank
	}
	return s.write(`INSERT INTO deliveries (message, agent, state, waking, purpose, rank, place, pair_seq, attempt, accepted_at, marks, next_at, sum)
		VALUES ($1, $2, $3, $4, $5, $6, $1, $7, 0, $8, 0, $9, $10)`,
		d.Seq, recipient, string(d.State), flag(d.Waking), string(d.Purpose), rank, d.PairSeq, millis(d.AcceptedAt),
		millisOrNull(d.Next()), deliverySum(d.Seq, recipient, flag(d.Waking), string(d.Purpose), rank, d.Seq, d.PairSeq, millis(d.AcceptedAt)))
}

// askRank is the rank of an ask. It is above every priority.
const askRank = 11

// addToInbox counts a new delivery in the inbox of its recipient. It remembers the counters, because the caller reads them next.
func (s deliveries) addToInbox(recipient int64, d parley.Delivery) error {
	takes := inboxShare(d)
	if takes == (parley.Inbox{}) {
		return nil
	}
	var inbox parley.Inbox
	err := s.row(`INSERT INTO inboxes (agent, waking, quiet, work, evicted) VALUES ($1, $2, $3, $4, 0)
		ON CONFLICT (agent) DO UPDATE SET waking = inboxes.waking + excluded.waking, quiet = inboxes.quiet + excluded.quiet,
			work = inboxes.work + excluded.work
		RETURNING waking, quiet, work, evicted`,
		[]any{recipient, takes.Waking, takes.Quiet, takes.Work}, []any{&inbox.Waking, &inbox.Quiet, &inbox.Work, &inbox.Evicted})
	s.lastInbox = agentInbox{recipient, inbox}
	return err
}

// inboxShares computes in SQL what inboxShare returns, summed over many deliveries.
const inboxShares = `count(CASE WHEN d.purpose = '' AND d.waking = 1 THEN 1 END) AS waking,
	count(CASE WHEN d.purpose = '' AND d.waking = 0 THEN 1 END) AS quiet, count(CASE WHEN d.purpose <> '' THEN 1 END) AS work`

// inboxShare returns how a delivery counts in the inbox of its recipient.
func inboxShare(d parley.Delivery) parley.Inbox {
	switch {
	case !d.Open():
		return parley.Inbox{}
	case d.Purpose != "":
		return parley.Inbox{Work: 1}
	case d.Waking:
		return parley.Inbox{Waking: 1}
	default:
		return parley.Inbox{Quiet: 1}
	}
}

// recipients returns the recipients of a message. It returns every error before anything is written, because a pair_seq drawn for
// a refused delivery would leave a gap.
func (s deliveries) recipients(m parley.Message, to []parley.NewDelivery) ([]*agentRow, error) {
	taken, err := s.delivered(m)
	if err != nil {
		return nil, err
	}
	rows := make([]*agentRow, 0, len(to))
	for _, reach := range to {
		row, err := s.agentNamed(reach.Agent)
		if err != nil {
			return nil, err
		}
		rows = append(rows, row)
	}
	for _, row := range rows {
		if taken[row.num] {
			return nil, parley.ErrTaken
		}
		taken[row.num] = true
	}
	return rows, nil
}

// delivered returns the agents for which a stored message has deliveries, or ErrNotFound if the message is not stored.
func (s deliveries) delivered(m parley.Message) (agents map[int64]bool, err error) {
	agents = map[int64]bool{}
	if s.undelivered == m.ID && m.ID != "" {
		s.undelivered = ""
		return agents, nil
	}
	id, err := uuid.Parse(m.ID)
	if err != nil {
		return nil, parley.ErrNotFound
	}
	stored := false
	err = s.each(`SELECT d.agent FROM messages m LEFT JOIN deliveries d ON d.message = m.seq
		WHERE m.seq = $1 AND m.id = $2`, []any{m.Seq, id[:]}, func(r Rows) error {
		stored = true
		var agent sql.NullInt64
		err := r.Scan(&agent)
		if agent.Valid {
			agents[agent.Int64] = true
		}
		return err
	})
	if err == nil && !stored {
		err = parley.ErrNotFound
	}
	return agents, err
}

func (s deliveries) Get(message, recipient string) (parley.Delivery, error) {
	id, err := uuid.Parse(message)
	if err != nil {
		return parley.Delivery{}, parley.ErrNotFound
	}
	to, err := s.agentNamed(recipient)
	if err != nil {
		return parley.Delivery{}, err
	}
	return onlyDelivery(s.find("d.message = (SELECT seq FROM messages WHERE id = $1) AND d.agent = $2", s.locks.Wait, id[:], to.num))
}

func onlyDelivery(list []parley.Delivery, err error) (parley.Delivery, error) {
	if err == nil && len(list) == 0 {
		err = parley.ErrNotFound
	}
	if err != nil {
		return parley.Delivery{}, err
	}
	return list[0], nil
}

func (s deliveries) GetAll(recipient string, messages []string) ([]parley.Delivery, error) {
	to, err := s.agentNamed(recipient)
	if err != nil {
		return nil, err
	}
	// Two queries, because for one PostgreSQL may read all deliveries that the recipient ever had.
	seqs, err := s.seqs(messages)
	if err != nil || len(seqs) == 0 {
		return nil, err
	}
	q := query{}
	q.add("d.agent = ?", to.num)
	q.among("d.message", seqs)
	q.add("ORDER BY d.message")
	return s.find(q.text.String(), s.locks.Wait, q.args...)
}

// seqs returns the seqs of the messages that exist.
func (s deliveries) seqs(messages []string) (list []any, err error) {
	keys := uuids(messages)
	if len(keys) == 0 {
		return nil, nil
	}
	q := query{}
	q.add("SELECT seq FROM messages WHERE 1 = 1")
	q.among("id", keys)
	err = s.each(q.text.String(), q.args, func(r Rows) error {
		var seq int64
		err := r.Scan(&seq)
		list = append(list, seq)
		return err
	})
	return list, err
}

func (s deliveries) Put(before, after parley.Delivery) error {
	to, err := s.agentNamed(before.Recipient)
	if err != nil {
		return err
	}
	change, err := encodeChange(after)
	if err != nil {
		return err
	}
	lease, err := uuidOrNull(before.Lease)
	if err != nil {
		return err
	}
	args := append([]any{before.Seq, to.num, string(before.State), before.Attempt}, change...)
	err = s.writeOne(`UPDATE deliveries SET state = $5, attempt = $6, delivered_at = $7, seen_at = $8, settled_at = $9,
			answered_at = $10, run = $11, answer = $12, failure = $13, marks = $14, lease = $15, timer = $16, next_at = $17, node = $18
		WHERE message = $1 AND agent = $2 AND state = $3 AND attempt = $4 AND lease IS NOT DISTINCT FROM $19`, append(args, lease)...)
	if err != nil {
		return err
	}
	return s.updateInbox(to.num, before, after)
}

// updateInbox changes the counters of the recipient's inbox when a delivery changes.
func (s deliveries) updateInbox(recipient int64, before, after parley.Delivery) error {
	had, has := inboxShare(before), inboxShare(after)
	// A heartbeat that a newer one replaces is evicted without a failure, and does not count as evicted.
	evicted := flag(after.State == parley.DeliveryEvicted && before.State != parley.DeliveryEvicted && after.Failure != nil)
	if has == had && evicted == 0 {
		return nil
	}
	s.lastInbox = agentInbox{}
	return s.write("UPDATE inboxes SET waking = waking + $2, quiet = quiet + $3, work = work + $4, evicted = evicted + $5 WHERE agent = $1",
		recipient, has.Waking-had.Waking, has.Quiet-had.Quiet, has.Work-had.Work, evicted)
}

func (s deliveries) OfMessage(message string) ([]parley.Delivery, error) {
	id, err := uuid.Parse(message)
	if err != nil {
		return nil, parley.ErrNotFound
	}
	return s.find("m.id = $1 ORDER BY d.agent", "", id[:])
}

// openDelivery is the condition for an open delivery: see parley.Delivery.Open.
const openDelivery = "(d.state IN ('accepted', 'delivered') OR d.state = 'seen' AND d.lease IS NOT NULL)"

func (s deliveries) HasOpen(conversation string) (found bool, err error) {
	conv, err := s.conversationKey(conversation)
	if err != nil {
		return false, err
	}
	err = s.each("SELECT 1 FROM messages m JOIN deliveries d ON d.message = m.seq WHERE m.conv = $1 AND "+openDelivery+" LIMIT 1",
		[]any{conv.num}, func(Rows) error {
			found = true
			return nil
		})
	return found, err
}

func (s deliveries) Between(conversation, recipient string, after, upTo int64, limit int) ([]parley.Delivery, error) {
	conv, err := s.conversationKey(conversation)
	if err != nil {
		return nil, err
	}
	to, err := s.agentNamed(recipient)
	if err != nil {
		return nil, err
	}
	return s.find("m.conv = $1 AND m.seq > $2 AND m.seq <= $3 AND d.agent = $4 ORDER BY m.seq LIMIT 0 + $5", s.locks.Wait,
		conv.num, after, upTo, to.num, limit)
}

func (s deliveries) PairSeq(sender, recipient string) (n int64, err error) {
	from, to, err := s.pair(sender, recipient)
	if err != nil {
		return 0, err
	}
	err = s.row("SELECT count FROM pairs WHERE sender = $1 AND recipient = $2", []any{from, to}, []any{&n})
	_, err = notFound(err)
	return n, err
}

func (s deliveries) SetPairSeq(sender, recipient string, n int64) error {
	from, to, err := s.pair(sender, recipient)
	if err != nil {
		return err
	}
	return s.storePairSeq(from, to, n)
}

// pair returns the numbers of a sender and a recipient.
func (s deliveries) pair(sender, recipient string) (from, to int64, err error) {
	one, err := s.agentNamed(sender)
	if err != nil {
		return 0, 0, err
	}
	other, err := s.agentNamed(recipient)
	if err != nil {
		return 0, 0, err
	}
	return one.num, other.num, nil
}

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
		return s.checkByteLimit(nil)
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
