package bridge

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley"
)

// newBridgeFixtureWith is a bridged tree of inboxes: ana is the hub's, coder lives in it.
func newBridgeFixtureWith(t *testing.T, l parley.Layout) *bridgeFixture {
	t.Helper()
	g := newTreeFixture(t)
	h := newFakeHub(parley.Bridge{ID: "tree", Layout: l, Root: g.dir, Agents: []string{"coder"}, QueueAgent: "gm"}, treeAgent("coder"), ownAgent("ana"))
	return &bridgeFixture{g, h, Options{Hub: h, ID: "tree", Log: slog.New(slog.DiscardHandler), pollOnly: true}}
}

const anas = "state/agents/ana/inbox/"

// mail puts a message for ana in place.
func (s *bridgeFixture) mail(n int) string {
	s.t.Helper()
	at := fmt.Sprintf(anas+"msg_%08x.json", n)
	s.put(at, mailDoc(parley.LayoutInbox, n, n%60, "ana"))
	return at
}

// meanwhile has something happen just before the bridge does something, as long as it is wanted.
func (s *bridgeFixture) meanwhile(action, at string, do func() error) {
	s.change = func(t *tree) {
		t.onStep = func(nextAction, path string) error {
			if nextAction == action && path == at {
				return do()
			}
			return nil
		}
	}
}

// once does something the first time only.
func once(do func()) func() error {
	done := false
	return func() error {
		if !done {
			done = true
			do()
		}
		return nil
	}
}

func TestADeviceIsNoDocument(t *testing.T) {
	devices, err := openTree("/dev")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = devices.close() })
	for _, name := range []string{"null", "zero", "tty"} {
		if _, err := devices.read(name, 10); refusalOf(err) == nil || !strings.Contains(err.Error(), "a device") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A folder or a file that cannot be read for a while keeps nothing else waiting, and is read once it can be.
func TestUnreadableFilesAreRetried(t *testing.T) {
	for what, c := range map[string]struct{ step, at string }{
		"a folder": {listing, strings.TrimSuffix(anas, "/")},
		"a file":   {opening, anas + "msg_00000001.json"},
	} {
		for _, why := range []error{syscall.EACCES, syscall.EIO, syscall.ESTALE} {
			t.Run(fmt.Sprintf("%s, %v", what, why), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newBridgeFixtureWith(t, parley.LayoutInbox)
					bad := s.mail(1)
					good := "state/agents/all/inbox/msg_00000002.json"
					s.put(good, mailDoc(parley.LayoutInbox, 2, 2, "all"))
					var healed atomic.Bool
					s.meanwhile(c.step, c.at, func() error {
						if healed.Load() {
							return nil
						}
						return why
					})
					s.during(func() {
						s.polls(1)
						s.is("what came", s.hub.names(), []string{good})
						if got := s.hub.noted().Trouble; !strings.Contains(got, why.Error()) {
							t.Errorf("the trouble: %q", got)
						}
						healed.Store(true)
						s.polls(2)
						s.is("what came", s.hub.names(), []string{good, bad})
						if got := s.hub.noted().Trouble; got != "" {
							t.Errorf("there is trouble still: %q", got)
						}
					})
				})
			})
		}
	}
}

// Scripts rename and remove while the bridge reads. What it has then is one of the documents that were there, whole, and each once.
func TestFilesChangedDuringTheImportArriveWholeAndOnce(t *testing.T) {
	second := mailDoc(parley.LayoutInbox, 2, 2, "ana")
	for what, c := range map[string]struct {
		step string
		do   func(s *bridgeFixture, at string)
		came int
	}{
		"gone before it is opened":     {opening, func(s *bridgeFixture, at string) { s.must(os.Remove(s.at(at))) }, 0},
		"replaced before it is opened": {opening, func(s *bridgeFixture, at string) { s.instead(at, second) }, 1},
		"replaced before it is taken":  {moving, func(s *bridgeFixture, at string) { s.instead(at, second) }, 2},
		"changed before it is taken":   {moving, func(s *bridgeFixture, at string) { s.put(at, second) }, 2},
		"gone before it is taken":      {moving, func(s *bridgeFixture, at string) { s.must(os.Remove(s.at(at))) }, 1},
		"a link before it is opened":   {opening, func(s *bridgeFixture, at string) { s.must(os.Remove(s.at(at))); s.must(os.Symlink(s.canary, s.at(at))) }, 0},
		"a FIFO before it is opened": {opening, func(s *bridgeFixture, at string) {
			s.must(os.Remove(s.at(at)))
			s.must(syscall.Mkfifo(s.at(at), 0o600))
		}, 0},
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBridgeFixtureWith(t, parley.LayoutInbox)
				at := s.mail(1)
				s.meanwhile(c.step, at, once(func() { c.do(s, at) }))
				s.during(func() { s.polls(3) })
				if got := s.hub.names(); len(got) != c.came {
					t.Errorf("%d came: %q", len(got), got)
				}
				if left, err := os.ReadDir(s.at(path.Dir(at))); err != nil || len(left) > 0 {
					t.Errorf("%v is left, %v", left, err)
				}
			})
		})
	}
}

// instead renames another document into the place of one.
func (s *bridgeFixture) instead(at, text string) {
	s.t.Helper()
	s.put(at+".tmp", text)
	s.must(os.Rename(s.at(at+".tmp"), s.at(at)))
}

// A file may be gone, and another have its name, between the time when it is refused and the time when it is moved away.
func TestOnlyRefusedFilesAreMovedAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixtureWith(t, parley.LayoutInbox)
		at := anas + "msg_00000001.json"
		s.put(at, `{"no":"message"}`)
		s.meanwhile(moving, at, once(func() { s.instead(at, mailDoc(parley.LayoutInbox, 1, 1, "ana")) }))
		s.during(func() { s.polls(3) })
		s.is("what came", s.hub.names(), []string{at})
		if kept, err := os.ReadFile(s.at(rejected + "/msg_00000001.json")); err == nil {
			t.Errorf("a good document was put away: %s", kept)
		}
	})
}

func TestRefusedFilesAreNeverOverwritten(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixtureWith(t, parley.LayoutInbox)
		s.put(rejected+"/x.json", "somebody's own")
		s.must(os.MkdirAll(s.at(rejected+"/y.json/in the way"), 0o755))
		s.must(os.Symlink(s.canary, s.at(rejected+"/z.json.reason")))
		var want []string
		for n, text := range []string{"[1]", "[2]", "[2]", "[2]", "[3]"} {
			for _, name := range []string{"x.json", "y.json", "z.json"} {
				for _, inbox := range []string{anas, "state/agents/all/inbox/"} {
					s.put(inbox+name, text)
					want = append(want, text)
				}
			}
			s.during(func() { s.polls(1 + n%2) })
		}
		var got []string
		entries, err := os.ReadDir(s.at(rejected))
		s.must(err)
		for _, e := range entries {
			if !strings.HasSuffix(e.Name(), ".reason") || e.Type() != 0 {
				continue
			}
			got = append(got, s.text(rejected+"/"+strings.TrimSuffix(e.Name(), ".reason")))
		}
		slices.Sort(want)
		slices.Sort(got)
		s.is("kept", got, want)
		if s.text(rejected+"/x.json") != "somebody's own" {
			t.Error("what was there was overwritten")
		}
	})
}

func TestAFullDiskDelaysAndLosesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.must(os.MkdirAll(s.at("channels/paper"), 0o755))
		var full atomic.Bool
		s.change = func(t *tree) {
			t.onStep = func(action, _ string) error {
				if action == writing && full.Load() {
					return syscall.ENOSPC
				}
				return nil
			}
		}
		s.during(func() {
			full.Store(true)
			s.put("channels/paper/x.json", "[]")
			s.hub.send(departure(1, "paper"))
			good := s.say("paper", 1)
			s.polls(3)
			s.is("what came", s.hub.names(), []string{good})
			if got := s.hub.noted().Trouble; len(s.hub.reported()) > 0 || !strings.Contains(got, "no space left") {
				t.Errorf("reports: %+v; trouble: %q", s.hub.reported(), got)
			}
			if left, err := filepath.Glob(s.at("channels/paper/*.tmp")); err != nil || len(left) > 0 {
				t.Errorf("%q is left, %v", left, err)
			}
			full.Store(false)
			s.polls(20)
			if got := s.hub.noted().Trouble; len(s.hub.reported()) != 1 || s.hub.reported()[0].State != parley.DepartureWritten || got != "" {
				t.Errorf("reports: %+v; trouble: %q", s.hub.reported(), got)
			}
		})
		s.refused("channels/paper/x.json", "")
	})
}

// A folder that becomes a link leads nowhere, and keeps nothing else waiting.
func TestAFolderIsSwappedForALink(t *testing.T) {
	for _, mapped := range [][]string{nil, {"paper", "other"}} {
		t.Run(fmt.Sprint(mapped), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBridgeFixture(t)
				s.hub.bridge.Channels = mapped
				outside := filepath.Join(filepath.Dir(s.canary), "outside")
				s.must(os.MkdirAll(outside, 0o755))
				s.must(os.WriteFile(filepath.Join(outside, name(7)+".json"), []byte(doc(name(7), "paper", "not ours")), 0o600))
				s.during(func() {
					first := s.say("paper", 1)
					s.polls(1)
					s.must(os.RemoveAll(s.at("channels/paper")))
					s.must(os.Symlink(outside, s.at("channels/paper")))
					s.hub.send(departure(1, "paper"))
					other := s.say("other", 2)
					s.polls(2)
					s.is("what came", s.hub.names(), []string{first, other})
				})
				if left, err := os.ReadDir(outside); err != nil || len(left) != 1 {
					t.Errorf("something was written outside of the tree: %v, %v", left, err)
				}
			})
		})
	}
}

// A mapped channel that is a link when the bridge starts keeps the others from nothing.
func TestAMappedChannelThatCannotBeUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.hub.bridge.Channels = []string{"paper", "other"}
		s.must(os.Mkdir(s.at("channels"), 0o755))
		s.must(os.Symlink(filepath.Dir(s.canary), s.at("channels/paper")))
		at := s.say("other", 1)
		s.during(func() { s.polls(1) })
		s.is("what came", s.hub.names(), []string{at})
		if got := s.hub.noted().Trouble; !strings.Contains(got, "symbolic link") {
			t.Errorf("the trouble: %q", got)
		}
	})
}

func TestALogInATreeIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.put("logs/parley.log", strings.Repeat("x", logSize))
		s.put(ownFolder+"/parley.log.1", "the one before")
		s.during(func() {
			s.put("channels/paper/x.json", `{"no":"message"}`)
			s.polls(1)
			s.put("channels/paper/y.json", `{"no":"message"}`)
			s.polls(1)
		})
		if got := s.text("logs/parley.log"); strings.Count(got, "\n") != 1 || !strings.Contains(got, "y.json") {
			t.Errorf("the log has %d bytes", len(got))
		}
		if got := s.text(ownFolder + "/parley.log.1"); len(got) < logSize || !strings.Contains(got, "x.json") {
			t.Errorf("the older log has %d bytes", len(got))
		}
	})
}

func TestATamperedBeginningLosesNoFile(t *testing.T) {
	for _, text := range []string{`{"channels":null}`, `null`, `{}`, `{"channels":{"paper":{}}}`, `{"channels":{"*":{"recent":{"paper":["z","a"]}}}}`} {
		t.Run(text, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBridgeFixture(t)
				s.must(os.MkdirAll(s.at("channels/paper"), 0o755))
				s.put(ownFolder+"/added", text)
				s.during(func() {
					at := s.say("paper", 1)
					s.polls(1)
					s.is("what came", s.hub.names(), []string{at})
				})
			})
		})
	}
}

func TestParleysOwnFolderIsNoLink(t *testing.T) {
	s := newBridgeFixture(t)
	s.must(os.Mkdir(filepath.Join(filepath.Dir(s.canary), "elsewhere"), 0o755))
	s.must(os.Symlink(filepath.Join(filepath.Dir(s.canary), "elsewhere"), s.at(ownFolder)))
	err := Run(t.Context(), s.Options)
	if err == nil || !strings.Contains(err.Error(), "symbolic link") {
		t.Errorf("it ran: %v", err)
	}
}

// A tree may go away with its root, and come back, or another directory may take its place: a file server is restarted, a
// checkout is made anew.
func TestARootThatIsReplaced(t *testing.T) {
	for what, again := range map[string]func(*bridgeFixture){
		"made anew": func(s *bridgeFixture) { s.must(os.Mkdir(s.dir, 0o755)) },
		"back":      func(s *bridgeFixture) { s.must(os.Rename(s.dir+".away", s.dir)) },
	} {
		t.Run(what, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newBridgeFixture(t)
				s.during(func() {
					first := s.say("paper", 1)
					s.polls(1)
					s.must(os.Rename(s.dir, s.dir+".away"))
					s.polls(2)
					if got := s.hub.noted().Trouble; !strings.Contains(got, "removed or replaced") {
						t.Errorf("the trouble: %q", got)
					}
					again(s)
					s.polls(1)
					second := s.say("paper", 2)
					s.polls(1)
					s.is("what came", s.hub.names(), []string{first, second})
					s.hub.send(departure(1, "paper"))
					s.polls(1)
					if got := s.hub.noted(); got.Trouble != "" || !got.Running {
						t.Errorf("the status: %+v", got)
					}
					s.text("channels/paper/" + departure(1, "paper").Name + ".json")
				})
			})
		})
	}
}

// A mount point is there when its file system is not.
func TestAMountPointIsNotTakenForTheTree(t *testing.T) {
	mounted, err := openTree("/proc")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = mounted.close() })
	g := newTreeFixture(t)
	if _, err := openNext(g.dir, mounted, true); !errors.Is(err, errTreeMoved) {
		t.Errorf("it was joined: %v", err)
	}
	g.must(os.Mkdir(g.at(ownFolder), 0o755))
	back, err := openNext(g.dir, mounted, true)
	g.must(err)
	g.must(back.close())
}

func TestAFileServerWithoutLocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.change = func(t *tree) { t.flock = func(int, int) error { return syscall.ENOLCK } }
		s.during(func() { s.polls(2) })
		if got := s.text("logs/parley.log"); strings.Count(got, "no locks") != 1 {
			t.Errorf("the log: %s", got)
		}
	})
}

func TestTwoLayoutsAreNotAtOneTree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		other := newFakeHub(parley.Bridge{ID: "second", Layout: parley.LayoutInbox, Root: s.dir})
		s.during(func() {
			err := Run(t.Context(), Options{Hub: other, ID: "second"})
			if parley.CodeOf(err) != parley.Unavailable || !strings.Contains(err.Error(), "the bridge tree, agentos") {
				t.Errorf("the second: %v", err)
			}
		})
	})
}

func TestALongImportReportsItsProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		for n := range 1000 {
			s.say("paper", n)
		}
		s.hub.slow = 10 * time.Millisecond
		s.during(func() {
			time.Sleep(5 * time.Second)
			if got := s.hub.noted(); got.Waiting == 0 || got.Imported == 0 || !got.Running {
				t.Errorf("in the middle: %+v", got)
			}
		})
	})
}

// Whatever a script has left half written or broken and taken away again is forgotten.
func TestFilesThatWereTakenAwayAreForgotten(t *testing.T) {
	g := newTreeFixture(t)
	q := newImportQueue()
	g.put("in/x.json", "{")
	g.must(g.inFolder("in", q.list))
	q.partial["x.json"], q.partial["y.json"] = unparsed{}, unparsed{}
	q.refused["x.json"], q.refused["y.json"] = fileVersion{1}, fileVersion{1}
	q.found = nil
	g.must(g.inFolder("in", q.list))
	if _, kept := q.partial["x.json"]; !kept || len(q.partial) != 1 || len(q.refused) != 1 {
		t.Errorf("%v and %v are remembered", q.partial, q.refused)
	}
}

func TestOnlyTheFileThatWasReadIsDeleted(t *testing.T) {
	g := newTreeFixture(t)
	g.put("in/x.json", "one")
	f, err := g.read("in/x.json", 10)
	g.must(err)
	g.put("in/x.json", "another")
	if err := g.consume(f); !errors.Is(err, errReplaced) || g.text("in/x.json") != "another" {
		t.Errorf("another file was deleted: %v", err)
	}
}

// A bridge that is started before its file system is mounted finds an empty directory, and leaves it alone.
func TestABridgeIsStartedBeforeItsTreeIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.say("paper", 1)
		s.during(func() { s.polls(1) })
		s.must(os.Rename(s.dir, s.dir+".unmounted"))
		s.must(os.Mkdir(s.dir, 0o755))
		s.hub.do(func(h *fakeHub) { h.bridge.Reached = true })
		s.hub.send(departure(1, "paper"))
		s.during(func() {
			s.polls(2)
			if got := s.hub.noted().Trouble; !strings.Contains(got, "no bridge has used") {
				t.Errorf("the trouble: %q", got)
			}
			left, err := os.ReadDir(s.dir)
			s.must(err)
			if len(left) > 0 {
				t.Errorf("there are %v", left)
			}
			s.must(os.Remove(s.dir))
			s.must(os.Rename(s.dir+".unmounted", s.dir))
			s.polls(2)
			s.text("channels/paper/" + departure(1, "paper").Name + ".json")
		})
		s.must(os.RemoveAll(s.at(ownFolder)))
		s.hub.do(func(h *fakeHub) { h.bridge.Reached = false }) // it was paused and resumed
		s.during(func() { s.polls(1) })
		s.text(ownFolder + "/lock")
	})
}
