package presence

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/parley-hub/parley/internal/hub/agents"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/unit"
)

// ReportHealth stores what an agent says about its own health, like the payload of a heartbeat does.
func (s *Service) ReportHealth(ctx context.Context, caller unit.Caller, health parley.Health) (parley.Health, error) {
	health, err := health.Check(s.Config.Limits)
	if err != nil {
		return health, err
	}
	err = s.Update(ctx, caller, unit.OpReportHealth, func(u *unit.Unit) error {
		if u.Me.Kind != parley.KindAgent {
			return parley.Errorf(parley.BadInput, "%s is not an agent", u.Me.ID).Suggest("agents report their own health")
		}
		health, err = SaveHealth(u, u.Me.ID, health)
		return err
	})
	return health, err
}

// heartbeatPayload is the payload of a heartbeat.
type heartbeatPayload struct {
	Health   *string         `json:"health"`
	Metrics  json.RawMessage `json:"metrics"`
	UptimeMS int64           `json:"uptime_ms"`
}

// IsOnlyHealth reports whether a draft says nothing but the health of its sender.
func IsOnlyHealth(d parley.Draft) bool {
	if d.Type != parley.TypeHeartbeat || d.Content.Text+d.Content.Code != "" || len(d.Content.Artifacts)+len(d.Metadata) > 0 {
		return false
	}
	decoder := json.NewDecoder(bytes.NewReader(d.Payload))
	decoder.DisallowUnknownFields()
	return decoder.Decode(&heartbeatPayload{}) == nil
}

// DecodeHealth reads the payload of a heartbeat. It returns nil if the payload says nothing about health, and E003 if it is not valid.
func DecodeHealth(payload json.RawMessage) (*parley.Health, error) {
	var beat heartbeatPayload
	if len(payload) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(payload, &beat); err != nil {
		return nil, parley.Errorf(parley.BadInput, "the payload is not a health report").
			Suggest(`give {"health": "healthy", "metrics": {"active_tasks": 1}, "uptime_ms": 60000}`)
	}
	if beat.Health == nil {
		return nil, nil
	}
	health, err := parley.Health{Health: *beat.Health, Metrics: beat.Metrics, UptimeMS: beat.UptimeMS}.Check(parley.DefaultLimits())
	return &health, err
}

// SaveHealth stores the health of an agent, and writes an event if it has changed.
func SaveHealth(u *unit.Unit, id string, health parley.Health) (parley.Health, error) {
	health.At = u.Now
	before, err := u.Agents().Health(id)
	if err != nil && !errors.Is(err, parley.ErrNotFound) {
		return health, err
	}
	if err := agents.SaveHealth(u.Tx, id, health); err != nil || before.Health == health.Health {
		return health, err
	}
	data, err := json.Marshal(health)
	u.Note(parley.Event{Kind: parley.EventAgentHealth, Agent: id, Data: data})
	return health, err
}

// The hub judges the health of an agent by its last examinedRuns runs. After unhealthyAfter failures in a row, the agent is
// unhealthy.
const (
	examinedRuns   = 16
	unhealthyAfter = 3
)

// ExamineHealth returns the health of an agent that the hub runs, judged by its last runs.
func ExamineHealth(u *unit.Unit, id string) (health parley.Health, err error) {
	runs, err := u.Runs().List(parley.RunFilter{Agent: id, Limit: examinedRuns})
	if err != nil {
		return health, err
	}
	live, err := u.Runs().Live(id)
	if err != nil {
		return health, err
	}
	health = parley.Health{Health: healthOf(runs), UptimeMS: u.Now.Sub(u.Core.Started).Milliseconds()}
	health.Metrics, err = json.Marshal(map[string]int{"active_tasks": len(live)})
	return health, err
}

// healthOf judges the health of an agent by its runs, the newest first. Live and cancelled runs say nothing.
func healthOf(runs []parley.Run) string {
	failed := 0
	for _, r := range runs {
		switch r.State {
		case parley.RunFailed, parley.RunLost:
			if failed++; failed == unhealthyAfter {
				return parley.Unhealthy
			}
		case parley.RunSucceeded:
			if failed > 0 {
				return parley.Degraded
			}
			return parley.Healthy
		}
	}
	if failed > 0 {
		return parley.Degraded
	}
	return parley.Healthy
}
