package hub_test

import (
	"testing"

	"github.com/parley-hub/parley"
)

func TestProtocolsOfAgents(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "gendry", "hound")
	w.EditAgent("arya", func(a *parley.Agent) { a.Protocols = []string{"routing/1.4.0", "clawos/2.0", "smoke signals"} })
	resultOf[parley.BridgeView](w)(w.AddBridge(ctx, user, parley.NewBridge{
		Layout: parley.LayoutInbox, Root: t.TempDir(), Agents: []string{"coder-1", "gendry"},
	}))
	spoken := resultOf[parley.Spoken](w)(w.Protocols(ctx, as("hound")))
	s3 := parley.Protocol{Name: "routing", Version: "1.0.0"}
	same(t, "the hub", spoken.Protocols, parley.Protocols())
	same(t, "agents", spoken.Agents, []parley.Speaker{
		{Agent: "arya", Protocols: []parley.Protocol{{Name: "routing", Version: "1.4.0"}, {Name: "clawos", Version: "2.0"}}, Common: []parley.Protocol{s3}},
		{Agent: "coder-1", Protocols: []parley.Protocol{s3}, Common: []parley.Protocol{s3}},
	})
	same(t, "shown", resultOf[parley.AgentView](w)(w.AgentView(ctx, user, "coder-1")).Protocols, []string{"routing/1.0.0"})
	same(t, "as its profile has it", resultOf[parley.AgentView](w)(w.AgentView(ctx, user, "arya")).Protocols, []string{"routing/1.4.0", "clawos/2.0", "smoke signals"})
}

func TestPayloadsOfTheFormatsAreChecked(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	w.AddAgents("arya", "ned")
	for name, c := range map[string]struct {
		kind    parley.Type
		payload string
		issues  []string
	}{
		"S3": {"status-update", `{"status":"done","progress":2}`, []string{
			"progress: maximum is 1, got 2", "Invalid status: expected 'in_progress', 'completed', 'failed' or 'blocked', got 'done'",
		}},
		"S1":      {parley.TypeNotification, `{"event":"dance"}`, []string{"Invalid event: expected 'progress', 'warning', 'completed' or 'failed', got 'dance'"}},
		"health":  {parley.TypeHeartbeat, `{"health":"fine"}`, []string{"Invalid health: expected 'healthy', 'degraded' or 'unhealthy', got 'fine'"}},
		"S1 code": {parley.TypeError, `{"code":"E001"}`, []string{"Missing required field: message"}},
	} {
		before := w.storeSnapshot()
		_, err := w.Post(ctx, as("arya"), parley.Draft{Direct: []string{"ned"}, Type: c.kind, Payload: []byte(c.payload)})
		e := parley.AsError(err)
		if e == nil || e.Code != parley.BadInput {
			t.Fatalf("%s: %v", name, err)
		}
		same(t, name, e.Validation, &parley.Issues{Error: "VALIDATION_FAILED", Issues: c.issues, Action: "Message refused, nothing stored"})
		same(t, name+": nothing is stored", w.storeSnapshot() == before, true)
	}
	for kind, payload := range map[parley.Type]string{parley.TypeResult: `{"mine":1}`, parley.TypeRequest: `{"x":{}}`, parley.TypeError: `{"why":"x"}`} {
		w.PostAs("arya", parley.Draft{Direct: []string{"ned"}, Type: kind, Payload: []byte(payload)})
	}
}
