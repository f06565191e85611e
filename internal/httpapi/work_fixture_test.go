package httpapi_test

import (
	"errors"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// as is somebody as a door lets it call the hub.
func as(agent string) hub.Caller {
	return hub.Caller{Agent: agent, Source: "test", Scopes: parley.AllScopes()}
}

// mode says how much an agent may do by itself.
func (w *world) mode(agent string, mode parley.Mode) {
	w.t.Helper()
	_, err := w.ChangeAgent(ctx, user, agent, func(a *parley.Agent) error {
		a.Mode = mode
		return nil
	})
	w.ok(err)
}

// task is one that rickon has asked arya for.
func (w *world) task(text string) string {
	w.t.Helper()
	t, err := w.NewTask(ctx, as("rickon"), parley.NewTask{Text: text, Assignee: "arya"})
	w.ok(err)
	return t.ID
}

// heldCall is a notification of arya's to gendry that rickon, or an owner, has to approve.
func (w *world) heldCall(message string) parley.Approval {
	w.t.Helper()
	w.mode("arya", parley.ModeSupervised)
	defer w.mode("arya", parley.ModeAutonomous)
	_, err := w.Contact(ctx, as("arya"), parley.Contact{Pattern: parley.PatternNotify, Agent: "gendry", Message: message})
	held, ok := errors.AsType[*parley.Held](err)
	if !ok {
		w.t.Fatalf("the call is not held: %v", err)
	}
	return held.Approval
}
