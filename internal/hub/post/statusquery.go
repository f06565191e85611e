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

// asksForStatus says whether a draft is S1's request for how somebody is doing, which the hub answers.
func asksForStatus(d parley.Draft) bool {
	var p struct {
		Action string `json:"action"`
	}
	return d.Type == parley.TypeRequest && json.Unmarshal(d.Payload, &p) == nil && p.Action == "status.query"
}

// queriedAgent is the agent that a post asks for its status, if it asks one.
func queriedAgent(u *unit.Unit, p Posting, to []string) (a parley.Agent, asked bool, err error) {
	if !p.statusQuery || len(to) != 1 {
		return a, false, nil
	}
	a, err = u.Agents().Find(to[0])
	return a, err == nil && a.Kind == parley.KindAgent, err
}

// leaveQueriedAsleep keeps an agent from being woken for what the hub answers.
func leaveQueriedAsleep(u *unit.Unit, p Posting, to []parley.Reach) ([]parley.Reach, error) {
	if len(to) != 1 {
		return to, nil
	}
	_, asked, err := queriedAgent(u, p, []string{to[0].Agent})
	to[0].Wakes = to[0].Wakes && !asked
	return to, err
}

// openTask is a task as an answer to status.query has it.
type openTask struct {
	ID     string           `json:"id"`
	Title  string           `json:"title"`
	Status parley.TaskState `json:"status"`
}

// answerStatusQuery answers for an agent how it is doing, with those of its tasks that whoever asks may see. It is found by the
// id that the request has in its own format.
func answerStatusQuery(u *unit.Unit, a parley.Agent, request parley.Message, named string) error {
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
	m, err := messages.Utter(u, parley.Message{
		From: a.ID, To: u.Me.ID, Conversation: request.Conversation, TraceID: request.TraceID, InReplyTo: request.ID, Hops: request.Hops + 1,
		Type: parley.TypeResponse, Content: parley.Content{Text: a.Name + " is " + status.Status}, Payload: payload,
	}, parley.Reach{Agent: u.Me.ID, Wakes: !u.Me.Dispatched()})
	if err != nil {
		return err
	}
	return work.Answer(u, &request, m, nil)
}

func openTasksOf(u *unit.Unit, a parley.Agent) ([]openTask, error) {
	list := []openTask{}
	all, err := u.Tasks().Assigned(a.ID)
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
