package hub_test

import (
	"testing"

	"github.com/parley-hub/parley"
)

// What is for everybody of a tier, and reaches nobody, is not passed over in silence.
func TestABroadcastThatReachesNobody(t *testing.T) {
	t.Parallel()
	w := newHub(t)
	b := w.joinBridge(parley.NewBridge{ID: "tree", Layout: parley.LayoutBlackboard, Agents: []string{"gm", "worker-1", "worker-2"}})
	says := func() []string {
		a := b.document("gm", parley.All, "hear")
		a.ToTier = parley.TierWorker
		got := b.arrive(a)[0]
		same(t, "it is a message", got.Error == nil && got.Message != "", true)
		return append([]string{}, got.Notices...)
	}
	same(t, "nobody has the tier", says(), []string{"the message reached nobody: no other agent has the tier worker (parley agent set AGENT --tier worker)"})
	for _, id := range []string{"worker-1", "worker-2"} {
		w.EditAgent(id, func(a *parley.Agent) { a.Tier = parley.TierWorker })
	}
	same(t, "who has a tier is told", says(), []string{})
	same(t, "what departs", len(w.departuresOf("tree")), 2)
	w.EditAgent("gm", func(a *parley.Agent) { a.Tier = parley.TierCommand })
	same(t, "the sender may contact none", says(),
		[]string{"the message reached nobody: gm may not contact worker-1, worker-2 (to see why: parley permit check gm worker-1)"})
	w.AssertConsistent()
}
