package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"

	"github.com/parley-hub/parley"
)

// ReportHealth keeps what an agent says of itself, as the payload of a heartbeat does.
func (h *Hub) ReportHealth(ctx context.Context, caller Caller, health parley.Health) (parley.Health, error) {
	health, err := health.Check(h.config.Limits)
	if err != nil {
		return health, err
	}
	err = h.update(ctx, caller, opReportHealth, func(s *scene) error {
		if s.me.Kind != parley.KindAgent {
			return parley.Errorf(parley.BadInput, "%s is no agent", s.me.ID).Suggest("agents report their own health")
		}
		health, err = s.keepHealth(s.me.ID, health)
		return err
	})
	return health, err
}

// healthReport is the payload of a heartbeat.
type healthReport struct {
	Health   *string         `json:"health"`
	Metrics  json.RawMessage `json:"metrics"`
	UptimeMS int64           `json:"uptime_ms"`
}

// onlyBeats says whether a draft says nothing but how its sender is.
func onlyBeats(d parley.Draft) bool {
	if d.Type != parley.TypeHeartbeat || d.Content.Text+d.Content.Code != "" || len(d.Content.Artifacts)+len(d.Metadata) > 0 {
		return false
	}
	decoder := json.NewDecoder(bytes.NewReader(d.Payload))
	decoder.DisallowUnknownFields()
	return decoder.Decode(&healthReport{}) == nil
}

// decodeHealth reads what the payload of a heartbeat says of its sender's health, if it says anything.
func decodeHealth(payload json.RawMessage) (*parley.Health, error) {
	var says healthReport
	if len(payload) == 0 {
		return nil, nil
	}
	if err := json.Unmarshal(payload, &says); err != nil {
		return nil, parley.Errorf(parley.BadInput, "the payload is no health report").
			Suggest(`give {"health": "healthy", "metrics": {"active_tasks": 1}, "uptime_ms": 60000}`)
	}
	if says.Health == nil {
		return nil, nil
	}
	health, err := parley.Health{Health: *says.Health, Metrics: says.Metrics, UptimeMS: says.UptimeMS}.Check(parley.DefaultLimits())
	return &health, err
}

// keepHealth writes down what is said of an agent's health. Only a change is worth an event.
func (s *scene) keepHealth(id string, health parley.Health) (parley.Health, error) {
	health.At = s.now
	before, err := s.Agents().Health(id)
	if err != nil && !errors.Is(err, parley.ErrNotFound) {
		return health, err
	}
	if err := s.Agents().KeepHealth(id, health); err != nil || before.Health == health.Health {
		return health, err
	}
	data, err := json.Marshal(health)
	s.note(parley.Event{Kind: parley.EventAgentHealth, Agent: id, Data: data})
	return health, err
}

// answerCheck answers a health check for an agent that the hub runs. Others answer for themselves.
func (s *scene) answerCheck(a parley.Agent, check parley.Message) error {
	if !a.Dispatched() {
		return nil
	}
	health, err := s.examine(a.ID)
	if err != nil {
		return err
	}
	if health, err = s.keepHealth(a.ID, health); err != nil {
		return err
	}
	payload, err := json.Marshal(map[string]any{"health": health.Health, "metrics": health.Metrics, "uptime_ms": health.UptimeMS})
	if err != nil {
		return err
	}
	m, err := s.utter(parley.Message{
		From: a.ID, To: check.From, Conversation: check.Conversation, TraceID: check.TraceID, InReplyTo: check.ID, Hops: check.Hops + 1,
		Type: parley.TypeHeartbeat, Content: parley.Content{Text: health.Health}, Payload: payload,
	}, parley.Reach{Agent: check.From})
	if err != nil {
		return err
	}
	return s.answer(&check, m, nil)
}

// runsExamined are how many of its runs say how an agent is, and failuresTooMany how many of them in a row must
// have failed for it to be unhealthy.
const (
	runsExamined    = 16
	failuresTooMany = 3
)

// examine says how an agent is that the hub runs, by how its last runs went.
func (s *scene) examine(id string) (health parley.Health, err error) {
	runs, err := s.Runs().List(parley.RunFilter{Agent: id, Limit: runsExamined})
	if err != nil {
		return health, err
	}
	live, err := s.Runs().Live(id)
	if err != nil {
		return health, err
	}
	health = parley.Health{Health: healthOf(runs), UptimeMS: s.now.Sub(s.hub.started).Milliseconds()}
	health.Metrics, err = json.Marshal(map[string]int{"active_tasks": len(live)})
	return health, err
}

// healthOf judges by runs, the newest first. Those that go on or were cancelled say nothing.
func healthOf(runs []parley.Run) string {
	failed := 0
	for _, r := range runs {
		switch r.State {
		case parley.RunFailed, parley.RunLost:
			if failed++; failed == failuresTooMany {
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
