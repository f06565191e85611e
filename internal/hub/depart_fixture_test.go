package hub_test

import (
	"github.com/parley-hub/parley"
)

// joinTree adds a bridge to a tree of a layout, and the agents that live in the tree.
func (w *fixture) joinTree(l parley.Layout, id string, agents ...string) {
	w.T.Helper()
	resultOf[parley.BridgeView](w)(w.AddBridge(ctx, user, parley.NewBridge{ID: id, Layout: l, Root: "/srv/" + id, Agents: agents}))
}

// mapChannels sets the mapped channels of a bridge.
func (w *fixture) mapChannels(id string, names ...string) {
	w.T.Helper()
	resultOf[parley.BridgeView](w)(w.ChangeBridge(ctx, user, id, parley.BridgeChange{Channels: &names}))
}

func (w *fixture) pauseBridge(id string, paused bool) {
	w.T.Helper()
	resultOf[parley.BridgeView](w)(w.ChangeBridge(ctx, user, id, parley.BridgeChange{Paused: &paused}))
}

// departuresOf returns the departures of a bridge whose tree has directories for some channels.
func (w *fixture) departuresOf(id string, channels ...string) []parley.Departure {
	w.T.Helper()
	return resultOf[[]parley.Departure](w)(w.BridgeAt(user).Departures(ctx, id, parley.DepartureQuery{Channels: channels}))
}

// onlyDepartureOf returns the departure of a bridge, and requires that there is exactly one.
func (w *fixture) onlyDepartureOf(id string, channels ...string) parley.Departure {
	w.T.Helper()
	list := w.departuresOf(id, channels...)
	if len(list) != 1 {
		w.T.Fatalf("by %s depart %q, want one", id, namesOf(list))
	}
	return list[0]
}

// writtenDepartures returns the names of the files that were written into a tree and are, as far as the hub knows, still there.
func (w *fixture) writtenDepartures(id string) []string {
	w.T.Helper()
	return namesOf(resultOf[[]parley.Departure](w)(w.BridgeAt(user).Departures(ctx, id, parley.DepartureQuery{Written: true})))
}

func namesOf(list []parley.Departure) []string {
	names := []string{}
	for _, d := range list {
		names = append(names, d.Name)
	}
	return names
}

// wordsOf returns the texts of departures.
func wordsOf(list []parley.Departure) []string {
	words := []string{}
	for _, d := range list {
		words = append(words, d.Message.Content.Text)
	}
	return words
}

// reportDepartures reports a state of departures, as the bridge.
func (w *fixture) reportDepartures(id string, state parley.DepartureState, list ...parley.Departure) {
	w.T.Helper()
	var reports []parley.DepartureReport
	for _, d := range list {
		reports = append(reports, parley.DepartureReport{ID: d.ID, State: state})
	}
	w.NoError(w.BridgeAt(user).Report(ctx, id, reports))
}

// arriveFrom passes a document to the hub, as a bridge. It ends the test if the hub refuses the document.
func (w *fixture) arriveFrom(id string, a parley.Arrival) parley.Arrived {
	w.T.Helper()
	a.Path, a.At = "in/"+a.Name+".json", w.Clock.Now()
	got := resultOf[[]parley.Arrived](w)(w.BridgeAt(user).Arrive(ctx, id, []parley.Arrival{a}))[0]
	if got.Error != nil {
		w.T.Fatalf("%s was refused: %v", a.Name, got.Error)
	}
	return got
}
