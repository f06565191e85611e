package hub_test

import (
	"testing"

	"github.com/parley-hub/parley"
)

func request(payload string) parley.Draft {
	return parley.Draft{Direct: []string{"ned"}, Type: parley.TypeRequest, Content: text("how many?"), Payload: []byte(payload)}
}

// A request may name a conversation that gets the response too, once, if its sender may write there.
func TestResponseIsCopied(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	w.AddScriptAgents("ned")
	w.CreateChannel("user", "results")
	asked := w.PostAs("arya", request(`{"action":"count","callback":"#results"}`))
	same(t, "notices", asked.Notices, []string{})
	w.EndRun(w.StartRun("ned"), "seven")
	w.ReplyAs("ned", asked.Message.ID, "no, eight")
	same(t, "copies", w.TextsIn("user", "results"), []string{"seven"})
	list, err := w.History(ctx, user, "results", parley.Page{})
	w.NoError(err)
	same(t, "from", []string{list[0].From, list[0].Source, list[0].TraceID}, []string{"parley", "callback", asked.Message.TraceID})
}

func TestEndOfTaskIsCopied(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya")
	w.AddScriptAgents("ned")
	w.CreateChannel("user", "results")
	w.PostAs("arya", request(`{"action":"task.assign","callback":"results"}`))
	w.EndRun(w.StartRun("ned"), "seven")
	same(t, "copies", len(w.TextsIn("user", "results")), 1)
	same(t, "text", w.TextsIn("user", "results")[0], "[Delegation Result from ned | task-1]\nseven")
}

// A file names it too, and may not write where its sender may not.
func TestCallbackGoesNowhereElse(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("ned")
	w.CreatePrivateChannel("user", "secret")
	b := w.joinBridge(parley.NewBridge{Layout: parley.LayoutBlackboard, Agents: []string{"ana"}})
	for callback, notices := range map[string]int{"secret": 1, "nowhere": 1, "parley.hub.results": 0} {
		a := b.document("ana", "ned", "how many?")
		a.Draft.Type, a.Callback = parley.TypeRequest, callback
		got := b.arrive(a)[0]
		same(t, "notices of "+callback, len(got.Notices), notices)
		same(t, "kept of "+callback, string(b.message(got.Message).Metadata), `{"callback":"`+callback+`"}`)
		w.EndRun(w.StartRun("ned"), "seven")
	}
	same(t, "secret", w.TextsIn("user", "secret"), []string{})
}
