package store

import (
	"database/sql"
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/parley-hub/parley"
)

type approvals struct{ *tx }

func (s approvals) NextNumber() (int64, error) { return s.draw(&s.counters.approval, "approvals") }

func (s approvals) Insert(a parley.Approval) error {
	call, err := s.encodeCall(a)
	if err != nil {
		return err
	}
	changing, err := s.encode(a)
	if err != nil {
		return err
	}
	n, err := s.exec(`INSERT INTO approvals (id, agent, target, run, conv, woken_by, tool, args, digest, summary, rule, human, created_at,
			trace, hops, source, depth, number, state, task, decider, decided_by, outcome, expires_at, remind_at, next_at, decided_at, note, executed_at, result, failure)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26,
			$27, $28, $29, $30, $31) ON CONFLICT DO NOTHING`, append(call, changing...)...)
	return requireRow(n, err, parley.ErrTaken)
}

// encodeCall returns the columns of an approval that never change.
func (s approvals) encodeCall(a parley.Approval) ([]any, error) {
	id, err := uuid.Parse(a.ID)
	if err != nil {
		return nil, err
	}
	agent, err := s.agentNamed(a.Agent)
	if err != nil {
		return nil, err
	}
	target, err := s.nums(a.Target)
	if err != nil {
		return nil, err
	}
	keys, err := keysOf(a.Run, a.Conversation, a.Trigger)
	if err != nil {
		return nil, err
	}
	return []any{
		id[:], agent.num, target[0], keys[0], keys[1], keys[2], a.Call.Tool, string(a.Call.Args), a.Digest, a.Summary, a.Rule,
		flag(a.RequiresHuman), millis(a.CreatedAt), a.TraceID, a.Hops, a.Source, a.Depth,
		numberOrNull(a.Number),
	}, nil
}

// encode returns the columns of an approval that Put replaces.
func (s approvals) encode(a parley.Approval) ([]any, error) {
	deciders, err := s.nums(a.Decider, a.DecidedBy)
	if err != nil {
		return nil, err
	}
	outcome, err := uuidOrNull(a.Outcome)
	if err != nil {
		return nil, err
	}
	task, err := taskOrNull(a.Task)
	if err != nil {
		return nil, err
	}
	failure, err := jsonOrNull(a.Failure)
	return []any{
		string(a.State), task, deciders[0], deciders[1], outcome, millisOrNull(a.ExpiresAt), millisOrNull(a.RemindAt),
		millisOrNull(earlier(a.ExpiresAt, a.RemindAt)), millisOrNull(a.DecidedAt), textOrNull(a.Note), millisOrNull(a.ExecutedAt),
		textOrNull(a.Result), failure,
	}, err
}

// earlier returns the earlier of two times. Either may be nil.
func earlier(a, b *time.Time) *time.Time {
	if a == nil || b != nil && b.Before(*a) {
		return b
	}
	return a
}

func (s approvals) Get(id string) (parley.Approval, error) {
	key, err := uuid.Parse(id)
	if err != nil {
		return parley.Approval{}, parley.ErrNotFound
	}
	return onlyRecord(s.find("p.id = $1", key[:]))
}

func (s approvals) Put(a parley.Approval) error {
	key, err := uuid.Parse(a.ID)
	if err != nil {
		return parley.ErrNotFound
	}
	changing, err := s.encode(a)
	if err != nil {
		return err
	}
	n, err := s.exec(`UPDATE approvals SET state = $2, task = $3, decider = $4, decided_by = $5, outcome = $6, expires_at = $7,
			remind_at = $8, next_at = $9, decided_at = $10, note = $11, executed_at = $12, result = $13, failure = $14 WHERE id = $1`,
		append([]any{key[:]}, changing...)...)
	return requireRow(n, err, parley.ErrNotFound)
}

// openApproval is the condition for a pending or approved approval: its call may still be made.
const openApproval = "p.state IN ('pending', 'approved')"

func (s approvals) Pending(agent string) ([]parley.Approval, error) {
	row, err := s.agentNamed(agent)
	if err != nil {
		return nil, err
	}
	return s.read(briefApproval, "p.agent = $1 AND "+openApproval+" ORDER BY p.id", row.num)
}

func (s approvals) OldestPending() (map[string]string, error) {
	byNum := map[int64]string{}
	err := s.each("SELECT p.agent, p.id FROM approvals p WHERE "+openApproval+" ORDER BY p.agent, p.id DESC", nil, func(r Rows) error {
		var (
			agent int64
			id    []byte
		)
		err := r.Scan(&agent, &id)
		if err == nil {
			byNum[agent], err = uuidText(id)
		}
		return err
	})
	return byID(s.tx, byNum, err)
}

func (s approvals) InTask(task string) ([]parley.Approval, error) {
	num, err := taskNum(task)
	if err != nil {
		return nil, nil // no task has such an id
	}
	return s.read(briefApproval, "p.task = $1 AND "+openApproval+" ORDER BY p.id", num)
}

func (s approvals) List(f parley.ApprovalFilter, decider string, owner bool) ([]parley.Approval, error) {
	q := query{}
	q.add("1 = 1")
	if owner {
		decider = ""
	}
	for _, filter := range []struct{ participant, condition string }{{f.Agent, "AND p.agent = ?"}, {decider, "AND p.decider = ?"}} {
		if filter.participant == "" {
			continue
		}
		row, err := s.agentNamed(filter.participant)
		if missing, err := notFound(err); missing || err != nil {
			return nil, err
		}
		q.add(filter.condition, row.num)
	}
	switch f.State {
	case "":
	case parley.ApprovalPending: // pending approvals are few, and have an index
		q.add("AND p.state = 'pending'")
	default:
		q.add("AND p.state = ?", string(f.State))
	}
	if f.Before != "" {
		key, err := uuid.Parse(f.Before)
		if err != nil {
			return nil, nil // no approval has such an id
		}
		q.add("AND p.id < ?", key[:])
	}
	q.add("ORDER BY p.id DESC LIMIT 0 + ?", f.Limit)
	return readUpTo(s.tx, f.Limit, func(limit int) ([]parley.Approval, error) {
		q.args[len(q.args)-1] = limit
		return s.find(q.text.String(), q.args...)
	})
}

func (s approvals) Due(now time.Time, limit int) ([]parley.Approval, error) {
	return readUpTo(s.tx, limit, func(limit int) ([]parley.Approval, error) {
		return s.find("p.state = 'pending' AND p.next_at <= $1 ORDER BY p.next_at LIMIT 0 + $2", millis(now), limit)
	})
}

var approvalColumns = `p.id, p.state, p.agent, p.target, p.tool, p.args, p.digest, p.summary, p.rule, p.decider, p.human, p.created_at,
	p.expires_at, p.remind_at, p.decided_by, p.decided_at, p.note, p.executed_at, p.result, p.failure, ` + messageNamed("p.outcome") + `,
	p.run, ` + conversationNamed("p.conv") + ", p.task, " + messageNamed("p.woken_by") + ", p.trace, p.hops, p.source, p.depth, p.number"

// briefApproval is approvalColumns without the columns that may be long, because an agent may wait for hundreds of approvals.
var briefApproval = strings.NewReplacer("p.args", "'null'", "p.summary", "''").Replace(approvalColumns)

func (s approvals) find(where string, args ...any) ([]parley.Approval, error) {
	return s.read(approvalColumns, where, args...)
}

func (s approvals) read(columns, where string, args ...any) ([]parley.Approval, error) {
	return readAll(s.tx, func() *approvalRow { return &approvalRow{} }, "SELECT "+columns+" FROM approvals p WHERE "+where, args...)
}

// approvalRow is a row of approvals as it is read.
type approvalRow struct {
	approval                           parley.Approval
	id, outcome, run, conv, wokenBy    []byte
	state, args                        string
	agent, target, decider, decidedBy  sql.NullInt64
	task, number                       sql.NullInt64
	human                              int
	created                            int64
	expires, remind, decided, executed sql.NullInt64
	note, result, failure              sql.NullString
}

func (row *approvalRow) dest() []any {
	a := &row.approval
	return []any{
		&row.id, &row.state, &row.agent, &row.target, &a.Call.Tool, &row.args, &a.Digest, &a.Summary, &a.Rule, &row.decider, &row.human,
		&row.created, &row.expires, &row.remind, &row.decidedBy, &row.decided, &row.note, &row.executed, &row.result, &row.failure,
		&row.outcome, &row.run, &row.conv, &row.task, &row.wokenBy, &a.TraceID, &a.Hops, &a.Source, &a.Depth, &row.number,
	}
}

func (row *approvalRow) name() (what, id string) { return "approval", idText(row.id) }

func (row *approvalRow) value(t *tx) (parley.Approval, error) {
	a := &row.approval
	a.State, a.Call.Args, a.RequiresHuman, a.Task = parley.ApprovalState(row.state), json.RawMessage(row.args), row.human != 0, taskID(row.task)
	a.CreatedAt, a.ExpiresAt, a.RemindAt = fromMillis(row.created), timeOrNil(row.expires), timeOrNil(row.remind)
	a.Number = row.number.Int64
	a.DecidedAt, a.ExecutedAt, a.Note, a.Result = timeOrNil(row.decided), timeOrNil(row.executed), row.note.String, row.result.String
	err := idsOf(map[*string][]byte{
		&a.ID: row.id, &a.Outcome: row.outcome, &a.Run: row.run, &a.Conversation: row.conv, &a.Trigger: row.wokenBy,
	})
	if err != nil {
		return *a, err
	}
	if a.Failure, err = fromJSON[parley.Error]("the failure of approval "+a.ID, row.failure); err != nil {
		return *a, err
	}
	return *a, t.nameAll(map[*string]sql.NullInt64{
		&a.Agent: row.agent, &a.Target: row.target, &a.Decider: row.decider, &a.DecidedBy: row.decidedBy,
	})
}
