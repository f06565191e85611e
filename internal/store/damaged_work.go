package store

import "github.com/parley-hub/parley"

// checkedColumns are what a check reads of a delivery, as checkedRow does.
const (
	checkedColumns = `SELECT d.message, d.agent, d.state, d.waking, d.purpose, d.rank, d.place, d.pair_seq, d.accepted_at,
	d.delivered_at, d.seen_at, d.settled_at, d.lease, d.sum, m.id, a.num FROM `
	checkedParties = ` LEFT JOIN messages m ON m.seq = d.message LEFT JOIN agents a ON a.num = d.agent`
)

// awaitedWork finds the messages that somebody waits for, each by an index: the requests of open asks and open tasks, and
// what came of the tasks under open ones.
//
// The order of the joins is that of few to many. SQLite would rather begin at all messages after one.
const awaitedWork = `WITH open AS MATERIALIZED (SELECT t.num, t.message FROM tasks t WHERE ` + openTask + ` ORDER BY t.root)
	SELECT work.message FROM (
		SELECT w.message FROM waits w WHERE w.ask = 1 AND w.state IN ('waiting', 'late', 'abandoned')
		UNION SELECT m.seq FROM open CROSS JOIN messages m WHERE m.id = open.message
		UNION SELECT m.seq FROM open CROSS JOIN tasks u CROSS JOIN messages m WHERE u.parent = open.num AND m.id = u.callback
	) AS work WHERE work.message > $1 ORDER BY work.message LIMIT 0 + $2`

func (s queue) DamagedWork(after int64, limit int) (found []parley.Damage, last int64, err error) {
	var seqs []any
	err = s.each(awaitedWork, []any{after, limit}, func(r Rows) error {
		err := r.Scan(&last)
		seqs = append(seqs, last)
		return err
	})
	if err != nil || len(seqs) == 0 {
		return nil, 0, err
	}
	q := query{}
	q.add(checkedColumns + "deliveries d" + checkedParties + " WHERE 1 = 1")
	q.among("d.message", seqs)
	err = s.damagedRows(q.text.String(), q.args, func(_ checkedRow, bad *parley.Damage) {
		if bad != nil {
			found = append(found, *bad)
		}
	})
	return found, last, err
}

const damagedQuiet = checkedColumns + "deliveries d" + checkedParties + `
	WHERE d.state = 'accepted' AND d.timer IS NULL AND d.waking = 0 AND (d.agent, d.place) > ($1, $2)
	ORDER BY d.agent, d.place LIMIT 0 + $3`

func (s queue) DamagedQuiet(after parley.QuietMark, limit int) (found []parley.Damage, last parley.QuietMark, err error) {
	err = s.damagedRows(damagedQuiet, []any{after.Agent, after.Place, limit}, func(row checkedRow, bad *parley.Damage) {
		if last = (parley.QuietMark{Agent: row.agent, Place: row.place}); bad != nil {
			found = append(found, *bad)
		}
	})
	return found, last, err
}

// damagedRows calls each with the rows of a query, and with what is wrong with a row whose delivery has not ended.
func (s queue) damagedRows(query string, args []any, each func(checkedRow, *parley.Damage)) error {
	return s.each(query, args, func(r Rows) error {
		var row checkedRow
		problem := "its row cannot be read"
		if row.scan(r) == nil {
			problem = row.problem()
		}
		if problem == "" || row.over() {
			each(row, nil)
			return nil
		}
		bad := rowDamage(row.message, idText(row.id), problem)
		s.damages.add(*bad)
		each(row, bad)
		return nil
	})
}

// over says that a delivery has ended: nobody waits for it.
func (row *checkedRow) over() bool {
	state := parley.DeliveryState(row.state)
	return state == parley.DeliveryDead || state.Settled() && row.settled.Valid
}
