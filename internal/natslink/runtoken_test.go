package natslink

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/hub"
	"github.com/parley-hub/parley/internal/hubtest"
)

// SPEC 7.4: the token of a run never works on NATS, whatever its runtime. The run goes on all the while.
func TestNoTokenOfARunWorksOnNATS(t *testing.T) {
	t.Parallel()
	b := newBroker(t)
	w := newLinkedHub(t, b)
	w.AddAgents("ned")
	_, err := w.AddAgent(ctx, hubtest.Owner, parley.NewAgent{ID: "arya", Profile: parley.Profile{Runtime: parley.RuntimeScript}})
	w.NoError(err)
	w.logged.await(t, "the hub takes messages from NATS")
	r := newReader(t, b)
	for _, kind := range []parley.TokenKind{parley.TokenRun, parley.TokenBearer, parley.TokenReply} {
		asked := w.postAs(parley.Owner, parley.Draft{Direct: []string{"arya"}, Ephemeral: true, Content: parley.Content{Text: "well?"}})
		run, err := w.NextRun(ctx, "arya", hub.RunOptions{Plan: func(parley.Agent) hub.RunPlan { return hub.RunPlan{Token: kind} }})
		w.NoError(err)
		for name, draft := range map[string]string{
			"a message": `{"direct":["ned"],"content":{"text":"stolen"}}`,
			"an answer": `{"in_reply_to":"` + asked.ID + `","content":{"text":"stolen"}}`,
		} {
			var got problem
			answer := r.request(withToken(run.Token, draft))
			w.NoError(json.Unmarshal(answer.Data, &got))
			if got.Code != parley.NotPermitted || got.Reason != parley.Unauthenticated || strings.Contains(string(answer.Data), run.Token) {
				t.Errorf("%s with a token of the kind %q: %s", name, kind, answer.Data)
			}
		}
		if _, err := w.IdentifyAt(ctx, run.Token, hub.Connection{Socket: true, Agent: "arya", Run: run.Run.ID}); err != nil {
			t.Errorf("in its own place the token is not good: %v", err)
		}
	}
	hits, err := w.Search(ctx, hubtest.Owner, parley.SearchRequest{Query: "stolen"})
	w.NoError(err)
	if len(hits.Hits) != 0 {
		t.Errorf("%d messages were stored", len(hits.Hits))
	}
}
