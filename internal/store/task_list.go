package store

import (
	"github.com/parley-hub/parley"
)

// visibleTo is the condition for tasks that a participant requested or is assigned, and for all tasks under them.
const visibleTo = `AND t.num IN (WITH RECURSIVE seen (num) AS (
		SELECT num FROM tasks WHERE requester = ? UNION SELECT num FROM tasks WHERE assignee = ?
		UNION SELECT k.num FROM seen JOIN tasks k ON k.parent = seen.num)
	SELECT num FROM seen)`

func (s tasks) List(f parley.TaskFilter, reader string) ([]parley.Task, error) {
	q := query{}
	q.add("1 = 1")
	err := s.filterParticipants(&q, f, reader)
	if missing, err := notFound(err); missing || err != nil {
		return nil, err
	}
	if f.Before != "" {
		num, err := taskNum(f.Before)
		if err != nil {
			return nil, nil // no task has such an id
		}
		q.add("AND t.num < ?", num)
	}
	if len(f.Status) > 0 {
		q.add("AND t.status IN (")
		for _, status := range f.Status {
			q.add("?,", string(status))
		}
		q.add("'')")
	}
	if f.Open {
		q.add("AND " + openTask)
	}
	if f.Roots {
		q.add("AND t.parent IS NULL")
	}
	q.add("ORDER BY t.num DESC LIMIT 0 + ?", f.Limit)
	return readUpTo(s.tx, f.Limit, func(limit int) ([]parley.Task, error) {
		q.args[len(q.args)-1] = limit
		return s.find(q.text.String(), q.args...)
	})
}

func (s tasks) Scan(after string, limit int) ([]parley.Task, error) {
	num, err := taskOrNull(after)
	if err != nil {
		return nil, nil // no task has such an id
	}
	return readUpTo(s.tx, limit, func(limit int) ([]parley.Task, error) {
		return s.find("t.num > $1 ORDER BY t.num LIMIT 0 + $2", num.Int64, limit)
	})
}

// filterParticipants restricts a query to the tasks of the participants in the filter. It returns ErrNotFound if one does not
// exist.
func (s tasks) filterParticipants(q *query, f parley.TaskFilter, reader string) error {
	for _, filter := range []struct{ participant, condition string }{
		{f.Assignee, "AND t.assignee = ?"}, {f.Requester, "AND t.requester = ?"}, {reader, visibleTo},
	} {
		if filter.participant == "" {
			continue
		}
		row, err := s.agentNamed(filter.participant)
		if err != nil {
			return err
		}
		if filter.condition == visibleTo {
			q.add(filter.condition, row.num, row.num)
		} else {
			q.add(filter.condition, row.num)
		}
	}
	return nil
}
