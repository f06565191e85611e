package post

import (
	"encoding/json"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// answerHealthCheck answers a health check for an agent that the hub runs. Other agents answer it themselves.
func answerHealthCheck(u *unit.Unit, a parley.Agent, check parley.Message) error {
	if !a.Dispatched() {
		return nil
	}
	health, err := presence.ExamineHealth(u, a.ID)
	if err != nil {
		return err
	}
	if health, err = presence.KeepHealth(u, a.ID, health); err != nil {
		return err
	}
	payload, err := json.Marshal(map[string]any{"health": health.Health, "metrics": health.Metrics, "uptime_ms": health.UptimeMS})
	if err != nil {
		return err
	}
	m, err := messages.PostUnsent(u, parley.Message{
		From: a.ID, To: check.From, Conversation: check.Conversation, TraceID: check.TraceID, InReplyTo: check.ID, Hops: check.Hops + 1,
		Type: parley.TypeHeartbeat, Content: parley.Content{Text: health.Health}, Payload: payload,
	}, parley.NewDelivery{Agent: check.From})
	if err != nil {
		return err
	}
	return work.Answer(u, &check, m, nil)
}
