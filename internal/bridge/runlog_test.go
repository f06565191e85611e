package bridge

import (
	"os"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
)

// TestFailedRunsAreInTheLogOfTheWatcher: one line each, in the log of the agent, through restarts.
func TestFailedRunsAreInTheLogOfTheWatcher(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.must(os.MkdirAll(s.at("channels/paper"), 0o755))
		fail := func(run, channel string) {
			s.hub.do(func(h *fakeHub) {
				h.failed = append(h.failed, parley.FailedRun{
					Run: run, Agent: "claude", Channel: channel, Attempt: 2, At: time.Date(2026, 1, 11, 16, 33, 15, 0, time.UTC), Name: name(1),
					Error: parley.Errorf(parley.DependencyFailed, "exit status 1\nERROR: forged"),
				})
			})
		}
		fail("run-1", "paper") // before there was a bridge
		s.during(func() {
			s.polls(2)
			fail("run-2", "paper")
			fail("run-3", "elsewhere")
			s.polls(3)
		})
		s.during(func() {
			s.polls(1)
			fail("run-4", "paper")
			s.polls(1)
		})
		fail("run-5", "paper")
		s.during(func() { s.polls(1) })
		var want []string
		for _, run := range []string{"run-2", "run-4", "run-5"} {
			want = append(want, "2026-01-11T16:33:15.000Z ERROR: "+run+" failed in #paper, attempt 2, answering "+name(1)+": E005: exit status 1 ERROR: forged")
		}
		s.is("the log", strings.Split(strings.TrimSpace(s.text("logs/claude.log")), "\n"), want)
	})
}

// TestTheRunsOfAnotherHubAreCountedByItself: a tree that another hub had joined says how far the runs of that hub were looked through.
func TestTheRunsOfAnotherHubAreCountedByItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.must(os.MkdirAll(s.at("channels/paper"), 0o755))
		s.hub.do(func(h *fakeHub) { h.failed = make([]parley.FailedRun, 100) })
		s.during(func() { s.polls(1) })
		s.hub.do(func(h *fakeHub) { h.failed, h.bridge.CreatedAt = nil, h.bridge.CreatedAt.Add(time.Hour) })
		s.during(func() {
			s.polls(1)
			s.hub.do(func(h *fakeHub) {
				h.failed = []parley.FailedRun{{Run: "run-1", Agent: "claude", Channel: "paper", Attempt: 1}}
			})
			s.polls(1)
		})
		if log := s.text("logs/claude.log"); !strings.Contains(log, "run-1 failed in #paper") {
			t.Errorf("the log says %q", log)
		}
	})
}
