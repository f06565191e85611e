package post

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/access"
	"github.com/parley-hub/parley/internal/hub/agents"
	"github.com/parley-hub/parley/internal/hub/deliveries"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/runs"
	"github.com/parley-hub/parley/internal/hub/tasks"
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
	return parley.Errorf(parley.BadInput, "the payload is not a valid command").
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
		return nil, parley.Errorf(parley.BadInput, "%s is not an agent", a.ID).Suggest("name an agent")
	case p.Source == unit.SourceFile:
		return nil, parley.Errorf(parley.NotPermitted, "the hub obeys no commands from a bridge").Suggest("ask the manager of %s, or an owner of this hub, to send the command", a.ID)
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
		if err := deliveries.SetState(u, &list[own], parley.DeliveryAcked, nil); err != nil {
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

// answerHealthCheck answers a health check for an agent that the hub runs. Other agents answer it themselves.
func answerHealthCheck(u *unit.Unit, a parley.Agent, check parley.Message) error {
	if !a.Dispatched() {
		return nil
	}
	health, err := presence.ExamineHealth(u, a.ID)
	if err != nil {
		return err
	}
	if health, err = presence.SaveHealth(u, a.ID, health); err != nil {
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

// asksForStatus reports whether a draft is the request status.query of ClawOS, which the hub answers for the agent.
func asksForStatus(d parley.Draft) bool {
	var p struct {
		Action string `json:"action"`
	}
	return d.Type == parley.TypeRequest && json.Unmarshal(d.Payload, &p) == nil && p.Action == "status.query"
}

// queriedAgent returns the agent that a status query is for. There is none if the only recipient is a person.
func queriedAgent(u *unit.Unit, recipient string) (a parley.Agent, found bool, err error) {
	a, err = u.Agents().Find(recipient)
	return a, err == nil && a.Kind == parley.KindAgent, err
}

// leaveQueriedAsleep removes the wake from the agent that a status query is for, because the hub answers for it.
func leaveQueriedAsleep(u *unit.Unit, to []parley.NewDelivery) error {
	if len(to) != 1 {
		return nil
	}
	_, found, err := queriedAgent(u, to[0].Agent)
	to[0].Wakes = to[0].Wakes && !found
	return err
}

// openTask is a task in the answer to a status query.
type openTask struct {
	ID     string           `json:"id"`
	Title  string           `json:"title"`
	Status parley.TaskState `json:"status"`
}

// answerStatusQuery answers a status query for the agent that got it, with those of its tasks that the caller may see. named is the id of
// the request in the format it came in, by which its sender finds the answer.
func answerStatusQuery(u *unit.Unit, request parley.Message, recipient, named string) error {
	a, found, err := queriedAgent(u, recipient)
	if err != nil || !found {
		return err
	}
	live, err := u.Runs().Live(a.ID)
	if err != nil {
		return err
	}
	status, err := presence.StatusWith(u, a, len(live))
	if err != nil {
		return err
	}
	tasks, err := openTasksOf(u, a)
	if err != nil {
		return err
	}
	state, substate := status.State()
	payload, err := json.Marshal(map[string]any{
		"requestId": cmp.Or(named, request.ID), "status": "success",
		"result": map[string]any{"status": status.Status, "state": state, "substate": substate, "tasks": tasks},
	})
	if err != nil {
		return err
	}
	m, err := messages.PostUnsent(u, parley.Message{
		From: a.ID, To: u.Me.ID, Conversation: request.Conversation, TraceID: request.TraceID, InReplyTo: request.ID, Hops: request.Hops + 1,
		Type: parley.TypeResponse, Content: parley.Content{Text: a.Name + " is " + status.Status}, Payload: payload,
	}, parley.NewDelivery{Agent: u.Me.ID, Wakes: !u.Me.Dispatched()})
	if err != nil {
		return err
	}
	return work.Answer(u, &request, m, nil)
}

// openTasksOf returns the open tasks of an agent that the caller may see.
func openTasksOf(u *unit.Unit, a parley.Agent) ([]openTask, error) {
	list := []openTask{}
	all, err := u.Tasks().AssignedTo(a.ID)
	for _, t := range all {
		sees, err := tasks.SeesTask(u, t)
		if err != nil {
			return nil, err
		}
		if sees {
			list = append(list, openTask{t.ID, t.Title, t.Status})
		}
	}
	return list, err
}
