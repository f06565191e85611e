package store

import (
	"database/sql"

	"github.com/parley-hub/parley"
)

type permissions struct{ *tx }

// toAnyone is the target of a rule for everybody. No agent has this number.
const toAnyone = 0

func (s permissions) Put(p parley.Permission) error {
	agent, target, err := s.pair(p.Agent, p.Target)
	if err != nil {
		return err
	}
	maker, err := s.agentNamed(p.CreatedBy)
	if err != nil {
		return err
	}
	return s.write(`INSERT INTO permissions (agent, target, effect, approval, human, created_by, created_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7) ON CONFLICT (agent, target, effect) DO UPDATE
		SET approval = excluded.approval, human = excluded.human, created_by = excluded.created_by, created_at = excluded.created_at`,
		agent, target, string(p.Effect), flag(p.RequiresApproval), flag(p.RequiresHuman), maker.num, millis(p.CreatedAt))
}

// pair returns the numbers of the agent and the target of a rule.
func (s permissions) pair(agent, target string) (from, to int64, err error) {
	row, err := s.agentNamed(agent)
	if err != nil {
		return 0, 0, err
	}
	if target == parley.Anyone {
		return row.num, toAnyone, nil
	}
	other, err := s.agentNamed(target)
	if err != nil {
		return 0, 0, err
	}
	return row.num, other.num, nil
}

func (s permissions) Remove(agent, target string, effect parley.Effect) error {
	from, to, err := s.pair(agent, target)
	if err != nil {
		return err
	}
	n, err := s.exec("DELETE FROM permissions WHERE agent = $1 AND target = $2 AND effect = $3", from, to, string(effect))
	return requireRow(n, err, parley.ErrNotFound)
}

func (s permissions) OfAgent(agent string) ([]parley.Permission, error) {
	row, err := s.agentNamed(agent)
	if err != nil {
		return nil, err
	}
	return s.find("WHERE p.agent = $1 "+ruleOrder, row.num)
}

func (s permissions) List() ([]parley.Permission, error) { return s.find(ruleOrder) }

// ruleOrder sorts rules for everybody last, and deny before allow.
const ruleOrder = "ORDER BY p.agent, CASE WHEN p.target = 0 THEN 1 ELSE 0 END, p.target, p.effect DESC"

func (s permissions) find(rest string, args ...any) ([]parley.Permission, error) {
	return readAll(s.tx, func() *permissionRow { return &permissionRow{} },
		"SELECT p.agent, p.target, p.effect, p.approval, p.human, p.created_by, p.created_at FROM permissions p "+rest, args...)
}

// permissionRow is a row of permissions as it is read.
type permissionRow struct {
	agent, target, maker sql.NullInt64
	effect               string
	approval, human      int
	created              int64
}

func (row *permissionRow) dest() []any {
	return []any{&row.agent, &row.target, &row.effect, &row.approval, &row.human, &row.maker, &row.created}
}

func (row *permissionRow) value(t *tx) (parley.Permission, error) {
	p := parley.Permission{
		Target: parley.Anyone, Effect: parley.Effect(row.effect), RequiresApproval: row.approval != 0,
		RequiresHuman: row.human != 0, CreatedAt: fromMillis(row.created),
	}
	named := map[*string]sql.NullInt64{&p.Agent: row.agent, &p.CreatedBy: row.maker}
	if row.target.Int64 != toAnyone {
		named[&p.Target] = row.target
	}
	return p, t.nameAll(named)
}
