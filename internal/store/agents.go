package store

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/parley-hub/parley"
)

type agents struct{ *tx }

const agentColumns = `a.num, a.id, a.uuid, a.name, a.kind, a.access, a.created_at, a.updated_at, a.removed_at, a.sleeping_until,
	a.profile, a.control`

func (s agents) Find(name string) (parley.Agent, error) {
	row, err := s.agentNamed(name)
	if err != nil {
		return parley.Agent{}, err
	}
	return cloneAgent(row.agent), nil
}

// cloneAgent copies an agent, so that the caller may change it. The directory keeps the original.
func cloneAgent(a parley.Agent) parley.Agent {
	a.Skills, a.Protocols = slices.Clone(a.Skills), slices.Clone(a.Protocols)
	a.RuntimeConfig = slices.Clone(a.RuntimeConfig)
	a.RemovedAt, a.SleepingUntil = cloneTime(a.RemovedAt), cloneTime(a.SleepingUntil)
	a.Paused, a.Stopped = cloneHalt(a.Paused), cloneHalt(a.Stopped)
	return a
}

func cloneHalt(h *parley.Halt) *parley.Halt {
	if h == nil {
		return nil
	}
	c := *h
	c.Until = cloneTime(h.Until)
	return &c
}

func cloneTime(t *time.Time) *time.Time {
	if t == nil {
		return nil
	}
	c := *t
	return &c
}

func (s agents) List() ([]parley.Agent, error) {
	var list []parley.Agent
	err := s.each("SELECT "+agentColumns+" FROM agents a ORDER BY a.num", nil, func(r Rows) error {
		row, err := scanAgent(r)
		if err == nil {
			list = append(list, row.agent)
		}
		return err
	})
	return list, err
}

func (s agents) Names() ([]string, error) {
	var names []string
	err := s.each("SELECT id, name FROM agents WHERE removed_at IS NULL AND kind <> 'system' ORDER BY num", nil, func(r Rows) error {
		var id, name string
		err := r.Scan(&id, &name)
		if names = append(names, id); parley.Fold(name) != id {
			names = append(names, name)
		}
		return err
	})
	return names, err
}

func (s agents) HasReports(id string) (bool, error) {
	dir, err := s.dir()
	if err != nil {
		return false, err
	}
	bosses := dir.managers.Load()
	if bosses == nil {
		list, err := s.List()
		if err != nil {
			return false, err
		}
		bosses = &map[string]bool{}
		for _, a := range list {
			if a.RemovedAt == nil && a.Manager != "" {
				(*bosses)[a.Manager] = true
			}
		}
		dir.managers.Store(bosses)
	}
	return (*bosses)[id], nil
}

func (s agents) Insert(a parley.Agent) error {
	version, err := s.agentsVersion()
	if err != nil {
		return err
	}
	profile, control, err := encodeAgent(a)
	if err != nil {
		return err
	}
	num := version + 1 // each version changed one agent, so no agent has this number yet
	names, err := s.freeNames(num, a)
	if err != nil {
		return err
	}
	err = s.write(`INSERT INTO agents (num, id, uuid, name, kind, access, created_at, updated_at, removed_at, sleeping_until, profile, control)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
		num, a.ID, a.UUID, a.Name, string(a.Kind), string(a.Access),
		millis(a.CreatedAt), millis(a.UpdatedAt), millisOrNull(a.RemovedAt), millisOrNull(a.SleepingUntil), profile, control)
	if err != nil {
		return err
	}
	if err := s.takeNames(num, names); err != nil {
		return err
	}
	s.agentsChanged()
	return nil
}

func (s agents) Put(a parley.Agent) error {
	row, err := s.agentNamed(a.ID)
	if err != nil {
		return err
	}
	if row.agent.ID != a.ID {
		return parley.ErrNotFound // the id is another name of this agent
	}
	profile, control, err := encodeAgent(a)
	if err != nil {
		return err
	}
	if parley.Fold(row.agent.Name) != parley.Fold(a.Name) {
		renamed := row.agent
		renamed.Name = a.Name
		names, err := s.freeNames(row.num, renamed)
		if err != nil {
			return err
		}
		if err := s.write("DELETE FROM names WHERE agent = $1", row.num); err != nil {
			return err
		}
		if err := s.takeNames(row.num, names); err != nil {
			return err
		}
	}
	err = s.write(`UPDATE agents SET name = $2, access = $3, updated_at = $4, removed_at = $5, sleeping_until = $6,
			profile = $7, control = $8 WHERE num = $1`,
		row.num, a.Name, string(a.Access), millis(a.UpdatedAt), millisOrNull(a.RemovedAt), millisOrNull(a.SleepingUntil), profile, control)
	if err != nil {
		return err
	}
	s.agentsChanged()
	return nil
}

func (s agents) Retire(id, newID, newName string) error {
	row, err := s.agentNamed(id)
	if err != nil {
		return err
	}
	if row.agent.ID != id {
		return parley.ErrNotFound // the id is another name of this agent
	}
	retired := row.agent
	retired.ID, retired.Name = newID, newName
	names, err := s.freeNames(row.num, retired)
	if err != nil {
		return err
	}
	if err := s.write("DELETE FROM names WHERE agent = $1", row.num); err != nil {
		return err
	}
	if err := s.takeNames(row.num, names); err != nil {
		return err
	}
	if err := s.write("UPDATE agents SET id = $2, name = $3 WHERE num = $1", row.num, newID, newName); err != nil {
		return err
	}
	s.agentsChanged()
	return s.renameInSets(row.num, id, newID)
}

// renameInSets replaces an id in the sets of members of the agent's conversations.
func (s agents) renameInSets(num int64, id, newID string) error {
	sets := map[int64]string{}
	err := s.each("SELECT c.num, c.members FROM participants p JOIN conversations c ON c.num = p.conv WHERE p.agent = $1 AND c.members IS NOT NULL",
		[]any{num}, func(r Rows) error {
			var (
				conv int64
				set  string
			)
			err := r.Scan(&conv, &set)
			ids := strings.Split(set, ",")
			for i := range ids {
				if ids[i] == id {
					ids[i] = newID
				}
			}
			sets[conv] = parley.MemberSetKey(ids)
			return err
		})
	for conv, set := range sets {
		if err == nil {
			err = s.write("UPDATE conversations SET members = $2 WHERE num = $1", conv, set)
		}
	}
	return err
}

// freeNames returns the folded id, uuid and name of an agent, and ErrTaken if one of them belongs to another agent. The caller
// checks them before it writes anything, so that the update may continue after the error.
func (s agents) freeNames(num int64, a parley.Agent) ([]string, error) {
	names := []string{parley.Fold(a.ID), parley.Fold(a.UUID), parley.Fold(a.Name)}
	slices.Sort(names)
	names = slices.Compact(names)
	for _, name := range names {
		var owner int64
		err := s.row("SELECT agent FROM names WHERE folded = $1", []any{name}, []any{&owner})
		if free, err := notFound(err); err != nil {
			return nil, err
		} else if !free && owner != num {
			return nil, fmt.Errorf("the name %q: %w", name, parley.ErrTaken)
		}
	}
	return names, nil
}

func (s agents) takeNames(num int64, names []string) error {
	for _, name := range names {
		n, err := s.exec("INSERT INTO names (folded, agent) VALUES ($1, $2) ON CONFLICT DO NOTHING", name, num)
		if err := requireRow(n, err, parley.ErrTaken); err != nil {
			return fmt.Errorf("the name %q: %w", name, err)
		}
	}
	return nil
}

// agentsChanged raises the version of the agents. The caller must have read the version before, for example by looking up an
// agent.
func (t *tx) agentsChanged() {
	t.counters.version++
	t.counters.verChanged = true
	t.own = newDirectory(t.counters.version)
}

func (t *tx) agentNamed(name string) (*agentRow, error) {
	if !canBeName(name) {
		return nil, parley.ErrNotFound
	}
	folded := parley.Fold(name)
	dir, err := t.dir()
	if err != nil {
		return nil, err
	}
	if row, ok := dir.byName.Load(folded); ok {
		return row.(*agentRow), nil
	}
	return t.agentWhere(dir, "JOIN names n ON n.agent = a.num WHERE n.folded = $1", folded)
}

// canBeName reports whether a text can be a name at all. The check is cheap; folding a long text is not. PostgreSQL rejects text
// that is not UTF-8 or contains NUL.
func canBeName(name string) bool {
	return len(name) <= parley.MaxNameBytes && utf8.ValidString(name) && !strings.Contains(name, "\x00")
}

func (t *tx) agentNumbered(num int64) (*agentRow, error) {
	dir, err := t.dir()
	if err != nil {
		return nil, err
	}
	if row, ok := dir.byNum.Load(num); ok {
		return row.(*agentRow), nil
	}
	return t.agentWhere(dir, "WHERE a.num = $1", num)
}

func (t *tx) agentWhere(dir *directory, where string, arg any) (*agentRow, error) {
	var row *agentRow
	err := t.each("SELECT "+agentColumns+" FROM agents a "+where, []any{arg}, func(r Rows) (err error) {
		row, err = scanAgent(r)
		return err
	})
	if err != nil {
		return nil, err
	}
	if row == nil {
		return nil, parley.ErrNotFound
	}
	dir.byNum.Store(row.num, row)
	for _, name := range []string{row.agent.ID, row.agent.UUID, row.agent.Name} {
		dir.byName.Store(parley.Fold(name), row)
	}
	return row, nil
}

func scanAgent(r Rows) (*agentRow, error) {
	var (
		row              agentRow
		kind, access     string
		created, updated int64
		removed, asleep  sql.NullInt64
		profile, control []byte
	)
	a := &row.agent
	if err := r.Scan(&row.num, &a.ID, &a.UUID, &a.Name, &kind, &access, &created, &updated, &removed, &asleep, &profile, &control); err != nil {
		return nil, err
	}
	a.Kind, a.Access = parley.Kind(kind), parley.Access(access)
	a.CreatedAt, a.UpdatedAt, a.RemovedAt = fromMillis(created), fromMillis(updated), timeOrNil(removed)
	a.SleepingUntil = timeOrNil(asleep)
	if err := json.Unmarshal(profile, &a.Profile); err != nil {
		return nil, fmt.Errorf("the profile of agent %s: %w", a.ID, err)
	}
	if err := decodeHalts(control, a); err != nil {
		return nil, fmt.Errorf("the control of agent %s: %w", a.ID, err)
	}
	return &row, nil
}
