package bridge

import (
	"os"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"

	"github.com/parley-hub/parley"
)

// full has nothing written as long as it is set.
func (s *bridgeFixture) full(set *atomic.Bool) {
	s.change = func(t *tree) {
		t.onStep = func(action, _ string) error {
			if action == writing && set.Load() {
				return syscall.ENOSPC
			}
			return nil
		}
	}
}

// Where a disk is full of mail, only a bridge that takes it makes room.
func TestABridgeStartsOnAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixtureWith(t, parley.LayoutInbox)
		var set atomic.Bool
		s.full(&set)
		s.during(func() { s.polls(1) })
		at := s.mail(1)
		set.Store(true)
		s.during(func() { s.polls(1) })
		s.is("what came", s.hub.names(), []string{at})
		if _, err := os.Lstat(s.at(at)); err == nil {
			t.Error("it was not taken")
		}
	})
}
