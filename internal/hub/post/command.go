package post

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

// Command tells an agent what to do, by a message in the DM of the caller and the agent. Owners and the agent's manager may command it.
func (s *Service) Command(ctx context.Context, caller unit.Caller, agent string, c parley.Command) (parley.Receipt, error) {
	payload, err := json.Marshal(c)
	if err != nil {
		return parley.Receipt{}, err
	}
	text := string(c.Action)
	if c.Parameters.Reason != "" {
		text += ": " + c.Parameters.Reason
	}
	return s.Post(ctx, caller, parley.Draft{
		Direct: []string{agent}, To: agent, Type: parley.TypeCommand, Content: parley.Content{Text: text}, Payload: payload,
	})
}

// decodeCommand reads the payload of a command. It refuses a payload with unknown keys, because the sender wants all of it obeyed.
func decodeCommand(payload json.RawMessage) (*parley.Command, error) {
	var (
		c     parley.Command
		parts struct {
			Parameters json.RawMessage `json:"parameters"`
		}
	)
	err := json.Unmarshal(payload, &c)
	if err == nil {
		err = json.Unmarshal(payload, &parts)
	}
	if err != nil {
		return nil, badCommand()
	}
	if !hasOnly(payload, "action", "parameters") || !hasOnly(parts.Parameters, "reason", "timeout_ms") {
		return nil, badCommand()
	}
	return &c, c.Check()
}

func badCommand() error {
	return parley.Errorf(parley.BadInput, "the payload is no command").
		Suggest(`give {"action": "pause", "parameters": {"reason": "…", "timeout_ms": 30000}}; the parameters may be left out`)
}

// hasOnly reports whether a JSON object has no other keys than these, with the same case. An empty text has none.
func hasOnly(raw json.RawMessage, keys ...string) bool {
	if len(raw) == 0 {
		return true
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil {
		return false
	}
	for key := range object {
		if !slices.Contains(keys, key) {
			return false
		}
	}
	return true
}

// resolvedCommand is a command with the agent that gets it.
type resolvedCommand struct {
	parley.Command
	agent parley.Agent
}

// resolveCommand finds the agent that a command is for. It refuses a command from anybody but an owner or the agent's manager. A health
// check that the agent itself has to answer gets a deadline.
func resolveCommand(u *unit.Unit, p Posting, m *parley.Message, where parley.Conversation) (*resolvedCommand, error) {
	target := m.To
	if others := m.Addressees(where); target == "" && where.FixedMembers() && len(others) == 1 {
		target = others[0]
	}
	if target == "" || target == parley.All {
		return nil, parley.Errorf(parley.BadInput, "the command names no agent").Suggest("name the agent in to")
	}
	a, err := agents.Agent(u, target)
	switch {
	case err != nil:
		return nil, err
	case a.Kind != parley.KindAgent:
		return nil, parley.Errorf(parley.BadInput, "%s is no agent", a.ID).Suggest("commands are for agents")
	case p.Source == unit.Bridged:
		return nil, parley.Errorf(parley.NotPermitted, "commands are not taken over a bridge").Suggest("use parley agent %s %s", p.command.Action, a.ID)
	case a.Manager != u.Me.ID && !u.SeesAll():
		return nil, parley.Errorf(parley.NotPermitted, "%s cannot command %s", u.Me.ID, a.ID).Suggest("ask its manager, or an owner of this hub")
	}
	if p.command.Action == parley.ActionHealthCheck && !a.Dispatched() {
		m.Deadline = unit.After(u.Now, p.command.Timeout())
	}
	return &resolvedCommand{*p.command, a}, nil
}

// executeCommand does what a command says. If the hub runs the agent, the hub acknowledges the delivery too, because the agent has
// nothing left to do.
func executeCommand(u *unit.Unit, o resolvedCommand, m parley.Message, list []parley.Delivery) error {
	detail := map[string]any{"message": m.ID, "reason": o.Parameters.Reason, "timeout_ms": o.Timeout().Milliseconds()}
	if err := access.Audit(u, "agent."+string(o.Action), o.agent.ID, detail); err != nil {
		return err
	}
	own := slices.IndexFunc(list, func(d parley.Delivery) bool { return d.Recipient == o.agent.ID })
	if o.agent.Dispatched() && own >= 0 {
		if err := deliveries.Move(u, &list[own], parley.DeliveryAcked, nil); err != nil {
			return err
		}
	}
	if o.Action == parley.ActionHealthCheck {
		return answerHealthCheck(u, o.agent, m)
	}
	return executeHalt(u, o)
}

// executeHalt pauses, resumes, stops or starts an agent. The open asks to a stopped agent fail.
func executeHalt(u *unit.Unit, o resolvedCommand) error {
	a := o.agent
	halt := &parley.Halt{At: u.Now, By: u.Me.ID, Reason: o.Parameters.Reason}
	if length := o.Timeout(); length > 0 {
		halt.Until = unit.After(u.Now, length)
	}
	switch o.Action {
	case parley.ActionPause:
		a.Paused = halt
	case parley.ActionResume:
		a.Paused = nil
	case parley.ActionStop:
		a.Stopped = halt
	case parley.ActionStart:
		a.Stopped = nil
	}
	if err := presence.ChangeHalt(u, a); err != nil || a.Stopped == nil {
		return err
	}
	return work.FailAsks(u, a, parley.Trouble{Failure: parley.FailureStopped, Reason: runs.WhyStopped})
}
