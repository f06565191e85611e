package hub_test

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// TestEventsOfWorkAreForThoseConcerned follows tasks, approvals and rules as everybody: live, and from the store.
func TestEventsOfWorkAreForThoseConcerned(t *testing.T) {
	w := newStartedHub(t)
	w.AddAgents("boss", "gendry", "hound")
	resultOf[parley.Agent](w)(w.AddAgent(ctx, user, parley.NewAgent{ID: "arya", Profile: parley.Profile{Manager: "boss"}}))
	followers := []string{parley.Owner, "boss", "arya", "gendry", "hound"}
	live := map[string]*hub.Subscription{}
	began := w.LastEventNumber()
	for _, who := range followers {
		live[who] = w.subscribeLive(who, began)
	}
	root := resultOf[parley.TaskView](w)(w.NewTask(ctx, as("boss"), parley.NewTask{Text: "prepare", Assignee: "arya"})).ID
	part := resultOf[parley.TaskView](w)(w.NewTask(ctx, as("arya"), parley.NewTask{Text: "draft", Assignee: "gendry", Parent: root})).ID
	approval := w.heldNotification("arya", "gendry")
	resultOf[parley.Permission](w)(w.Permit(ctx, user, parley.Permission{Agent: "arya", Target: "hound", Effect: parley.EffectDeny}))
	until := w.LastEventNumber()
	all := []string{root, part, approval, "permission of arya"}
	slices.Sort(all)
	for who, want := range map[string][]string{
		parley.Owner: all, "boss": {approval, root, part}, "arya": all, "gendry": {part}, "hound": {},
	} {
		slices.Sort(want)
		same(t, who+" live", aboutWork(readUntil(t, w.Hub, live[who], until)), want)
		same(t, who+" later", aboutWork(follow(t, w.Hub, as(who), began, until)), want)
	}
}

// subscribeLive subscribes a participant, and reads until the subscription is up to date.
func (w *fixture) subscribeLive(who string, after int64) *hub.Subscription {
	w.T.Helper()
	sub := subscribe(w.T, w.Hub, as(who), after)
	sub.Nudge()
	_, _, err := sub.Next(ctx)
	w.NoError(err)
	return sub
}

// heldNotification has a supervised agent send a notification, and returns the id of the approval that it needs.
func (w *fixture) heldNotification(from, to string) string {
	w.T.Helper()
	resultOf[parley.Agent](w)(w.ChangeAgent(ctx, user, from, func(a *parley.Agent) error {
		a.Mode = parley.ModeSupervised
		return nil
	}))
	_, err := w.Contact(ctx, as(from), parley.Contact{Pattern: parley.PatternNotify, Agent: to, Message: "It is done"})
	held, ok := errors.AsType[*parley.Held](err)
	if !ok {
		w.T.Fatalf("the call is not held: %v", err)
	}
	return held.Approval.ID
}

// aboutWork returns the tasks, approvals and rules that events are about, each once.
func aboutWork(list []parley.Event) []string {
	found := map[string]bool{}
	for _, e := range list {
		var about struct{ Task, Approval string }
		_ = json.Unmarshal(e.Data, &about) // some events have no data
		switch {
		case e.Kind.Within("task"):
			found[about.Task] = true
		case e.Kind.Within("approval"):
			found[about.Approval] = true
		case e.Kind == parley.EventPermission:
			found["permission of "+e.Agent] = true
		}
	}
	return append([]string{}, slices.Sorted(maps.Keys(found))...)
}
