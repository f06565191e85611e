package store

import (
	"slices"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

// checkedColumns are the columns of a checkedRow. The subqueries make PostgreSQL look up the message and the recipient of each
// row. For a join, it might begin with all messages.
const checkedColumns = `SELECT d.message, d.agent, d.state, d.waking, d.purpose, d.rank, d.place, d.pair_seq, d.accepted_at,
	d.delivered_at, d.seen_at, d.settled_at, d.lease, d.sum, (SELECT m.id FROM messages m WHERE m.seq = d.message),
	(SELECT a.num FROM agents a WHERE a.num = d.agent) FROM deliveries d `

// keysAtOnce is how many keys one query contains.
const keysAtOnce = 256

func (s queue) DamagedWork() (found []parley.Damage, err error) {
	seqs, err := s.awaitedWork()
	if err != nil {
		return nil, err
	}
	err = s.eachAmong(checkedColumns+"WHERE 1 = 1", "d.message", seqs, func(r Rows) error {
		if _, damage := s.damagedRow(r); damage != nil {
			found = append(found, *damage)
		}
		return nil
	})
	return found, err
}

// awaitedWork returns the seqs of the messages whose outcome a participant waits for: the requests of open asks and open tasks,
// and the callbacks of subtasks of open tasks.
func (s queue) awaitedWork() (seqs []any, err error) {
	var nums, ids []any
	if seqs, err = s.column("SELECT w.message FROM waits w WHERE w.ask = 1 AND "+openWait+" ORDER BY w.message", seqs); err != nil {
		return nil, err
	}
	err = s.each("SELECT t.num, t.message FROM tasks t WHERE "+openTask+" ORDER BY t.root", nil, func(r Rows) error {
		var (
			num int64
			id  []byte
		)
		err := r.Scan(&num, &id)
		if nums = append(nums, num); id != nil {
			ids = append(ids, id)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	err = s.eachAmong("SELECT u.callback FROM tasks u WHERE u.callback IS NOT NULL", "u.parent", nums, func(r Rows) error {
		var id []byte
		err := r.Scan(&id)
		ids = append(ids, id)
		return err
	})
	if err != nil {
		return nil, err
	}
	err = s.eachAmong("SELECT m.seq FROM messages m WHERE 1 = 1", "m.id", ids, func(r Rows) error {
		var seq int64
		err := r.Scan(&seq)
		seqs = append(seqs, seq)
		return err
	})
	return seqs, err
}

// column appends the numbers that a query returns to a list.
func (t *tx) column(query string, list []any) ([]any, error) {
	err := t.each(query, nil, func(r Rows) error {
		var n int64
		err := r.Scan(&n)
		list = append(list, n)
		return err
	})
	return list, err
}

// eachAmong runs a query for the rows in which a column has one of the keys. Each query contains some of the keys.
func (t *tx) eachAmong(question, column string, keys []any, scan func(Rows) error) error {
	for page := range slices.Chunk(keys, keysAtOnce) {
		q := query{}
		q.add(question)
		q.among(column, page)
		if err := t.each(q.text.String(), q.args, scan); err != nil {
			return err
		}
	}
	return nil
}

const damagedQuiet = checkedColumns + `WHERE d.state = 'accepted' AND d.timer IS NULL AND d.waking = 0 AND (d.agent, d.place) > ($1, $2)
	ORDER BY d.agent, d.place LIMIT 0 + $3`

func (s queue) DamagedQuiet(after storage.QuietMark, limit int) (found []parley.Damage, last storage.QuietMark, err error) {
	err = s.each(damagedQuiet, []any{after.Agent, after.Place, limit}, func(r Rows) error {
		row, damage := s.damagedRow(r)
		if last = (storage.QuietMark{Agent: row.agent, Place: row.place}); damage != nil {
			found = append(found, *damage)
		}
		return nil
	})
	return found, last, err
}

// damagedRow reads a row. If the row is damaged and its delivery has not ended, it notes and returns the damage.
func (s queue) damagedRow(r Rows) (row checkedRow, damage *parley.Damage) {
	problem := "its row cannot be read"
	if row.scan(r) == nil {
		problem = row.problem()
	}
	if problem == "" || row.ended() {
		return row, nil
	}
	damage = rowDamage(row.message, idText(row.id), problem)
	s.damages.add(*damage)
	return row, damage
}

// ended reports whether a delivery has ended, so that nobody waits for it.
func (row *checkedRow) ended() bool {
	state := parley.DeliveryState(row.state)
	return state == parley.DeliveryDead || state.Settled() && row.settled.Valid
}
