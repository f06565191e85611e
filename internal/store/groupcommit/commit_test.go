package groupcommit

import (
	"context"
	"strings"
	"testing"

	"github.com/parley-hub/parley/internal/store/groupcommit/committest"
)

func TestFailedCommitIsNeverAcknowledged(t *testing.T) {
	for name, fails := range map[string]committest.Hook{"transaction open": committest.Fail("COMMIT", 1), "transaction gone": committest.End("COMMIT", 1)} {
		t.Run(name, func(t *testing.T) {
			withWriter(t, func(f *fixture) {
				f.Conn.Before = fails
				f.Together(f.Plain("a"), f.With("bad", func(*tx) error { return context.DeadlineExceeded }), f.Plain("b"))
				f.Acknowledged("held", "a", "b")
				f.Refused("bad", context.DeadlineExceeded)
				for _, label := range []string{"held", "a", "bad", "b"} {
					f.Ran(label, 2)
				}
				f.Batches(4, 0, 1, 1, 1, 1) // the repair, and each alone
			})
		})
	}
}

func TestCommitThatFailsForOneOnly(t *testing.T) {
	withWriter(t, func(f *fixture) {
		poisoned := false
		f.Conn.Before = func(_ *committest.Conn, query string) error {
			switch {
			case query == "BEGIN IMMEDIATE":
				poisoned = false
			case query == "COMMIT" && poisoned:
				return committest.ErrInjected
			}
			return nil
		}
		f.Together(f.Plain("a"), f.With("bad", func(*tx) error {
			poisoned = true
			return nil
		}), f.Plain("b"))
		f.Acknowledged("held", "a", "b")
		f.Refused("bad", committest.ErrInjected)
	})
}

// While the repair fails too, no caller is told that nothing was stored, and the writer takes no update.
func TestDatabaseThatCannotCommit(t *testing.T) {
	withWriter(t, func(f *fixture) {
		f.Conn.Before = committest.Fail("COMMIT", 3)
		f.Together(f.Plain("a"), f.Plain("b"), f.Plain("c"))
		for _, label := range []string{"held", "a", "b", "c"} {
			f.Refused(label, committest.ErrInjected)
			text := f.Outcome(label).Error()
			if !strings.Contains(text, "not known whether this was stored") || strings.Contains(text, "not stored") {
				f.Errorf("%s was told %s", label, text)
			}
			f.Ran(label, 1)
		}
		f.Submit("too early")
		f.WG.Wait()
		f.Refused("too early", committest.ErrInjected)
		f.Ran("too early", 0)
		f.Submit("later")
		f.WG.Wait()
		f.Acknowledged("later")
	})
}

func TestLoneCommitFails(t *testing.T) {
	withWriter(t, func(f *fixture) {
		f.Conn.Before = committest.End("COMMIT", 1)
		f.Submit("lone")
		f.WG.Wait()
		f.Refused("lone", committest.ErrInjected)
		f.Ran("lone", 1)
		if f.database.commits > 0 {
			f.Errorf("reported as committed: %v", f.database.commits)
		}
	})
}
