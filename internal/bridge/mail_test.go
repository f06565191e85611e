package bridge

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
)

// mailDoc is a message from coder in the format of a layout, written at a second.
func mailDoc(l parley.Layout, n, second int, to string) string {
	stamp := time.Date(2026, 1, 2, 3, 4, second, 0, time.UTC).Format(time.RFC3339)
	if l == parley.LayoutInbox {
		return fmt.Sprintf(`{"version":"1.0.0","msg_id":"msg_%08x","from":"coder","to":%q,"timestamp":%q,"sequence":%d,"type":"status-update",`+
			`"payload":{"status":"in_progress","message":"hello"}}`, n, to, stamp, n)
	}
	return fmt.Sprintf(`{"version":"1.0","id":"m-%d","traceId":"t-%d","from":{"agent":"coder"},"to":{"agent":%q},"timestamp":%q,`+
		`"type":"notification","priority":"normal","payload":{"event":"progress","message":"hello"}}`, n, n, to, stamp)
}

// TestMailOnAFileServer polls a tree whose times have steps of a second and whose listings are late. Documents come in the
// order of their timestamps, each once, and only what is the hub's is taken away.
func TestMailOnAFileServer(t *testing.T) {
	for _, l := range []parley.Layout{parley.LayoutInbox, parley.LayoutBlackboard} {
		t.Run(string(l), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := newTreeFixture(t)
				h := newFakeHub(parley.Bridge{ID: "tree", Layout: l, Root: g.dir, Agents: []string{"coder"}, QueueAgent: "gm"}, treeAgent("coder"), ownAgent("ana"))
				layout := newLayout(l, layoutBase{})
				mine, theirs := layout.targetFolder(parley.Departure{Recipient: "ana"}), layout.targetFolder(parley.Departure{Recipient: "coder"})
				put := func(dir string, n, second int, to string) string {
					at := path.Join(dir, fmt.Sprintf("msg_%08x.json", n))
					g.put(at, mailDoc(l, n, second, to))
					g.must(os.Chtimes(g.at(at), time.Time{}, time.Unix(1_700_000_000, 0)))
					return at
				}
				last, first, hidden, script := put(mine, 1, 9, "ana"), put(mine, 2, 1, "ana"), put(mine, 3, 0, "ana"), put(theirs, 4, 5, "coder")
				var shown atomic.Bool
				s := &bridgeFixture{g, h, Options{Hub: h, ID: "tree", Log: slog.New(slog.DiscardHandler), pollOnly: true, change: func(t *tree) {
					t.listsName = func(_, name string) bool { return shown.Load() || name != path.Base(hidden) }
				}}}
				for range 2 { // the second time after a restart
					s.during(func() { s.polls(2) })
				}
				s.is("came", h.names(), []string{first, script, last})
				shown.Store(true)
				s.during(func() { s.polls(2) })
				s.is("came late", h.names(), []string{first, script, last, hidden})
				live, history := s.came()
				if len(live) != 3 || !slices.Equal(history, []string{script}) {
					t.Errorf("live %q, history %q", live, history)
				}
				if left, err := os.ReadDir(g.at(mine)); err != nil || len(left) > 0 {
					t.Errorf("%d files are left in the inbox of ana: %v", len(left), err)
				}
				if left, err := os.ReadDir(g.at(theirs)); err != nil || len(left) != 1 {
					t.Errorf("%d files are in the inbox of coder: %v", len(left), err)
				}
			})
		})
	}
}

// What the hub has no room for waits in its order, whatever else is brought with it.
func TestWaitingFilesKeepTheirOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixtureWith(t, parley.LayoutInbox)
		var want []string
		for n := 1; n <= 80; n++ {
			name := fmt.Sprintf("msg_%08x.json", n)
			want = append(want, anas+name)
			s.put(anas+name, mailDoc(parley.LayoutInbox, n, n, "ana"))
			s.put("state/agents/all/inbox/"+name, mailDoc(parley.LayoutInbox, n, n, "all"))
		}
		asked := 0
		s.hub.judge = func(a parley.Arrival) *parley.Error {
			if asked++; a.To == "ana" && asked <= batch {
				return parley.Errorf(parley.Unavailable, "the inbox is full")
			}
			return nil
		}
		s.during(func() { s.polls(5) })
		got := slices.DeleteFunc(s.hub.names(), func(at string) bool { return !strings.HasPrefix(at, anas) })
		s.is("what came", got, want)
	})
}

// TestAWaitingFileIsReportedOnce: it may wait for days.
func TestAWaitingFileIsReportedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixtureWith(t, parley.LayoutInbox)
		var told []string
		s.Progress = func(imported, waiting int64) { told = append(told, fmt.Sprint(imported, " ", waiting)) }
		s.hub.judge = func(a parley.Arrival) *parley.Error {
			if a.To == "ana" {
				return parley.Errorf(parley.Unavailable, "the inbox is full")
			}
			return nil
		}
		s.hub.who = append(s.hub.who, ownAgent("gil"))
		s.mail(1)
		s.during(func() {
			s.polls(10)
			s.put("state/agents/gil/inbox/msg_00000002.json", mailDoc(parley.LayoutInbox, 2, 2, "gil"))
			s.polls(10)
		})
		s.is("what was told", told, []string{"0 1", "1 1"})
	})
}

// TestAnOutageOfTheHubIsLoggedOnce: both are told of once, and files are taken soon after.
func TestAnOutageOfTheHubIsLoggedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixtureWith(t, parley.LayoutInbox)
		var log strings.Builder
		s.Log = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		}}))
		s.during(func() {
			s.hub.do(func(h *fakeHub) { h.down = errors.New("connection refused") })
			time.Sleep(10 * time.Minute)
			at := s.mail(1)
			s.hub.do(func(h *fakeHub) { h.down = nil })
			time.Sleep(5 * time.Second)
			synctest.Wait()
			s.is("what came", s.hub.names(), []string{at})
		})
		s.is("what was said", strings.Split(strings.TrimSpace(log.String()), "\n"), []string{
			`level=WARN msg="cannot pass files to the hub; they stay in the tree; retrying" bridge=tree error="connection refused"`,
			`level=INFO msg="the bridge passes files to the hub again" bridge=tree`,
		})
	})
}
