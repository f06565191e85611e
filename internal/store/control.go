package store

import (
	"database/sql"
	"encoding/json"

	"github.com/parley-hub/parley"
)

// control says why an agent starts no runs, as it is stored.
type control struct {
	Paused  *parley.Halt `json:"paused,omitempty"`
	Stopped *parley.Halt `json:"stopped,omitempty"`
}

// encodeAgent returns the parts of an agent that are stored as JSON.
func encodeAgent(a parley.Agent) (profile string, halts sql.NullString, err error) {
	raw, err := json.Marshal(a.Profile)
	if err != nil || a.Paused == nil && a.Stopped == nil {
		return string(raw), halts, err
	}
	state, err := json.Marshal(control{a.Paused, a.Stopped})
	return string(raw), textOrNull(string(state)), err
}

func decodeHalts(raw []byte, a *parley.Agent) error {
	if raw == nil {
		return nil
	}
	var c control
	err := json.Unmarshal(raw, &c)
	a.Paused, a.Stopped = c.Paused, c.Stopped
	return err
}

// PutHealth does not raise the version of the agents, because the directory of agents does not contain their health.
func (s agents) PutHealth(id string, h parley.Health) error {
	row, err := s.agentNamed(id)
	if err != nil {
		return err
	}
	return s.write(`INSERT INTO agent_health (agent, health, metrics, uptime, at) VALUES ($1, $2, $3, $4, $5)
		ON CONFLICT (agent) DO UPDATE SET health = excluded.health, metrics = excluded.metrics, uptime = excluded.uptime, at = excluded.at`,
		row.num, h.Health, textOrNull(string(h.Metrics)), h.UptimeMS, millis(h.At))
}

func (s agents) Health(id string) (parley.Health, error) {
	row, err := s.agentNamed(id)
	if err != nil {
		return parley.Health{}, err
	}
	healths, err := s.healths(" WHERE h.agent = $1", row.num)
	health, said := healths[row.agent.ID]
	if err == nil && !said {
		err = parley.ErrNotFound
	}
	return health, err
}

func (s agents) Healths() (map[string]parley.Health, error) { return s.healths("") }

func (s agents) healths(where string, args ...any) (map[string]parley.Health, error) {
	healths := map[string]parley.Health{}
	err := s.each("SELECT a.id, h.health, h.metrics, h.uptime, h.at FROM agent_health h JOIN agents a ON a.num = h.agent"+where, args,
		func(r Rows) error {
			var (
				id      string
				h       parley.Health
				metrics []byte
				at      int64
			)
			err := r.Scan(&id, &h.Health, &metrics, &h.UptimeMS, &at)
			h.Metrics, h.At = metrics, fromMillis(at)
			healths[id] = h
			return err
		})
	return healths, err
}
