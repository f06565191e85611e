package store

import (
	"database/sql"
	"fmt"

	"github.com/parley-hub/parley"
)

const checkedDelivery = checkedColumns + `WHERE d.message > $1 AND d.message <= coalesce((SELECT max(p.message) FROM
		(SELECT message FROM deliveries WHERE message > $1 ORDER BY message LIMIT 0 + $2) AS p), 0)
	ORDER BY d.message, d.agent`

func (s counts) Deliveries(after int64, limit int) (found []string, last int64, err error) {
	err = s.each(checkedDelivery, []any{after, limit}, func(r Rows) error {
		var row checkedRow
		problem := "its row cannot be read"
		if row.scan(r) == nil {
			problem = row.problem()
		}
		if last = row.message; problem != "" {
			found = append(found, rowDamage(row.message, idText(row.id), problem).String())
		}
		return nil
	})
	return found, last, err
}

// checkedRow is a row of deliveries with the id of its message and the number of its recipient, as a check reads it.
type checkedRow struct {
	message, agent, place, pairSeq, accepted int64
	waking, rank                             int
	state, purpose                           string
	delivered, seen, settled, sum, known     sql.NullInt64
	lease, id                                []byte
}

func (row *checkedRow) scan(r Rows) error {
	return r.Scan(&row.message, &row.agent, &row.state, &row.waking, &row.purpose, &row.rank, &row.place, &row.pairSeq, &row.accepted,
		&row.delivered, &row.seen, &row.settled, &row.lease, &row.sum, &row.id, &row.known)
}

// problem returns what is wrong with a row as a sentence, or nothing.
func (row *checkedRow) problem() string {
	state := parley.DeliveryState(row.state)
	sum := deliverySum(row.message, row.agent, row.waking, row.purpose, row.rank, row.place, row.pairSeq, row.accepted)
	switch {
	case row.id == nil:
		return "there is no such message"
	case !row.known.Valid:
		return fmt.Sprintf("no participant has the number %d of its recipient", row.agent)
	case row.sum.Valid && row.sum.Int64 != sum:
		return parley.WrongChecksum
	case !state.Known():
		return "its state is unknown"
	case state.Settled() != row.settled.Valid,
		state == parley.DeliveryAccepted && (row.delivered.Valid || row.seen.Valid || row.lease != nil && row.purpose != string(parley.PurposeAsk)), // an ask can wait for one session
		state == parley.DeliveryDelivered && !row.delivered.Valid, state == parley.DeliverySeen && !row.seen.Valid:
		return fmt.Sprintf("it is %s, which does not agree with its times", state)
	default:
		return ""
	}
}

func (s counts) Keys(limit int) (found []string, err error) {
	err = s.each(`SELECT i.key, m.seq, m.id FROM idempotency i JOIN messages m ON m.id = i.message
		WHERE m.key IS DISTINCT FROM i.key OR m.sender <> i.sender LIMIT 0 + $1`, []any{limit}, func(r Rows) error {
		var (
			key string
			seq int64
			id  []byte
		)
		err := r.Scan(&key, &seq, &id)
		found = append(found, fmt.Sprintf("the idempotency key %q names message %d (%s), which has another sender or another key", key, seq, idText(id)))
		return err
	})
	return found, err
}
