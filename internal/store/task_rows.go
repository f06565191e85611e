package store

import (
	"cmp"
	"database/sql"
	"slices"
	"strconv"
	"strings"

	"github.com/parley-hub/parley"
)

const taskPrefix = "task-"

func taskName(num int64) string { return taskPrefix + strconv.FormatInt(num, 10) }

// taskNum returns the number of a task, or ErrNotFound if the id cannot be the id of a task.
func taskNum(id string) (int64, error) {
	num, err := strconv.ParseInt(strings.TrimPrefix(id, taskPrefix), 10, 64)
	if err != nil || num < 1 || taskName(num) != id {
		return 0, parley.ErrNotFound
	}
	return num, nil
}

func taskOrNull(id string) (num sql.NullInt64, err error) {
	if id == "" {
		return num, nil
	}
	num.Int64, err = taskNum(id)
	num.Valid = err == nil
	return num, err
}

func taskID(num sql.NullInt64) string {
	if !num.Valid {
		return ""
	}
	return taskName(num.Int64)
}

// byNumber compares the ids of tasks by their numbers: an id with fewer digits is smaller.
func byNumber(a, b string) int {
	return cmp.Or(cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
}

// taskKeys are the numbers of a task and of the rows that it refers to.
type taskKeys struct {
	num, root           int64
	parent              sql.NullInt64
	requester, original int64
	needs               []int64
}

// keys returns the keys of a new task. It returns ErrNotFound if a task or participant that it refers to does not exist.
func (s tasks) keys(t parley.Task) (k taskKeys, err error) {
	if k.num, err = taskNum(t.ID); err != nil {
		return k, parley.Errorf(parley.BadInput, "%q is not the id of a task", t.ID).Suggest("use task- and a number")
	}
	requester, err := s.agentNamed(t.Requester)
	if err != nil {
		return k, err
	}
	original, err := s.agentNamed(t.OriginalRequester)
	if err != nil {
		return k, err
	}
	k.requester, k.original = requester.num, original.num
	if k.root, err = taskNum(t.Root); err != nil {
		return k, err
	}
	if k.parent, err = taskOrNull(t.Parent); err != nil {
		return k, err
	}
	for _, id := range t.DependsOn {
		num, err := taskNum(id)
		if err != nil {
			return k, err
		}
		k.needs = append(k.needs, num)
	}
	slices.Sort(k.needs)
	k.needs = slices.Compact(k.needs)
	return k, s.requireTasks(k)
}

// requireTasks returns ErrNotFound unless all tasks exist that a new task refers to.
func (s tasks) requireTasks(k taskKeys) error {
	wanted := slices.Clone(k.needs)
	if k.root != k.num {
		wanted = append(wanted, k.root)
	}
	if k.parent.Valid {
		wanted = append(wanted, k.parent.Int64)
	}
	slices.Sort(wanted)
	for page := range slices.Chunk(slices.Compact(wanted), tasksAtOnce) {
		q := query{}
		q.add("SELECT count(*) FROM tasks WHERE 1 = 1")
		q.among("num", anys(page))
		var n int
		if err := s.row(q.text.String(), q.args, []any{&n}); err != nil {
			return err
		}
		if n != len(page) {
			return parley.ErrNotFound
		}
	}
	return nil
}

func anys[T any](list []T) []any {
	all := make([]any, len(list))
	for i, v := range list {
		all[i] = v
	}
	return all
}

// args returns the columns of a task that never change.
func (k taskKeys) args(t parley.Task) []any {
	return []any{k.num, k.parent, k.root, k.requester, k.original, t.Depth, t.Source, millis(t.CreatedAt)}
}

// encode returns the columns of a task that Put replaces.
func (s tasks) encode(t parley.Task) ([]any, error) {
	assignee, err := s.agentNamed(t.Assignee)
	if err != nil {
		return nil, err
	}
	keys, err := keysOf(t.Conversation, t.Message, t.CallbackTo, t.Callback)
	if err != nil {
		return nil, err
	}
	result, err := jsonOrNull(t.Result)
	if err != nil {
		return nil, err
	}
	failure, err := jsonOrNull(t.Error)
	if err != nil {
		return nil, err
	}
	progress, err := jsonOrNull(t.Progress)
	return []any{
		assignee.num, t.Title, textOrNull(t.DelegationReason), t.Priority.Level(), textOrNull(t.Priority.Word()), millisOrNull(t.Deadline),
		keys[0], keys[1], t.TraceID, string(t.Status), textOrNull(string(t.Outcome)), result, failure, progress, t.Attempt,
		millis(t.UpdatedAt), millisOrNull(t.StartedAt), millisOrNull(t.EndedAt), keys[2], keys[3],
	}, err
}

var taskColumns = `t.num, t.parent, t.root, t.depth, t.requester, t.original, t.source, t.created_at, t.assignee, t.title, t.reason,
	t.priority, t.word, t.deadline, ` + conversationNamed("t.conv") + ", " + messageNamed("t.message") + `, t.trace, t.status, t.outcome,
	t.result, t.error, t.progress, t.attempt, t.updated_at, t.started_at, t.ended_at, t.callback_to, ` +
	messageNamed("t.callback") + `,
	(SELECT string_agg('task-' || n.needs, ',') FROM task_needs n WHERE n.task = t.num)`

func (s tasks) find(where string, args ...any) ([]parley.Task, error) {
	return readAll(s.tx, func() *taskRow { return &taskRow{} }, "SELECT "+taskColumns+" FROM tasks t WHERE "+where, args...)
}

// taskRow is a row of tasks as it is read.
type taskRow struct {
	task                                parley.Task
	num                                 int64
	parent, root                        sql.NullInt64
	requester, original, assignee       sql.NullInt64
	created, updated                    int64
	deadline, started, ended            sql.NullInt64
	level                               int
	status                              string
	reason, word, outcome               sql.NullString
	result, failure, progress, needs    sql.NullString
	conv, message, callbackTo, callback []byte
}

func (row *taskRow) dest() []any {
	t := &row.task
	return []any{
		&row.num, &row.parent, &row.root, &t.Depth, &row.requester, &row.original, &t.Source, &row.created, &row.assignee, &t.Title,
		&row.reason, &row.level, &row.word, &row.deadline, &row.conv, &row.message, &t.TraceID, &row.status, &row.outcome,
		&row.result, &row.failure, &row.progress, &t.Attempt, &row.updated, &row.started, &row.ended, &row.callbackTo, &row.callback,
		&row.needs,
	}
}

func (row *taskRow) name() (what, id string) { return "task", taskName(row.num) }

func (row *taskRow) value(s *tx) (_ parley.Task, err error) {
	t := &row.task
	t.ID, t.Parent, t.Root = taskName(row.num), taskID(row.parent), taskID(row.root)
	t.DelegationReason, t.Status, t.Outcome = row.reason.String, parley.TaskState(row.status), parley.TaskOutcome(row.outcome.String)
	t.CreatedAt, t.UpdatedAt, t.Deadline = fromMillis(row.created), fromMillis(row.updated), timeOrNil(row.deadline)
	t.StartedAt, t.EndedAt = timeOrNil(row.started), timeOrNil(row.ended)
	if row.needs.Valid {
		t.DependsOn = strings.Split(row.needs.String, ",")
		slices.SortFunc(t.DependsOn, byNumber)
	}
	if t.Priority, err = priority(row.level, row.word.String); err != nil {
		return *t, err
	}
	err = idsOf(map[*string][]byte{
		&t.Conversation: row.conv, &t.Message: row.message, &t.CallbackTo: row.callbackTo, &t.Callback: row.callback,
	})
	if err != nil {
		return *t, err
	}
	if err := row.decode(t); err != nil {
		return *t, err
	}
	return *t, s.nameAll(map[*string]sql.NullInt64{
		&t.Requester: row.requester, &t.OriginalRequester: row.original, &t.Assignee: row.assignee,
	})
}

// decode decodes the columns that hold JSON.
func (row *taskRow) decode(t *parley.Task) (err error) {
	if t.Result, err = fromJSON[parley.TaskResult]("the result of "+t.ID, row.result); err != nil {
		return err
	}
	if t.Error, err = fromJSON[parley.Error]("the error of "+t.ID, row.failure); err != nil {
		return err
	}
	t.Progress, err = fromJSON[parley.TaskProgress]("the progress of "+t.ID, row.progress)
	return err
}
