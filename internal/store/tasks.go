package store

import (
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

type tasks struct{ *tx }

func (s tasks) NextID() (string, error) {
	c := &s.counters
	if !c.taskLoaded {
		if err := s.row("SELECT coalesce(max(num), 0) FROM tasks", nil, []any{&c.task}); err != nil {
			return "", err
		}
		c.taskLoaded = true
	}
	c.task++
	return taskName(c.task), nil
}

func (s tasks) Insert(t parley.Task) error {
	keys, err := s.keys(t)
	if err != nil {
		return err
	}
	changing, err := s.encode(t)
	if err != nil {
		return err
	}
	args := append(keys.args(t), changing...)
	n, err := s.exec(`INSERT INTO tasks (num, parent, root, requester, original, depth, source, created_at, assignee, title, reason, priority,
			word, deadline, conv, message, trace, status, outcome, result, error, progress, attempt, updated_at, started_at, ended_at,
			callback_to, callback)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26,
			$27, $28) ON CONFLICT DO NOTHING`, args...)
	if err := requireRow(n, err, parley.ErrTaken); err != nil {
		return err
	}
	s.counters.task = max(s.counters.task, keys.num)
	for _, needs := range keys.needs {
		if err := s.write("INSERT INTO task_needs (task, needs) VALUES ($1, $2)", keys.num, needs); err != nil {
			return err
		}
	}
	return nil
}

func (s tasks) Get(id string) (parley.Task, error) {
	num, err := taskNum(id)
	if err != nil {
		return parley.Task{}, err
	}
	return onlyRecord(s.find("t.num = $1", num))
}

// tasksAtOnce is how many tasks one query looks up.
const tasksAtOnce = 256

func (s tasks) GetAll(ids []string) (list []parley.Task, err error) {
	var nums []any
	for _, id := range ids {
		if num, err := taskNum(id); err == nil {
			nums = append(nums, num)
		}
	}
	for page := range slices.Chunk(nums, tasksAtOnce) {
		q := query{}
		q.add("1 = 1")
		q.among("t.num", page)
		found, err := s.find(q.text.String(), q.args...)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	slices.SortFunc(list, func(a, b parley.Task) int { return byNumber(a.ID, b.ID) })
	return slices.CompactFunc(list, func(a, b parley.Task) bool { return a.ID == b.ID }), nil
}

func (s tasks) Put(t parley.Task) error {
	num, err := taskNum(t.ID)
	if err != nil {
		return err
	}
	changing, err := s.encode(t)
	if err != nil {
		return err
	}
	n, err := s.exec(`UPDATE tasks SET assignee = $2, title = $3, reason = $4, priority = $5, word = $6, deadline = $7, conv = $8,
			message = $9, trace = $10, status = $11, outcome = $12, result = $13, error = $14, progress = $15, attempt = $16, updated_at = $17,
			started_at = $18, ended_at = $19, callback_to = $20, callback = $21 WHERE num = $1`, append([]any{num}, changing...)...)
	return requireRow(n, err, parley.ErrNotFound)
}

func (s tasks) BegunBy(message string) (parley.Task, error) {
	id, err := uuid.Parse(message)
	if err != nil {
		return parley.Task{}, parley.ErrNotFound
	}
	return onlyRecord(s.find("t.message = $1 AND "+messageNamed("t.message")+" IS NOT NULL ORDER BY t.num LIMIT 1", id[:]))
}

func (s tasks) OpenChildren(id string) ([]parley.Task, error) {
	return s.under("t.parent = $1 AND "+openTask+" ORDER BY t.num", id)
}

func (s tasks) Tree(id string) ([]parley.Task, error) {
	ids, err := s.tree(id)
	if err != nil {
		return nil, err
	}
	return s.GetAll(ids)
}

// tree returns the ids of a task and all tasks under it. It reads one level after the other. The levels are few, and for a
// recursive query PostgreSQL might begin with all tasks.
func (s tasks) tree(id string) (ids []string, err error) {
	num, err := taskNum(id)
	if err != nil {
		return nil, nil // no task has such an id
	}
	for level := []any{num}; len(level) > 0; {
		var next []any
		for page := range slices.Chunk(level, tasksAtOnce) {
			q := query{}
			q.add("SELECT t.num FROM tasks t WHERE 1 = 1")
			q.among("t.parent", page)
			err := s.each(q.text.String(), q.args, func(r Rows) error {
				var num int64
				err := r.Scan(&num)
				next = append(next, num)
				return err
			})
			if err != nil {
				return nil, err
			}
		}
		for _, num := range level {
			ids = append(ids, taskName(num.(int64)))
		}
		level = next
	}
	return ids, nil
}

func (s tasks) Dependants(id string) ([]parley.Task, error) {
	return s.under("t.num IN (SELECT n.task FROM task_needs n WHERE n.needs = $1) AND "+openTask+" ORDER BY t.num", id)
}

// under returns the tasks that meet a condition with another task. The list is empty if the id cannot be the id of a task.
func (s tasks) under(where, id string) ([]parley.Task, error) {
	num, err := taskNum(id)
	if err != nil {
		return nil, nil
	}
	return s.find(where, num)
}

// openTask is the condition for a task that has not ended: see parley.TaskState.Ended.
const openTask = "t.status IN ('queued', 'active')"

func (s tasks) OpenUnder(root string) (n int, err error) {
	num, err := taskNum(root)
	if err != nil {
		return 0, nil // no task has such an id
	}
	err = s.row("SELECT count(*) FROM tasks t WHERE t.root = $1 AND t.num <> $1 AND "+openTask, []any{num}, []any{&n})
	return n, err
}

func (s tasks) Awaited(requester string, limit int) ([]parley.Task, error) {
	row, err := s.agentNamed(requester)
	if err != nil {
		return nil, err
	}
	return s.find("t.requester = $1 AND t.callback_to IS NOT NULL AND "+openTask+" ORDER BY t.num LIMIT 0 + $2", row.num, limit)
}

func (s tasks) CountAwaited() (map[string]int, error) {
	byNum := map[int64]int{}
	err := s.each("SELECT t.requester, count(*) FROM tasks t WHERE t.callback_to IS NOT NULL AND "+openTask+" GROUP BY t.requester", nil,
		func(r Rows) error {
			var (
				requester int64
				n         int
			)
			err := r.Scan(&requester, &n)
			byNum[requester] = n
			return err
		})
	return byID(s.tx, byNum, err)
}

func (s tasks) AssignedTo(assignee string) ([]parley.Task, error) {
	row, err := s.agentNamed(assignee)
	if err != nil {
		return nil, err
	}
	return s.find("t.assignee = $1 AND "+openTask+" ORDER BY t.num", row.num)
}

func (s tasks) Due(now time.Time, limit int) ([]parley.Task, error) {
	return readUpTo(s.tx, limit, func(limit int) ([]parley.Task, error) {
		return s.find("t.deadline <= $1 AND "+openTask+" ORDER BY t.deadline LIMIT 0 + $2", millis(now), limit)
	})
}

// Spent selects the runs by the ids of their tasks. For a join with the tasks, PostgreSQL might begin with all runs.
func (s tasks) Spent(id string) (map[string]parley.Usage, error) {
	spent := map[string]parley.Usage{}
	ids, err := s.tree(id)
	if err != nil {
		return nil, err
	}
	for page := range slices.Chunk(anys(ids), tasksAtOnce) {
		if err := s.sum(spent, page); err != nil {
			return nil, err
		}
	}
	return spent, nil
}

// sum adds the usage of the runs of some tasks to spent.
func (s tasks) sum(spent map[string]parley.Usage, ids []any) error {
	q := query{}
	q.add(`SELECT r.task, CAST(sum(r.input_tokens) AS BIGINT), CAST(sum(r.output_tokens) AS BIGINT), CAST(sum(r.cost) AS BIGINT)
		FROM runs r WHERE 1 = 1`)
	q.among("r.task", ids)
	q.add("GROUP BY r.task")
	return s.each(q.text.String(), q.args, func(r Rows) error {
		var (
			task string
			cost int64
			used parley.Usage
		)
		err := r.Scan(&task, &used.InputTokens, &used.OutputTokens, &cost)
		used.Cost = float64(cost) / billionths
		spent[task] = used
		return err
	})
}
