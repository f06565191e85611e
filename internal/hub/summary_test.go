package hub_test

import (
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/parley-hub/parley"
)

func TestSummariesAreOnlyOfActiveAgents(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddScriptAgents("bot", "idle")
	w.AddAgents("arya")
	after := w.LastEventNumber()
	summaries := func(what string, want ...string) {
		t.Helper()
		w.NoError(w.SweepSummaries(ctx))
		got := []string{}
		for _, e := range eventsAfter(w, after) {
			if e.Kind != parley.EventAgentSummary {
				continue
			}
			var says struct {
				Status      string
				Inbox       parley.Inbox
				LiveRuns    int                         `json:"live_runs"`
				LastFailure *struct{ Code parley.Code } `json:"last_failure"`
			}
			w.NoError(json.Unmarshal(e.Data, &says))
			line := fmt.Sprintf("%s %s %d waiting, %d live", e.Agent, says.Status, says.Inbox.Waking, says.LiveRuns)
			if says.LastFailure != nil {
				line += ", failed: " + string(says.LastFailure.Code)
			}
			got = append(got, line)
		}
		after = w.LastEventNumber()
		same(t, what, got, want)
	}
	summaries("nobody did anything")
	w.SendDM("user", "bot", "work")
	run := w.StartRun("bot")
	w.SendDM("user", "bot", "more")
	w.Clock.Advance(15*time.Minute - time.Millisecond)
	summaries("not yet")
	w.Clock.Advance(time.Millisecond)
	summaries("who works", "bot working 2 waiting, 1 live")
	w.Clock.Advance(15 * time.Minute)
	summaries("nothing has changed since")
	w.FailRunWith(run, parley.FailureFinal)
	summaries("a failure, at once", "bot idle 1 waiting, 0 live, failed: E004")
	resultOf[[]parley.Agent](w)(w.Agents(ctx, as("arya")))
	w.NoError(w.SweepAttendance(ctx))
	w.Clock.Advance(15 * time.Minute)
	w.NoError(w.SweepAttendance(ctx))
	summaries("who came and went", "arya offline 0 waiting, 0 live", "bot idle 1 waiting, 0 live, failed: E004")
}
