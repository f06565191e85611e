package bridge

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
)

func TestHostileFilesInAChannelStallNothing(t *testing.T) {
	for what, c := range hostile {
		if what == "a file of another's" {
			continue // all files are, then
		}
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBridgeFixture(t)
				s.must(os.MkdirAll(s.at("channels/in"), 0o755))
				s.must(os.Symlink("channels/in", s.at("in")))
				c.plant(s.treeFixture)
				s.during(func() { s.polls(1) })
				s.refused("channels/in/x.json", c.says)
				if _, err := os.Lstat(s.at("channels/in/x.json")); err != nil {
					t.Errorf("what the hub does not own was moved: %v", err)
				}
				good := s.say("in", 1)
				s.during(func() { s.polls(1) })
				s.is("what came", s.hub.names(), []string{good})
				if lines := strings.Count(s.text("logs/parley.log"), "rejected"); lines != 1 {
					t.Errorf("it was said %d times:\n%s", lines, s.text("logs/parley.log"))
				}
			})
		})
	}
}

// wasRefused finds the reason for which a file was wasRefused.
func (s *bridgeFixture) refused(at, says string) {
	s.t.Helper()
	var r reason
	s.must(json.Unmarshal([]byte(s.text(rejected+"/"+filepath.Base(at)+".reason")), &r))
	if r.Path != at || r.Code != parley.BadInput || r.Suggestion == "" || !strings.Contains(r.Message+fmt.Sprint(r.Issues), says) {
		s.t.Errorf("refused: %+v, want %q", r, says)
	}
}

func TestBrokenDocumentsAreRefusedOnce(t *testing.T) {
	for what, c := range map[string]struct{ text, says string }{
		"duplicate keys": {`{"id":"a","id":"b"}`, ""},
		"too deep":       {strings.Repeat("[", 5000) + strings.Repeat("]", 5000), ""},
		"no message":     {`{"shared":"state"}`, ""},
		"bad UTF-8":      {"{\"id\":\"\xff\"}", ""},
		"half":           {`{"id":"msg-`, ""},
		"empty":          {``, ""},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBridgeFixture(t)
				s.put("channels/paper/x.json", c.text)
				for range 2 {
					s.during(func() { s.polls(6) })
				}
				s.refused("channels/paper/x.json", c.says)
				if got := s.text(rejected + "/x.json"); got != c.text {
					t.Errorf("%q was kept", got)
				}
				if lines := strings.Count(s.text("logs/parley.log"), "\n"); lines != 1 {
					t.Errorf("%d lines:\n%s", lines, s.text("logs/parley.log"))
				}
				s.is("what came", s.hub.names(), nil)
			})
		})
	}
}

func TestNamesThatCannotBeShown(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.put("channels/paper/a\nERROR: forged.json", doc("x", "paper", "x"))
		s.put("channels/paper/"+strings.Repeat("n", 240)+".json", doc("x", "paper", "x"))
		s.during(func() { s.polls(1) })
		reasons, err := filepath.Glob(s.at(rejected + "/unnamed-*.reason"))
		s.must(err)
		if log := s.text("logs/parley.log"); len(reasons) != 2 || strings.Count(log, "\n") != 2 {
			t.Errorf("%q; the log: %s", reasons, log)
		}
		s.is("what came", s.hub.names(), nil)
	})
}

func TestFilesWrittenInPlaceAreWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		whole := doc(name(1), "paper", "in two parts")
		at := "channels/paper/" + name(1) + ".json"
		s.during(func() {
			s.put(at, whole[:20])
			s.polls(2)
			s.put(at, whole)
			s.polls(1)
			s.is("what came", s.hub.names(), []string{at})
		})
		if _, err := os.Stat(s.at(rejected)); err == nil {
			t.Error("it was refused")
		}
	})
}

// Some write so slowly that what is there is taken for broken, and go on. Elsewhere a link is replaced by what was meant.
func TestRefusedFilesArriveOnceRepaired(t *testing.T) {
	for _, l := range []parley.Layout{parley.LayoutAgentOS, parley.LayoutInbox} {
		t.Run(string(l), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBridgeFixtureWith(t, l)
				at, whole := "channels/paper/"+name(1)+".json", doc(name(1), "paper", "slowly")
				if l == parley.LayoutInbox {
					at, whole = "state/agents/coder/inbox/msg_00000001.json", mailDoc(l, 1, 1, "coder")
				}
				s.during(func() {
					s.put(at, whole[:20])
					s.polls(6)
					s.refused(at, "")
					s.is("what came", s.hub.names(), nil)
					s.put(at, whole)
					s.polls(1)
					s.is("what came", s.hub.names(), []string{at})
				})
			})
		})
	}
}

func TestDocumentsThatTheHubRefusesAreRejectedOrWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		unknown, full := s.say("paper", 1), s.say("paper", 2)
		room := false
		s.hub.judge = func(a parley.Arrival) *parley.Error {
			switch {
			case a.Path == unknown:
				return parley.Errorf(parley.NotPermitted, "nobody knows the sender")
			case a.Path == full && !room:
				return parley.Errorf(parley.Unavailable, "the inbox is full")
			default:
				return nil
			}
		}
		s.during(func() {
			s.polls(1)
			s.is("what came", s.hub.names(), nil)
			if got := s.hub.noted(); got.Rejected != 1 || !strings.Contains(got.Trouble, "the inbox is full") {
				t.Errorf("status: %+v", got)
			}
			s.hub.do(func(*fakeHub) { room = true })
			s.polls(1)
			s.is("what came", s.hub.names(), []string{full})
			if got := s.hub.noted().Trouble; got != "" {
				t.Errorf("there is trouble still: %s", got)
			}
		})
		if raw := s.text(rejected + "/" + filepath.Base(unknown) + ".reason"); !strings.Contains(raw, `"E001"`) {
			t.Errorf("the reason: %s", raw)
		}
	})
}

// A FIFO in the place of each folder and file that the bridge itself uses: refused or trouble, and never waited for.
func TestHostileFilesInParleysOwnFoldersStallNothing(t *testing.T) {
	for _, at := range []string{"channels", "signals", "signals/presence", "signals/presence/codex.json", "logs", "logs/parley.log", rejected, ownFolder + "/added", ownFolder + "/lock"} {
		t.Run(at, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBridgeFixture(t)
				s.must(os.MkdirAll(filepath.Dir(s.at(at)), 0o755))
				s.must(syscall.Mkfifo(s.at(at), 0o600))
				if at != "channels" {
					s.put("channels/paper/x.json", "no message: []")
				}
				ctx, stop := context.WithTimeout(t.Context(), time.Minute)
				defer stop()
				err := Run(ctx, s.Options)
				if strings.HasSuffix(at, "lock") != (err != nil) {
					t.Errorf("it ended with %v", err)
				}
			})
		})
	}
}

// A name that is no text is known again after a restart, too.
func TestANameThatIsNoTextIsRefusedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.put("channels/paper/\xff\xfe.json", doc("x", "paper", "x"))
		for range 3 {
			s.during(func() { s.polls(1) })
		}
		if log := s.text("logs/parley.log"); strings.Count(log, "\n") != 1 {
			t.Errorf("the log: %s", log)
		}
	})
}
