package groupcommit

import (
	"errors"
	"sync"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/store/groupcommit/committest"
)

// A full disk makes SQLite roll back the whole transaction, with the other updates of the batch.
func TestFullDiskFailsOneUpdateOnly(t *testing.T) {
	large := func(t *tx) error {
		return t.write("INSERT INTO names (name, data) VALUES ('large', $1)", make([]byte, 2<<20))
	}
	for name, bad := range map[string][]func(*tx) error{
		"told":   {large},
		"hidden": {hides(large), hides(func(t *tx) error { return t.label("too late") })},
	} {
		t.Run(name, func(t *testing.T) {
			withWriter(t, func(f *fixture) {
				if err := f.Conn.LimitPages(30); err != nil {
					f.Fatal(err)
				}
				f.Together(f.Plain("before"), f.With("bad", bad...), f.Plain("after"))
				f.Acknowledged("held", "before", "after")
				if err := f.Outcome("bad"); parley.AsError(err).Reason != parley.StorageFull {
					f.Errorf("the culprit was told %v", err)
				}
				if errs := f.Conn.Errors("ROLLBACK TO"); len(errs) == 0 || errs[0] == nil {
					f.Errorf("the transaction did not end: %v", errs)
				}
				f.Ran("held", 2)
				f.Ran("before", 2)
			})
		})
	}
}

// Wherever the transaction ends, every caller gets its outcome, and the update at fault gets its error.
func TestTransactionThatEndsInsideAnUpdate(t *testing.T) {
	own := errors.New("the update's own error")
	for name, fails := range map[string]committest.Hook{
		"ROLLBACK TO fails once":               committest.Fail("ROLLBACK TO", 1),
		"ROLLBACK TO fails each time":          committest.Fail("ROLLBACK TO", -1),
		"ROLLBACK TO fails, transaction gone":  committest.End("ROLLBACK TO", 1),
		"ROLLBACK TO always fails that way":    committest.End("ROLLBACK TO", -1),
		"RELEASE fails once":                   committest.Fail("RELEASE", 1),
		"RELEASE fails, transaction gone":      committest.End("RELEASE", 1),
		"SAVEPOINT fails once":                 committest.Fail("SAVEPOINT", 1),
		"SAVEPOINT fails, transaction is gone": committest.End("SAVEPOINT", 1),
	} {
		t.Run(name, func(t *testing.T) {
			withWriter(t, func(f *fixture) {
				var once sync.Once
				f.Together(f.With("before", func(*tx) error {
					once.Do(func() { f.Conn.Before = fails }) // from here on
					return nil
				}), f.With("bad", func(*tx) error { return own }), f.Plain("after"))
				f.Acknowledged("held", "before", "after")
				f.Refused("bad", own)
				f.Ran("held", 2)
			})
		})
	}
}

func TestBeginFails(t *testing.T) {
	withWriter(t, func(f *fixture) {
		f.Submit("first")
		f.WG.Wait()
		f.Conn.Before = committest.Fail("BEGIN", 2)
		f.Submit("told")
		f.WG.Wait()
		f.Refused("told", committest.ErrInjected)
		f.Ran("told", 0)
		f.Submit("told too")
		f.WG.Wait()
		f.Refused("told too", committest.ErrInjected)
		f.Submit("later")
		f.WG.Wait()
		f.Acknowledged("later")
	})
}

func TestBeginFailsWhileABatchIsRunAgain(t *testing.T) {
	withWriter(t, func(f *fixture) {
		commits, begins := committest.End("COMMIT", 1), 0
		f.Conn.Before = func(c *committest.Conn, query string) error {
			if query == "BEGIN IMMEDIATE" {
				if begins++; begins == 4 { // the batch's, the repair's, then one for each alone
					return committest.ErrInjected
				}
			}
			return commits(c, query)
		}
		f.Together(f.Plain("a"), f.Plain("b"))
		f.Acknowledged("held", "b")
		f.Refused("a", committest.ErrInjected)
	})
}
