package bridge

import (
	"errors"
	"log/slog"
	"os"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/parley-hub/parley"
)

// TestDeletingTheLockStopsTheBridge: whoever removes or replaces .parley lets another hub join. The bridge stops, says so, and writes
// nothing more until somebody resumes it.
func TestDeletingTheLockStopsTheBridge(t *testing.T) {
	for what, remove := range map[string]func(s *bridgeFixture){
		"removed": func(s *bridgeFixture) { s.must(os.RemoveAll(s.at(ownFolder))) },
		"moved":   func(s *bridgeFixture) { s.must(os.Rename(s.at(ownFolder), s.at("elsewhere"))) },
		"replaced": func(s *bridgeFixture) {
			s.must(os.RemoveAll(s.at(ownFolder)))
			s.put(ownFolder+"/lock", "the bridge other, agentos, process 1 on elsewhere\n")
		},
	} {
		for _, l := range []parley.Layout{parley.LayoutAgentOS, parley.LayoutInbox, parley.LayoutBlackboard} {
			t.Run(what+"/"+string(l), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newBridgeFixtureWith(t, l)
					var log strings.Builder
					s.Log = slog.New(slog.NewTextHandler(&log, nil))
					ended := make(chan error, 1)
					go func() { ended <- Run(t.Context(), s.Options) }()
					s.polls(2)
					remove(s)
					before := s.everything()
					d := departure(1, "")
					if d.Recipient = "coder"; l == parley.LayoutAgentOS {
						d.Recipient, d.Channel = "", "paper"
						s.must(os.MkdirAll(s.at("channels/paper"), 0o755))
						before = s.everything()
					}
					s.hub.send(d)
					s.polls(3)
					status := s.hub.noted()
					if status.Running || !status.Stopped || !strings.Contains(status.Trouble, ownFolder+"/lock") {
						t.Errorf("the status: %+v", status)
					}
					if n := strings.Count(log.String(), "level=ERROR"); n != 1 || !strings.Contains(log.String(), "parley bridge pause tree && parley bridge resume tree") {
						t.Errorf("the log of the hub has %d errors:\n%s", n, log.String())
					}
					s.is("the tree", s.everything(), before)
					s.hub.do(func(h *fakeHub) { h.bridge.Paused = true })
					s.must(<-ended)
					s.hub.do(func(h *fakeHub) { h.bridge.Paused = false })
					s.must(os.RemoveAll(s.at(ownFolder)))
					s.during(func() { s.polls(2) })
					if status := s.hub.noted(); status.Stopped || status.Trouble != "" || len(s.hub.reported()) == 0 {
						t.Errorf("resumed: %+v, %d departures were written", status, len(s.hub.reported()))
					}
				})
			})
		}
	}
}

// everything is all that is in the tree.
func (s *bridgeFixture) everything() []string {
	s.t.Helper()
	var all []string
	var walk func(dir string)
	walk = func(dir string) {
		entries, err := os.ReadDir(s.at(dir))
		s.must(err)
		for _, e := range entries {
			at := dir + "/" + e.Name()
			info, err := e.Info()
			s.must(err)
			if all = append(all, at+" "+info.ModTime().String()); e.IsDir() {
				walk(at)
			}
		}
	}
	walk(".")
	return all
}

// TestASecondHubIsRefusedThoughTheLockWasDeleted: the directory itself is locked too.
func TestASecondHubIsRefusedThoughTheLockWasDeleted(t *testing.T) {
	g := newTreeFixture(t)
	b := parley.Bridge{ID: "tree", Layout: parley.LayoutAgentOS, Root: g.dir}
	first, err := openTree(g.dir)
	g.must(err)
	held, err := lock(first, b)
	g.must(err)
	g.must(os.RemoveAll(g.at(ownFolder)))
	second, err := openTree(g.dir)
	g.must(err)
	if _, err := lock(second, b); parley.CodeOf(err) != parley.Unavailable {
		t.Errorf("the second hub: %v", err)
	}
	if _, err := os.Stat(g.at(ownFolder)); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the second hub has left %s: %v", ownFolder, err)
	}
	held.release()
	again, err := lock(second, b)
	g.must(err)
	again.release()
	g.must(errors.Join(first.close(), second.close()))
}
