package hub_test

import (
	"github.com/parley-hub/parley"
)

// joinTree joins a tree of a layout to the hub, in which agents live.
func (w *fixture) joinTree(l parley.Layout, id string, agents ...string) {
	w.T.Helper()
	resultOf[parley.BridgeView](w)(w.AddBridge(ctx, user, parley.NewBridge{ID: id, Layout: l, Root: "/srv/" + id, Agents: agents}))
}

// mapChannels says which channels of a tree are mapped.
func (w *fixture) mapChannels(id string, names ...string) {
	w.T.Helper()
	resultOf[parley.BridgeView](w)(w.ChangeBridge(ctx, user, id, parley.BridgeChange{Channels: &names}))
}

func (w *fixture) pauseBridge(id string, paused bool) {
	w.T.Helper()
	resultOf[parley.BridgeView](w)(w.ChangeBridge(ctx, user, id, parley.BridgeChange{Paused: &paused}))
}

// departuresOf is what is to be written into a tree that has directories for some channels.
func (w *fixture) departuresOf(id string, channels ...string) []parley.Departure {
	w.T.Helper()
	return resultOf[[]parley.Departure](w)(w.BridgeAt(user).Departures(ctx, id, parley.DepartureQuery{Channels: channels}))
}

// onlyDepartureOf requires that there is just one.
func (w *fixture) onlyDepartureOf(id string, channels ...string) parley.Departure {
	w.T.Helper()
	list := w.departuresOf(id, channels...)
	if len(list) != 1 {
		w.T.Fatalf("by %s depart %q, want one", id, namesOf(list))
	}
	return list[0]
}

// writtenDepartures is what was written into a tree and is not known to be gone, as names.
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

// wordsOf are what departures say.
func wordsOf(list []parley.Departure) []string {
	words := []string{}
	for _, d := range list {
		words = append(words, d.Message.Content.Text)
	}
	return words
}

// reportDepartures says what became of departures.
func (w *fixture) reportDepartures(id string, state parley.DepartureState, list ...parley.Departure) {
	w.T.Helper()
	var reports []parley.DepartureReport
	for _, d := range list {
		reports = append(reports, parley.DepartureReport{ID: d.ID, State: state})
	}
	w.NoError(w.BridgeAt(user).Report(ctx, id, reports))
}

// arriveFrom is a document from a tree.
func (w *fixture) arriveFrom(id string, a parley.Arrival) parley.Arrived {
	w.T.Helper()
	a.Path, a.At = "in/"+a.Name+".json", w.Clock.Now()
	got := resultOf[[]parley.Arrived](w)(w.BridgeAt(user).Arrive(ctx, id, []parley.Arrival{a}))[0]
	if got.Error != nil {
		w.T.Fatalf("%s was refused: %v", a.Name, got.Error)
	}
	return got
}
