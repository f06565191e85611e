package bridge

import (
	"context"
	"os"
	"testing"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/parley-hub/parley"
)

// atEvents runs a bridge that looks only when it hears of something, and hands out what came.
func (s *bridgeFixture) atEvents(do func(came <-chan string)) {
	s.t.Helper()
	s.pollOnly, s.Poll = false, time.Hour
	came, looked := make(chan string, 10), make(chan struct{}, 1)
	s.hub.stored = func(n int) error { came <- s.hub.came[n-1].Path; return nil }
	s.Hub = lookedAt{s.hub, looked}
	ctx, stop := context.WithCancel(s.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, s.Options) }()
	<-looked
	do(came)
	stop()
	s.must(<-ended)
}

// The folders of these are made with the first message, whatever of the tree is there before.
func TestTheFirstMessageIntoANewFolderGoesAtOnce(t *testing.T) {
	for at, l := range map[string]parley.Layout{
		"channels/paper/msg-20260111-163315-codex-0001.json": parley.LayoutAgentOS,
		"state/agents/ana/inbox/msg_00000001.json":           parley.LayoutInbox,
		"ana/inbox/m-1.json":                                 parley.LayoutBlackboard,
		"inbox/m-1.json":                                     parley.LayoutBlackboard,
	} {
		t.Run(at, func(t *testing.T) {
			s := newBridgeFixtureWith(t, l)
			text := doc(name(1), "paper", "hello")
			if l != parley.LayoutAgentOS {
				text = mailDoc(l, 1, 1, "ana")
			}
			s.atEvents(func(came <-chan string) {
				s.put(at+".tmp", text)
				s.must(os.Rename(s.at(at+".tmp"), s.at(at)))
				if got := <-came; got != at {
					t.Errorf("%s came", got)
				}
			})
		})
	}
}

func TestAHeartbeatIsHeardAtOnce(t *testing.T) {
	s := newBridgeFixture(t)
	beats := make(chan parley.Beat, 10)
	s.hub.heard = func(b parley.Beat) { beats <- b }
	s.atEvents(func(<-chan string) {
		const at = "signals/presence/codex"
		s.put(at+".tmp", `{"agent_id":"codex","state":"AWAKE"}`)
		s.must(os.Rename(s.at(at+".tmp"), s.at(at+".json")))
		if b := <-beats; b.Agent != "codex" || b.State != parley.Awake {
			t.Errorf("heard %+v", b)
		}
	})
}

// The system drops events where too many come at once.
func TestLostFileEventsCauseAFullScan(t *testing.T) {
	wake := changeSet{signal: make(chan struct{}, 1), changed: map[string]bool{}}
	w := &watcher{
		events: &fsnotify.Watcher{Events: make(chan fsnotify.Event), Errors: make(chan error)}, wake: &wake, finished: make(chan struct{}),
	}
	ctx, stop := context.WithCancel(t.Context())
	go w.run(ctx, "/")
	w.events.Errors <- fsnotify.ErrEventOverflow
	<-wake.signal
	if _, everywhere := wake.take(); !everywhere {
		t.Error("nothing is looked at again")
	}
	stop()
	<-w.finished
}
