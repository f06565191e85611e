package bridge

import (
	"encoding/json"
	"os"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
)

// Scripts write their presence with whatever they have at hand. Only what says that they leave, or their silence, is that.
func TestOddPresenceFilesStillShowTheScriptAsAwake(t *testing.T) {
	for what, text := range map[string]string{
		"its process as text":     `{"agent_id":"codex","state":"AWAKE","substate":"IDLE","watcher_pid":"12345","channel":"paper"}`,
		"several channels":        `{"agent_id":"codex","state":"AWAKE","substate":"IDLE","watcher_pid":1,"channel":["paper","other"]}`,
		"a time in seconds":       `{"agent_id":"codex","timestamp":1768149000,"state":"AWAKE","substate":"IDLE"}`,
		"a substate of its own":   `{"agent_id":"codex","state":"AWAKE","substate":null}`,
		"a byte order mark first": "\ufeff" + `{"agent_id":"codex","state":"AWAKE"}`,
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBridgeFixture(t)
				s.put("signals/presence/codex.json", text)
				s.during(func() { s.polls(1) })
				if got := s.hub.beats; len(got) != 1 || got[0].State != parley.Awake {
					t.Errorf("heard %+v", got)
				}
			})
		})
	}
}

// A file that is written in place is empty, and then half there, for a while. Nobody has left for that.
func TestPresenceThatIsWrittenInPlace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		const at = "signals/presence/codex.json"
		s.during(func() {
			for _, text := range []string{`{"state":"AWAKE"}`, ``, `{"state":"AW`, `{"state":"AWAKE","channel":"x"}`} {
				s.put(at, text)
				s.polls(1)
			}
		})
		if slices.ContainsFunc(s.hub.beats, func(b parley.Beat) bool { return b.State == parley.Offline }) || len(s.hub.beats) != 2 {
			t.Errorf("heard %+v", s.hub.beats)
		}
	})
}

// The clock of a file server goes its own way: here it stands still for an hour. Who writes its file is there.
func TestTheClockOfTheFilesMayGoAstray(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.during(func() {
			time.Sleep(time.Hour)
			s.put("signals/presence/codex.json", `{"state":"AWAKE"}`)
			s.polls(1)
		})
		if got := s.hub.beats; len(got) != 1 || got[0].State != parley.Awake {
			t.Errorf("heard %+v", got)
		}
	})
}

func TestAScriptThatIsSilentIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.hub.who = []parley.Presence{treeAgent("codex")} // no file of the hub's tells that the clock of the files stands still
		s.put("signals/presence/codex.json", `{"state":"AWAKE"}`)
		s.during(func() { time.Sleep(2*parley.PresenceInterval + time.Minute) })
		if got := s.hub.beats; len(got) != 2 || got[0].State != parley.Awake || got[1].State != parley.Offline {
			t.Errorf("heard %+v", got)
		}
	})
}

// TestPresenceNamesTheChannelOfAnAgent: the one in which it was last met, through restarts, if that has a directory.
func TestPresenceNamesTheChannelOfAnAgent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		channel := func() string {
			var mine hubPresence
			s.must(json.Unmarshal([]byte(s.text("signals/presence/claude.json")), &mine))
			return mine.Channel
		}
		s.must(os.MkdirAll(s.at("channels/paper"), 0o755))
		s.must(os.MkdirAll(s.at("channels/lab"), 0o755))
		works := func(channel string) {
			s.hub.do(func(h *fakeHub) { h.who[1].Work = []parley.Work{{Channel: channel}} })
		}
		var got []string
		look := func(n int) { s.polls(n); got = append(got, channel()) }
		s.during(func() {
			look(1) // it was met nowhere
			s.say("paper", 1)
			look(2)
			works("elsewhere")
			look(1)
			works("lab")
			look(1)
			s.hub.do(func(h *fakeHub) { h.who[1].Work = nil })
			look(1)
			d := departure(1, "paper")
			d.Message.From = "claude"
			s.hub.send(d)
			look(2)
		})
		s.during(func() { look(1) })
		s.is("the channels", got, []string{"", "paper", "paper", "lab", "lab", "paper", "paper"})
	})
}
