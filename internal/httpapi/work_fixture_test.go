package httpapi_test

import (
	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// as is somebody as a door lets it call the hub.
func as(agent string) hub.Caller {
	return hub.Caller{Agent: agent, Source: "test", Scopes: parley.AllScopes()}
}

// setMode says how much an agent may do by itself.
func (w *servedHub) setMode(agent string, mode parley.Mode) {
	w.T.Helper()
	w.EditAgent(agent, func(a *parley.Agent) { a.Mode = mode })
}

// newTaskForArya is one that rickon has asked arya for.
func (w *servedHub) newTaskForArya(text string) string {
	w.T.Helper()
	t, err := w.NewTask(ctx, as("rickon"), parley.NewTask{Text: text, Assignee: "arya"})
	w.NoError(err)
	return t.ID
}

// notifySupervised is a notification of arya's to gendry that rickon, or an owner, has to approve.
func (w *servedHub) notifySupervised(message string) parley.Approval {
	w.T.Helper()
	w.setMode("arya", parley.ModeSupervised)
	defer w.setMode("arya", parley.ModeAutonomous)
	_, err := w.Contact(ctx, as("arya"), parley.Contact{Pattern: parley.PatternNotify, Agent: "gendry", Message: message})
	return w.HeldApproval(err)
}

// joinBridge is one for an agent of the same name.
func (w *servedHub) joinBridge(name string) string {
	w.T.Helper()
	made, err := w.AddBridge(ctx, user, parley.NewBridge{
		ID: name, Layout: parley.LayoutInbox, Root: "/srv/" + name, Agents: []string{name}, Outside: true,
	})
	w.NoError(err)
	return made.ID
}

// postForDeparture is what is to be written for the agent of a bridge.
func (w *servedHub) postForDeparture(name string) string {
	w.T.Helper()
	_, err := w.Post(ctx, as("gendry"), parley.Draft{Direct: []string{name}, Content: parley.Content{Text: "hello"}})
	w.NoError(err)
	list, err := w.BridgeAt(user).Departures(ctx, name, parley.DepartureQuery{})
	if w.NoError(err); len(list) != 1 {
		w.T.Fatalf("what is to depart: %v", list)
	}
	return list[0].ID
}
