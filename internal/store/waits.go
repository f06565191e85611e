package store

import (
	"database/sql"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

type waits struct{ *tx }

func (s waits) Insert(w parley.Wait) error {
	id, err := uuid.Parse(w.ID)
	if err != nil {
		return err
	}
	message, err := uuid.Parse(w.Message)
	if err != nil {
		return parley.ErrNotFound
	}
	waiter, err := s.agentNamed(w.Waiter)
	if err != nil {
		return err
	}
	target, err := s.agentNamed(w.Target)
	if err != nil {
		return err
	}
	changing, err := encodeWait(w)
	if err != nil {
		return err
	}
	args := []any{id[:], message[:], waiter.num, target.num, flag(w.Ask), w.Depth}
	n, err := s.exec(`INSERT INTO waits (id, message, waiter, target, ask, depth,
			since, conv, task, run, state, until, approval, answer, failure, callback, ended_at, node, work)
		SELECT $1, m.seq, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19
		FROM messages m JOIN conversations c ON c.num = m.conv WHERE m.id = $2 AND `+notDeleted+" ON CONFLICT DO NOTHING",
		append(args, changing...)...)
	if err != nil || n > 0 {
		return err
	}
	if _, err := s.seqOf(w.Message); err != nil {
		return err
	}
	return parley.ErrTaken
}

// encodeWait returns the columns of a wait that Put replaces.
func encodeWait(w parley.Wait) ([]any, error) {
	keys, err := keysOf(w.Run, w.Approval, w.Answer, w.Callback)
	if err != nil {
		return nil, err
	}
	conv, err := uuidOrNull(w.Conversation)
	if err != nil {
		return nil, err
	}
	task, err := taskOrNull(w.Task)
	if err != nil {
		return nil, err
	}
	work, err := taskOrNull(w.AnswerTask)
	if err != nil {
		return nil, err
	}
	failure, err := jsonOrNull(w.Failure)
	return []any{
		millis(w.Since), conv, task, keys[0], string(w.State), millis(w.Until), keys[1], keys[2], failure, keys[3], millisOrNull(w.EndedAt), textOrNull(w.Node),
		work,
	}, err
}

func (s waits) Ask(message string) (parley.Wait, error) {
	id, err := uuid.Parse(message)
	if err != nil {
		return parley.Wait{}, parley.ErrNotFound
	}
	return onlyRecord(s.find("m.id = $1 AND w.ask = 1", id[:]))
}

func (s waits) InConversation(conversation string) ([]parley.Wait, error) {
	id, err := uuid.Parse(conversation)
	if err != nil {
		return nil, nil // no conversation has such an id
	}
	return s.find("c.id = $1 AND "+openWait+" ORDER BY m.seq, w.id", id[:])
}

func (s waits) OfRun(run string) ([]parley.Wait, error) {
	id, err := uuid.Parse(run)
	if err != nil {
		return nil, nil // no run has such an id
	}
	return s.find(stateWaiting+" AND w.run = $1 ORDER BY w.id", id[:])
}

func (s waits) OfWaiter(waiter string) ([]parley.Wait, error) {
	row, err := s.agentNamed(waiter)
	if err != nil {
		return nil, err
	}
	return s.find(stateWaiting+" AND w.waiter = $1 AND w.run IS NULL ORDER BY w.id", row.num)
}

func (s waits) OfNode(node string) ([]parley.Wait, error) {
	return s.find(stateWaiting+" AND w.node = $1 ORDER BY w.id", node)
}

func (s waits) AsksOfRun(run string) ([]parley.Wait, error) {
	id, err := uuid.Parse(run)
	if err != nil {
		return nil, nil // no run has such an id
	}
	waiting, err := s.find(stateWaiting+" AND w.run = $1 AND w.ask = 1 ORDER BY w.id", id[:])
	if err != nil {
		return nil, err
	}
	late, err := s.find("w.state = 'late' AND w.run = $1 ORDER BY w.id", id[:])
	list := slices.Concat(waiting, late)
	slices.SortFunc(list, func(a, b parley.Wait) int { return strings.Compare(a.ID, b.ID) })
	return list, err
}

func (s waits) ParkedAs(task string) (parley.Wait, error) {
	num, err := taskNum(task)
	if err != nil {
		return parley.Wait{}, parley.ErrNotFound
	}
	return onlyRecord(s.find("w.work = $1", num))
}

func (s waits) Parked(target string) ([]parley.Wait, error) {
	row, err := s.agentNamed(target)
	if err != nil {
		return nil, err
	}
	return s.find("w.target = $1 AND w.work IS NOT NULL AND "+openWait+" ORDER BY w.id", row.num)
}

func (s waits) Due(now time.Time, limit int) ([]parley.Wait, error) {
	return s.find(stateWaiting+" AND w.ask = 1 AND w.until <= $1 ORDER BY w.until LIMIT 0 + $2", millis(now), limit)
}

func (s waits) Put(w parley.Wait) error {
	id, err := uuid.Parse(w.ID)
	if err != nil {
		return parley.ErrNotFound
	}
	changing, err := encodeWait(w)
	if err != nil {
		return err
	}
	n, err := s.exec(`UPDATE waits SET since = $2, conv = $3, task = $4, run = $5, state = $6, until = $7, approval = $8, answer = $9,
			failure = $10, callback = $11, ended_at = $12, node = $13, work = $14
		WHERE id = $1 AND `+messageExists,
		append([]any{id[:]}, changing...)...)
	return requireRow(n, err, parley.ErrNotFound)
}

func (s waits) Erase(id string) error {
	key, err := uuid.Parse(id)
	if err != nil {
		return parley.ErrNotFound
	}
	n, err := s.exec("DELETE FROM waits WHERE id = $1 AND "+messageExists, key[:])
	return requireRow(n, err, parley.ErrNotFound)
}

// messageExists is the condition for a wait whose message is in a conversation that is not deleted.
const messageExists = "EXISTS (SELECT 1 FROM messages m JOIN conversations c ON c.num = m.conv WHERE m.seq = waits.message AND " + notDeleted + ")"

// openWait is the condition for a wait that has not ended.
const openWait = "w.state IN ('waiting', 'late', 'abandoned')"

// stateWaiting is the condition for a wait whose waiter is blocked now.
const stateWaiting = "w.state = 'waiting'"

var waitColumns = `w.id, m.id, w.waiter, w.run, w.target, w.ask, w.depth, w.state, w.since, w.until, w.approval, w.answer, w.failure,
	w.callback, w.ended_at, ` + conversationNamed("w.conv") + ", w.task, w.node, w.work"

// fromWaits selects waits for messages in conversations that are not deleted. A condition must follow.
const fromWaits = ` FROM waits w JOIN messages m ON m.seq = w.message
		JOIN conversations c ON c.num = m.conv WHERE ` + notDeleted + " AND "

// find reads waits for messages in conversations that are not deleted.
func (s waits) find(where string, args ...any) ([]parley.Wait, error) {
	return readAll(s.tx, func() *waitRow { return &waitRow{} }, "SELECT "+waitColumns+fromWaits+where, args...)
}

// waitRow is a row of waits as it is read.
type waitRow struct {
	wait                                         parley.Wait
	id, message, run, approval, answer, callback []byte
	conv                                         []byte
	waiter, target, task, work, ended            sql.NullInt64
	ask                                          int
	state                                        string
	since, until                                 int64
	failure, node                                sql.NullString
}

func (row *waitRow) dest() []any {
	return []any{
		&row.id, &row.message, &row.waiter, &row.run, &row.target, &row.ask, &row.wait.Depth, &row.state, &row.since, &row.until,
		&row.approval, &row.answer, &row.failure, &row.callback, &row.ended, &row.conv, &row.task, &row.node,
		&row.work,
	}
}

func (row *waitRow) value(t *tx) (parley.Wait, error) {
	w := &row.wait
	err := idsOf(map[*string][]byte{
		&w.ID: row.id, &w.Run: row.run, &w.Approval: row.approval, &w.Answer: row.answer,
		&w.Callback: row.callback, &w.Conversation: row.conv,
	})
	if err != nil {
		return *w, err
	}
	w.Message = idText(row.message) // the id may be damaged: the hub can still end the wait
	if err := t.nameAll(map[*string]sql.NullInt64{&w.Waiter: row.waiter, &w.Target: row.target}); err != nil {
		return *w, err
	}
	w.Ask, w.State, w.Task, w.AnswerTask, w.Node = row.ask != 0, parley.WaitState(row.state), taskID(row.task), taskID(row.work), row.node.String
	w.Since, w.Until, w.EndedAt = fromMillis(row.since), fromMillis(row.until), timeOrNil(row.ended)
	w.Failure, err = fromJSON[parley.Error]("the failure of wait "+w.ID, row.failure)
	return *w, err
}
