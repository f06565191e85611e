package bridge

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-hub/parley"
)

// What became of the letters of one is told, whatever the inbox of another has become.
func TestAnUnusableInboxHidesNoOther(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixtureWith(t, parley.LayoutInbox)
		s.hub.bridge.Agents = []string{"coder", "tester"}
		s.hub.who = append(s.hub.who, treeAgent("tester"))
		s.hub.written = []parley.Departure{{ID: "1", Name: "msg_00000001", Recipient: "coder"}, {ID: "2", Name: "msg_00000002", Recipient: "tester"}}
		s.must(os.MkdirAll(s.at("state/agents/coder"), 0o755))
		s.must(os.Symlink(filepath.Dir(s.canary), s.at("state/agents/coder/inbox")))
		s.must(os.MkdirAll(s.at("state/agents/tester/inbox"), 0o755))
		s.during(func() { s.polls(1) })
		told := s.hub.reported()
		if len(told) == 0 || slices.ContainsFunc(told, func(r parley.DepartureReport) bool { return r.ID != "2" || r.State != parley.DepartureSeen }) {
			t.Errorf("told: %+v", told)
		}
		if got := s.hub.noted().Trouble; !strings.Contains(got, "symbolic link") {
			t.Errorf("the trouble: %q", got)
		}
	})
}

// What is written while the tree goes away is not reported: nobody finds it there.
func TestDocumentsWrittenIntoAReplacedTreeAreWrittenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.must(os.MkdirAll(s.at("channels/paper"), 0o755))
		d := departure(1, "paper")
		s.meanwhile(writing, "channels/paper/"+d.Name+".tmp", once(func() {
			s.must(os.Rename(s.dir, s.dir+".away"))
			s.must(os.MkdirAll(s.at("channels/paper"), 0o755))
		}))
		s.during(func() {
			s.hub.send(d)
			s.polls(5)
		})
		s.text("channels/paper/" + d.Name + ".json")
	})
}
