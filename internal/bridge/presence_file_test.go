package bridge

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
)

const codexFile = "signals/presence/codex.json"

// beatOf is what a site has heard of codex last.
func (s *bridgeFixture) lastBeat() (b parley.Beat) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	if n := len(s.hub.beats); n > 0 {
		b = s.hub.beats[n-1]
	}
	return b
}

// deadPID is the number of a process that has ended.
func deadPID(t *testing.T) int {
	t.Helper()
	ended := exec.Command("true")
	if err := ended.Run(); err != nil {
		t.Fatal(err)
	}
	return ended.Process.Pid
}

// TestADeadWatcherIsAwayAtOnce: its file still says AWAKE, and is fresh.
func TestADeadWatcherIsAwayAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		dead := deadPID(t)
		file := func(pid int) string {
			return fmt.Sprintf(`{"agent_id":"codex","state":"AWAKE","substate":"IDLE","watcher_pid":%d}`, pid)
		}
		s.during(func() {
			s.put(codexFile, file(os.Getpid()))
			s.polls(1)
			if got := s.lastBeat(); got.State != parley.Awake {
				t.Errorf("while it lives: %+v", got)
			}
			s.put(codexFile, file(dead))
			s.polls(1)
			if got := s.lastBeat(); got.State != parley.Offline {
				t.Errorf("once it is dead: %+v", got)
			}
			// Somebody goes on renewing the file: the process is on another machine, or in a container.
			s.put(codexFile, file(dead))
			s.age(codexFile, -time.Second)
			s.polls(1)
			if got := s.lastBeat(); got.State != parley.Awake {
				t.Errorf("when the file is renewed: %+v", got)
			}
			s.put(codexFile, file(os.Getpid()))
			s.polls(1)
			s.put(codexFile, file(dead))
			s.polls(1)
			if got := s.lastBeat(); got.State != parley.Offline {
				t.Errorf("when it has lived here and is dead: %+v", got)
			}
		})
	})
}

// TestADeadWatcherOnAFileServerMayLiveElsewhere: only a process that was seen here counts as gone.
func TestADeadWatcherOnAFileServerMayLiveElsewhere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.change = func(t *tree) { t.remote = true }
		s.put(codexFile, fmt.Sprintf(`{"state":"AWAKE","watcher_pid":%d}`, deadPID(t)))
		s.during(func() { s.polls(1) })
		if got := s.lastBeat(); got.State != parley.Awake {
			t.Errorf("heard %+v", got)
		}
	})
}

// TestThePresenceFilesOwnTimestampCounts: an old file is an old sign, however fresh its copy is, and nothing is from the future.
func TestThePresenceFilesOwnTimestampCounts(t *testing.T) {
	for what, c := range map[string]struct {
		stamp func(now time.Time) any
		want  parley.State
	}{
		"fresh":            {func(now time.Time) any { return now.Add(-time.Minute).Format(time.RFC3339) }, parley.Awake},
		"old":              {func(now time.Time) any { return now.Add(-31 * time.Minute).Format(time.RFC3339) }, parley.Offline},
		"old, in seconds":  {func(now time.Time) any { return now.Add(-31 * time.Minute).Unix() }, parley.Offline},
		"old, in millis":   {func(now time.Time) any { return now.Add(-31 * time.Minute).UnixMilli() }, parley.Offline},
		"from the future":  {func(now time.Time) any { return now.Add(time.Hour).Format(time.RFC3339) }, parley.Awake},
		"no time":          {func(time.Time) any { return "now" }, parley.Awake},
		"without a moment": {func(time.Time) any { return nil }, parley.Awake},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBridgeFixture(t)
				stamp := c.stamp(time.Now().UTC())
				if text, isText := stamp.(string); isText {
					stamp = fmt.Sprintf("%q", text)
				} else if stamp == nil {
					stamp = "null"
				}
				s.put(codexFile, fmt.Sprintf(`{"state":"AWAKE","substate":"WORKING","timestamp":%v}`, stamp))
				s.during(func() { s.polls(1) })
				got := s.lastBeat()
				if got.State != c.want || got.At.After(time.Now()) {
					t.Errorf("heard %+v", got)
				}
				if c.want == parley.Awake && got.Substate != parley.Working {
					t.Errorf("it does %q", got.Substate)
				}
			})
		})
	}
}

// TestAFutureTimestampDoesNotLastForEver: it counts from when the file was written.
func TestAFutureTimestampDoesNotLastForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.hub.who = []parley.Presence{treeAgent("codex")}
		s.put(codexFile, `{"state":"AWAKE","timestamp":"2999-01-01T00:00:00Z"}`)
		s.during(func() { time.Sleep(2*parley.PresenceInterval + time.Minute) })
		if got := s.lastBeat(); got.State != parley.Offline {
			t.Errorf("heard %+v", got)
		}
	})
}

// TestTheIntervalOfAPresenceFileHolds: away after twice its own, or twice 15 minutes.
func TestTheIntervalOfAPresenceFileHolds(t *testing.T) {
	for field, lasts := range map[string]time.Duration{
		``:                            30 * time.Minute,
		`,"interval":60`:              2 * time.Minute,
		`,"heartbeat_interval":"90s"`: 3 * time.Minute,
		`,"interval":-1`:              30 * time.Minute,
		`,"interval":"often"`:         30 * time.Minute,
	} {
		t.Run(field, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBridgeFixture(t)
				s.hub.who = []parley.Presence{treeAgent("codex")}
				s.put(codexFile, `{"state":"AWAKE"`+field+`}`)
				s.during(func() {
					time.Sleep(lasts - 10*time.Second)
					if got := s.lastBeat(); got.State != parley.Awake || got.PresentFor() != lasts {
						t.Errorf("heard %+v, which lasts %s", got, got.PresentFor())
					}
					time.Sleep(20 * time.Second)
				})
				if got := s.lastBeat(); got.State != parley.Offline {
					t.Errorf("heard %+v", got)
				}
			})
		})
	}
}

// TestBrokenPresenceFilesGetALine: once for each state of the file, not at each poll.
func TestBrokenPresenceFilesGetALine(t *testing.T) {
	for what, put := range map[string]func(s *bridgeFixture){
		"no JSON":          func(s *bridgeFixture) { s.put(codexFile, `{"state":"AW`) },
		"no object":        func(s *bridgeFixture) { s.put(codexFile, `["AWAKE"]`) },
		"an unknown state": func(s *bridgeFixture) { s.put(codexFile, `{"state":"DREAMING"}`) },
		"too large":        func(s *bridgeFixture) { s.put(codexFile, `{"x":"`+strings.Repeat("x", presenceSize)+`"}`) },
		"a symbolic link": func(s *bridgeFixture) {
			s.put("elsewhere.json", `{"state":"AWAKE"}`)
			s.link("../../elsewhere.json", codexFile)
		},
		"a link to nothing": func(s *bridgeFixture) { s.link("nothing.json", codexFile) },
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBridgeFixture(t)
				s.during(func() {
					put(s)
					s.polls(10)
					if lines := strings.Count(s.text("logs/parley.log"), codexFile); lines != 1 {
						t.Errorf("%d lines:\n%s", lines, s.text("logs/parley.log"))
					}
					s.must(os.Remove(s.at(codexFile)))
					s.put(codexFile, `{"state":"AWAKE"}`)
					s.polls(1)
					put(s)
					s.polls(10)
				})
				if lines := strings.Count(s.text("logs/parley.log"), codexFile); lines != 2 {
					t.Errorf("broken again, %d lines:\n%s", lines, s.text("logs/parley.log"))
				}
			})
		})
	}
}

// link puts a symbolic link in place of whatever is there.
func (s *bridgeFixture) link(to, at string) {
	s.t.Helper()
	s.must(os.MkdirAll(s.at("signals/presence"), 0o755))
	_ = os.Remove(s.at(at)) // there may be nothing
	s.must(os.Symlink(to, s.at(at)))
}

// TestSymlinkedChannelsGetALine: whether they are mapped by name or found, once.
func TestSymlinkedChannelsGetALine(t *testing.T) {
	for what, channels := range map[string][]string{"every directory": nil, "mapped": {"paper", "lab"}} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBridgeFixture(t)
				s.hub.bridge.Channels = channels
				s.must(os.MkdirAll(s.at("channels/lab"), 0o755))
				s.must(os.MkdirAll(s.at("elsewhere"), 0o755))
				s.must(os.Symlink("../elsewhere", s.at("channels/paper")))
				at := ""
				s.during(func() {
					s.polls(5)
					at = s.say("lab", 1)
					s.polls(2)
				})
				if log := s.text("logs/parley.log"); strings.Count(log, "channels/paper, which is a symbolic link") != 1 {
					t.Errorf("the log:\n%s", log)
				}
				s.is("what came elsewhere", s.hub.names(), []string{at})
			})
		})
	}
}
