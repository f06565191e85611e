package post

import (
	"cmp"
	"encoding/json"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub/messages"
	"github.com/parley-hub/parley/internal/hub/presence"
	"github.com/parley-hub/parley/internal/hub/tasks"
	"github.com/parley-hub/parley/internal/hub/unit"
	"github.com/parley-hub/parley/internal/hub/work"
)

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
