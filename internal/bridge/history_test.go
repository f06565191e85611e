package bridge

import (
	"encoding/json"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

func TestExistingFilesAreHistoryAndNewFilesAreLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		b, a := s.say("paper", 2), s.say("paper", 1)
		s.age(a, time.Hour)
		var c, d string
		s.during(func() {
			c = s.say("paper", 3)
			d = s.say("team", 4) // a channel that is new
			s.polls(1)
		})
		live, history := s.came()
		s.is("history", history, []string{a, b})
		s.is("live", live, []string{c, d})

		e := s.say("paper", 5) // while nobody is at the tree
		before := len(s.hub.names())
		s.during(func() { s.polls(2) })
		live, _ = s.came()
		s.is("after a restart", live, []string{c, d, e})
		if n := len(s.hub.names()); n != before+1 {
			t.Errorf("%d documents came again", n-before-1)
		}
	})
}

func TestAChannelThatIsMappedLaterHasItsOwnHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.hub.bridge.Channels = []string{"paper"}
		s.during(func() {
			old := s.say("team", 1)
			s.polls(1)
			s.is("of channels that are not mapped", s.hub.names(), nil)
			s.hub.do(func(h *fakeHub) { h.bridge.Channels = []string{"paper", "team"} })
			s.polls(1)
			fresh := s.say("team", 2)
			s.polls(1)
			live, history := s.came()
			s.is("history", history, []string{old})
			s.is("live", live, []string{fresh})
		})
	})
}

func TestReplaySinceOverridesHistory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		since := time.Date(2026, 1, 11, 16, 0, 0, 0, time.UTC)
		s.hub.bridge.ReplaySince = &since
		old := s.say("paper", 1)
		s.age(old, time.Hour)
		s.during(func() { s.polls(1) })
		live, _ := s.came()
		s.is("live", live, []string{old})
	})
}

// A bridge that is killed while it lists what is there must not take what comes meanwhile for old, nor the other way.
func TestAnInterruptedBeginningTellsOldFilesFromNew(t *testing.T) {
	for name, step := range map[string]time.Duration{"fine clock": time.Nanosecond, "steps of a second": time.Second} {
		t.Run(name, func(t *testing.T) {
			s := newBridgeFixture(t)
			old, renamed := s.say("paper", 1), s.say("paper", 3)
			s.must(os.MkdirAll(s.at(ownFolder), 0o755))
			s.put(".parley/"+listingFile, s.hub.bridge.CreatedAt.Format(time.RFC3339Nano))
			s.put(".parley/"+startFile, "")
			now := time.Now()
			stampAt := func(name string, at time.Time) { s.must(os.Chtimes(s.at(name), time.Time{}, at.Truncate(step))) }
			stampAt(".parley/"+listingFile, now)
			stampAt(old, now.Add(-2*time.Second))
			stampAt(renamed, now.Add(-2*time.Second))
			fresh := s.say("paper", 2)
			stampAt(fresh, now)
			s.tree.changeTime = func(info fs.FileInfo) time.Time { // nobody can set it
				if info.Name() == path.Base(renamed) {
					return now.Truncate(step)
				}
				return info.ModTime()
			}
			b, err := loadStart(s.tree, nil, s.hub.bridge, []string{"paper"}, nil)
			s.must(err)
			for at, want := range map[string]bool{old: true, fresh: false, renamed: false} {
				f, err := s.read(at, documentSize)
				s.must(err)
				if got := b.isHistory("paper", f, now); got != want {
					t.Errorf("%s: history is %v", at, got)
				}
			}
		})
	}
}

// A tree whose bridge was removed and is added again has a new beginning: what lies there is history, also what has come meanwhile.
func TestATreeThatIsJoinedAgainBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.say("paper", 1)
		s.during(func() { s.polls(1) })
		meanwhile := s.say("paper", 2)
		s.put(".parley/"+listingFile, s.hub.bridge.CreatedAt.Format(time.RFC3339Nano)) // it was killed
		time.Sleep(time.Hour)
		s.hub.bridge.CreatedAt = time.Now()
		last := s.say("paper", 3)
		s.during(func() {
			s.polls(1)
			fresh := s.say("paper", 4)
			s.polls(1)
			live, history := s.came()
			s.is("live", live, []string{fresh})
			s.is("history", history[1:], []string{meanwhile, last})
		})
	})
}

func TestRenamedFilesThatAreSeenLateAreLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		var hidden sync.Map
		s.change = func(tr *tree) {
			tr.listsName = func(_, name string) bool { _, hides := hidden.Load(name); return !hides }
			tr.changeTime = fs.FileInfo.ModTime // nobody has touched the old one for an hour
		}
		old := s.say("paper", 1)
		s.age(old, time.Hour)
		hidden.Store(filepath.Base(old), true)
		s.during(func() {
			second, third := s.say("paper", 2), s.say("paper", 3)
			hidden.Store(filepath.Base(second), true)
			s.polls(1)
			hidden.Clear()
			s.polls(1)
			live, history := s.came()
			s.is("live", live, []string{third, second})
			s.is("history", history, []string{old})
		})
	})
}

// A channel that cannot be listed when the bridge begins keeps the others from nothing, and its history is what lay there when it
// can be.
func TestAChannelThatCannotBeListedAtFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		old := s.say("closed", 1)
		var opened atomic.Bool
		s.meanwhile(listing, "channels/closed", func() error {
			if opened.Load() {
				return nil
			}
			return syscall.EACCES
		})
		s.must(os.MkdirAll(s.at("channels/paper"), 0o755))
		s.during(func() {
			s.polls(1)
			first := s.say("paper", 2)
			s.polls(1)
			s.is("what came", s.hub.names(), []string{first})
			if got := s.hub.noted().Trouble; !strings.Contains(got, "permission") {
				t.Errorf("the trouble: %q", got)
			}
			opened.Store(true)
			s.polls(2)
			second := s.say("closed", 3)
			s.polls(1)
			live, history := s.came()
			s.is("live", live, []string{first, second})
			s.is("history", history, []string{old})
			if got := s.hub.noted().Trouble; got != "" {
				t.Errorf("there is trouble still: %q", got)
			}
		})
	})
}

// A directory that cannot be a channel is left alone, and a line says so, once.
func TestADirectoryThatCannotBeAChannel(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.say("Team Alpha", 1)
		good := s.say("paper", 2)
		s.must(os.MkdirAll(s.at("channels/.git"), 0o755))
		s.during(func() { s.polls(3) })
		s.is("what came", s.hub.names(), []string{good})
		if log := s.text("logs/parley.log"); strings.Count(log, "\n") != 1 || !strings.Contains(log, `WARN: ignoring channels/Team Alpha`) {
			t.Errorf("the log: %s", log)
		}
	})
}

// TestAFileThatIsRenamedIntoPlaceLongAfterItWasWrittenIsLive: what counts is when it appeared.
func TestAFileThatIsRenamedIntoPlaceLongAfterItWasWrittenIsLive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		old := s.say("paper", 1)
		s.age(old, time.Hour)
		var late string
		s.during(func() {
			late = "channels/paper/" + name(2) + ".json"
			s.put("elsewhere.tmp", doc(name(2), "paper", "hello"))
			s.age("elsewhere.tmp", time.Hour)
			s.must(os.Rename(s.at("elsewhere.tmp"), s.at(late)))
			s.polls(1)
		})
		live, history := s.came()
		s.is("history", history, []string{old})
		s.is("live", live, []string{late})
	})
}

// TestABeginningOfAnOlderProgramGoesByFileTimes goes by when files were written, as that program has listed them.
func TestABeginningOfAnOlderProgramGoesByFileTimes(t *testing.T) {
	s := newBridgeFixture(t)
	listed, old := s.say("paper", 1), s.say("paper", 2)
	s.age(old, time.Hour)
	s.must(os.MkdirAll(s.at(ownFolder), 0o755))
	raw, err := json.Marshal(treeStart{Added: s.hub.bridge.CreatedAt, Channels: map[string]channelStart{
		everyChannel: {At: time.Now(), Recent: map[string][]string{"paper": {path.Base(listed)}}},
	}})
	s.must(err)
	s.put(".parley/"+startFile, string(raw))
	fresh := s.say("paper", 3)
	b, err := loadStart(s.tree, nil, s.hub.bridge, []string{"paper"}, nil)
	s.must(err)
	for at, want := range map[string]bool{listed: true, old: true, fresh: false} {
		f, err := s.read(at, documentSize)
		s.must(err)
		if got := b.isHistory("paper", f, time.Now()); got != want {
			t.Errorf("%s: history is %v", at, got)
		}
	}
}

// TestTheFirstLookEndsBeforeItsFilesAreImported: a tree may hold very many files.
func TestTheFirstLookEndsBeforeItsFilesAreImported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		for n := range 50 {
			s.say("paper", n)
		}
		s.hub.slow = time.Minute
		var imported []string
		s.OnFirstScan = func() { imported = s.hub.names() }
		s.during(func() {
			if status := s.hub.noted(); !status.Looked || !status.Running {
				t.Errorf("it says %+v", status)
			}
			s.say("paper", 50)
			time.Sleep(2 * time.Hour)
			synctest.Wait()
		})
		live, history := s.came()
		s.is("live", live, []string{"channels/paper/" + name(50) + ".json"})
		if len(history) != 50 || len(imported) != 0 {
			t.Errorf("%d are history; %d were imported before the first look was over", len(history), len(imported))
		}
	})
}

// TestATreeThatCannotBeReadHasNotBeenLookedAt: nothing is known then of what is history.
func TestATreeThatCannotBeReadHasNotBeenLookedAt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		s.say("paper", 1)
		var closed atomic.Bool
		closed.Store(true)
		s.change = func(tr *tree) {
			tr.onStep = func(action, at string) error {
				if action == listing && at == "channels" && closed.Load() {
					return &os.PathError{Op: "readdir", Path: at, Err: syscall.EACCES}
				}
				return nil
			}
		}
		looked := 0
		s.OnFirstScan = func() { looked++ }
		s.during(func() {
			s.polls(2)
			if status := s.hub.noted(); status.Looked || looked > 0 || !strings.Contains(status.Trouble, "permission denied") {
				t.Errorf("it says %+v", status)
			}
			closed.Store(false)
			s.polls(2)
			if status := s.hub.noted(); !status.Looked || looked != 1 || status.Trouble != "" {
				t.Errorf("once it can be read it says %+v", status)
			}
		})
	})
}

// TestABridgeThatWasReplacedEnds: another bridge has its id by now, and looks for itself.
func TestABridgeThatWasReplacedEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newBridgeFixture(t)
		ended := make(chan error, 1)
		go func() { ended <- Run(t.Context(), s.Options) }()
		synctest.Wait()
		s.hub.do(func(h *fakeHub) { h.bridge.CreatedAt = h.bridge.CreatedAt.Add(time.Hour) })
		s.polls(1)
		select {
		case err := <-ended:
			s.must(err)
		default:
			t.Fatal("it goes on")
		}
	})
}
