package bridge

import (
	"path"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/parley-hub/parley"
)

// The hub says once why it refuses a document. The reason is kept as soon as there is room for it.
func TestTheReasonOfARefusalIsKeptOnceTheDiskHasRoom(t *testing.T) {
	for what, c := range map[string]struct {
		layout parley.Layout
		put    func(s *bridgeFixture) string
	}{
		"in a channel":           {parley.LayoutAgentOS, func(s *bridgeFixture) string { return s.say("paper", 1) }},
		"in an inbox of the hub": {parley.LayoutInbox, func(s *bridgeFixture) string { return s.mail(1) }},
		"in an inbox of a script": {parley.LayoutInbox, func(s *bridgeFixture) string {
			at := coderInbox + "/msg_00000001.json"
			s.put(at, mailDoc(parley.LayoutInbox, 1, 1, "coder"))
			return at
		}},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBridgeFixtureWith(t, c.layout)
				var set atomic.Bool
				s.full(&set)
				s.hub.judge = func(parley.Arrival) *parley.Error {
					return parley.Errorf(parley.NotPermitted, "nobody knows the sender")
				}
				s.during(func() {
					s.polls(1)
					set.Store(true)
					at := c.put(s)
					s.polls(3)
					if got := s.hub.noted(); got.Rejected != 0 || !strings.Contains(got.Trouble, "no space left") {
						t.Errorf("the status: %+v", got)
					}
					set.Store(false)
					s.polls(2)
					if got := s.hub.noted(); got.Rejected != 1 || got.Trouble != "" {
						t.Errorf("the status: %+v", got)
					}
					if got := s.text(path.Join(rejected, path.Base(at)+".reason")); !strings.Contains(got, "nobody knows the sender") {
						t.Errorf("the reason: %s", got)
					}
				})
			})
		})
	}
}
