package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
)

// bridgeFixture is a bridged tree of channels.
type bridgeFixture struct {
	*treeFixture
	hub *fakeHub
	Options
}

func newBridgeFixture(t *testing.T) *bridgeFixture {
	g := newTreeFixture(t)
	h := newFakeHub(parley.Bridge{ID: "tree", Layout: parley.LayoutAgentOS, Root: g.dir, Agents: []string{"codex"}},
		treeAgent("codex"), ownAgent("claude"))
	return &bridgeFixture{g, h, Options{Hub: h, ID: "tree", Log: slog.New(slog.DiscardHandler), pollOnly: true}}
}

// during runs the bridge while something is done.
func (s *bridgeFixture) during(do func()) {
	s.t.Helper()
	ctx, stop := context.WithCancel(s.t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, s.Options) }()
	synctest.Wait()
	do()
	stop()
	s.must(<-ended)
}

// polls lets the bridge look n times.
func (s *bridgeFixture) polls(n int) {
	time.Sleep(time.Duration(n) * defaultPoll)
	synctest.Wait()
}

// doc is a message of S0.
func doc(name, channel, text string) string {
	raw, err := json.Marshal(map[string]any{
		"id": name, "timestamp": "2026-01-11T16:33:15.123Z", "session_id": channel, "from": "codex", "to": "claude", "type": "chat",
		"content": map[string]any{"text": text, "code": nil, "artifacts": []any{}}, "metadata": map[string]any{"mode": "chat", "turn": "codex"},
	})
	if err != nil {
		panic(err)
	}
	return string(raw)
}

func name(n int) string { return fmt.Sprintf("msg-20260111-163315-codex-%04x", n) }

// say puts a message into a channel as a script does.
func (s *bridgeFixture) say(channel string, n int) string {
	s.t.Helper()
	at := "channels/" + channel + "/" + name(n)
	s.put(at+".tmp", doc(name(n), channel, "hello"))
	s.must(os.Rename(s.at(at+".tmp"), s.at(at+".json")))
	return at + ".json"
}

func (s *bridgeFixture) age(name string, by time.Duration) {
	s.t.Helper()
	info, err := os.Stat(s.at(name))
	s.must(err)
	s.must(os.Chtimes(s.at(name), time.Time{}, info.ModTime().Add(-by)))
}

func (s *bridgeFixture) came() (live, history []string) {
	s.hub.mu.Lock()
	defer s.hub.mu.Unlock()
	for _, a := range s.hub.came {
		if a.History {
			history = append(history, a.Path)
		} else {
			live = append(live, a.Path)
		}
	}
	return live, history
}

func (s *bridgeFixture) is(what string, got, want []string) {
	s.t.Helper()
	if !slices.Equal(got, want) {
		s.t.Errorf("%s: %q, want %q", what, got, want)
	}
}

func TestDocumentsWaitForAnUnreachableHub(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.during(func() {
			s.hub.do(func(h *fakeHub) { h.down = errors.New("connection refused") })
			at := s.say("paper", 1)
			s.polls(5)
			s.is("what came", s.hub.names(), nil)
			s.hub.do(func(h *fakeHub) { h.down = nil })
			s.polls(20)
			s.is("what came", s.hub.names(), []string{at})
		})
	})
}

func TestEachFileIsImportedOnceThoughTheBridgeIsKilled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		var want []string
		for n := range 1000 {
			want = append(want, s.say("paper", n))
		}
		killed := 0
		for {
			ctx, kill := context.WithCancel(t.Context())
			stop := len(s.hub.names()) + 137
			s.hub.stored = func(n int) error {
				if n == stop {
					killed++
					kill()
					return context.Canceled
				}
				return nil
			}
			go func() {
				time.Sleep(defaultPoll)
				kill()
			}()
			s.must(Run(ctx, s.Options))
			if len(s.hub.came) >= len(want) {
				break
			}
		}
		s.is("what came", s.hub.names(), want)
		if killed < 5 {
			t.Errorf("it was killed %d times", killed)
		}
	})
}

func TestALargeFolderDoesNotDelayOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		for n := range 3000 {
			s.put(fmt.Sprintf("channels/big/%s.json", name(n)), doc(name(n), "big", "old"))
		}
		s.say("small", 1)
		var told [][2]int64
		s.Progress = func(imported, waiting int64) { told = append(told, [2]int64{imported, waiting}) }
		s.hub.slow = 10 * time.Millisecond
		at := 0
		s.hub.stored = func(n int) error {
			if strings.Contains(s.hub.came[n-1].Path, "small") {
				at = n
			}
			return nil
		}
		s.during(func() { time.Sleep(time.Minute) })
		if got := len(s.hub.came); got != 3001 || at > 500 {
			t.Errorf("%d came, the one of the small folder as number %d", got, at)
		}
		if len(told) < 20 || len(told) > 40 {
			t.Errorf("progress was told %d times: %v", len(told), told)
		}
	})
}

func TestPresenceBothWays(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.hub.bridge.Channels = []string{"paper"}
		beat := func(state string) {
			s.put("signals/presence/codex.json", `{"agent_id":"codex","state":"`+state+`","substate":"WORKING","watcher_pid":1}`)
		}
		beat("AWAKE")
		var mine map[string]any
		read := func() { s.must(json.Unmarshal([]byte(s.text("signals/presence/claude.json")), &mine)) }
		s.during(func() {
			read()
			if len(mine) != 6 || mine["agent_id"] != "claude" || mine["state"] != "AWAKE" || mine["substate"] != "IDLE" ||
				mine["channel"] != "paper" || mine["watcher_pid"] != float64(os.Getpid()) {
				t.Errorf("the hub's agent: %v", mine)
			}
			first := mine["timestamp"]
			s.polls(8)
			if read(); mine["timestamp"] == first {
				t.Error("the file is not kept fresh")
			}
			s.age("signals/presence/codex.json", 2*parley.PresenceInterval) // the script is silent
			s.polls(1)
			beat("OFFLINE")
			s.polls(1)
		})
		if read(); mine["state"] != "OFFLINE" {
			t.Errorf("after the end: %v", mine)
		}
		var heard []parley.State
		for _, b := range s.hub.beats {
			heard = append(heard, b.State)
		}
		if !slices.Equal(heard, []parley.State{parley.Awake, parley.Offline, parley.Offline}) {
			t.Errorf("heard: %v", heard)
		}
		if got := s.text("signals/presence/codex.json"); !strings.Contains(got, `"watcher_pid":1`) {
			t.Errorf("the script's file was overwritten: %s", got)
		}
	})
}

func TestASecondBridgeLearnsWhichProcessHasTheTree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.during(func() {
			err := Run(t.Context(), s.Options)
			if parley.CodeOf(err) != parley.Unavailable || !strings.Contains(err.Error(), fmt.Sprint("process ", os.Getpid())) {
				t.Errorf("the second: %v", err)
			}
		})
	})
}

func TestABridgeEndsWhenItIsPausedOrRemoved(t *testing.T) {
	for what, end := range map[string]func(*fakeHub){
		"paused":  func(h *fakeHub) { h.bridge.Paused = true },
		"removed": func(h *fakeHub) { h.removed = true },
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBridgeFixture(t)
				ended := make(chan error, 1)
				go func() { ended <- Run(t.Context(), s.Options) }()
				synctest.Wait()
				s.hub.do(end)
				if err := <-ended; err != nil || s.hub.noted().Running {
					t.Errorf("it ended with %v, running: %v", err, s.hub.noted().Running)
				}
			})
		})
	}
}

// Events make a look earlier. The poll is so long here that only they can.
func TestFileEventsAreASpeedUp(t *testing.T) {
	s := newBridgeFixture(t)
	s.pollOnly, s.Poll = false, time.Hour
	s.must(os.MkdirAll(s.at("channels/paper"), 0o755))
	came, looked := make(chan struct{}, 1), make(chan struct{}, 1)
	s.hub.stored = func(int) error { came <- struct{}{}; return nil }
	s.Hub = lookedAt{s.hub, looked}
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- Run(ctx, s.Options) }()
	<-looked
	s.say("paper", 1)
	<-came
	stop()
	s.must(<-ended)
}

// lookedAt says when the tree was looked at.
type lookedAt struct {
	*fakeHub
	looked chan struct{}
}

func (l lookedAt) NoteBridge(ctx context.Context, id string, status parley.BridgeStatus) error {
	select {
	case l.looked <- struct{}{}:
	default:
	}
	return l.fakeHub.NoteBridge(ctx, id, status)
}
