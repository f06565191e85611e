package hub_test

import (
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
)

// What the token of a run is good for depends on its kind and on where it is used from.
func TestRunTokenByKindAndPlace(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("codex")
	own := func(run string) hub.Connection { return hub.Connection{Socket: true, Agent: "codex", Run: run} }
	other := func(string) hub.Connection { return hub.Connection{Socket: true, Agent: "codex", Run: "another"} }
	tcp := func(string) hub.Connection { return hub.Connection{TCP: true} }
	nats := func(string) hub.Connection { return hub.Connection{} }
	for kind, good := range map[parley.TokenKind][4]bool{
		parley.TokenRun: {true, false, false, false}, parley.TokenBearer: {true, false, true, false}, parley.TokenReply: {true, true, true, false},
	} {
		w.PostAs("user", parley.Draft{Direct: []string{"codex"}, Ephemeral: true})
		a := resultOf[*hub.Assignment](w)(w.NextRun(ctx, "codex", hub.RunOptions{Plan: func(parley.Agent) hub.RunPlan {
			return hub.RunPlan{Token: kind}
		}}))
		for i, from := range []func(string) hub.Connection{own, other, tcp, nats} {
			_, err := w.IdentifyAt(ctx, a.Token, from(a.Run.ID))
			if (err == nil) != good[i] || err != nil && parley.AsError(err).Reason != parley.Unauthenticated {
				t.Errorf("%s from place %d: %v", kind, i, err)
			}
		}
		w.EndRun(a, "done")
		for _, from := range []func(string) hub.Connection{own, tcp} {
			_, err := w.IdentifyAt(ctx, a.Token, from(a.Run.ID))
			same(t, "after the run", parley.AsError(err).Reason, parley.Unauthenticated)
		}
	}
}
