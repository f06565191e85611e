package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
	"github.com/parley-hub/parley/internal/store/groupcommit/committest"
)

func TestDriverLearnsOfACommitBeforeTheCallers(t *testing.T) {
	withStore(t, func(f *fixture) {
		for i := range 3 {
			f.Submit(fmt.Sprint("update-", i))
			f.WG.Wait()
		}
		if want := []int64{1, 2, 3}; !slices.Equal(f.driver.committed, want) {
			f.Errorf("reported were %v, want %v", f.driver.committed, want)
		}
	})
}

func TestPanickingUpdateLeavesItsBatchAlone(t *testing.T) {
	withStore(t, func(f *fixture) {
		f.Together(f.Plain("before"), f.With("bad", func(storage.Tx) error { panic("an end") }), f.Plain("after"))
		f.Acknowledged("held", "before", "after")
		if err := f.Outcome("bad"); parley.CodeOf(err) != parley.Internal {
			f.Errorf("the panic was told as %v", err)
		}
		f.Batches(4)
	})
}

// A statement that failed may have ended the transaction. If the update could go on, its next statement would commit on its own.
func TestUpdateCannotHideThatTheDatabaseFailed(t *testing.T) {
	for name, fails := range map[string]committest.Hook{
		"a write":                           committest.Fail("INSERT INTO agents", 2),
		"a write that ends the transaction": committest.End("INSERT INTO agents", 2),
		"a read":                            committest.Fail("SELECT agent FROM names", 2),
		"a read that ends the transaction":  committest.End("SELECT agent FROM names", 2),
	} {
		t.Run(name, func(t *testing.T) {
			withStore(t, func(f *fixture) {
				f.Conn.Before = fails
				insert := func(tx storage.Tx) error { return tx.Agents().Insert(testAgent()) }
				var after error
				f.Together(f.Plain("before"), f.With("bad", hides(insert), func(tx storage.Tx) error {
					after = tx.Log().Append(parley.Event{Kind: "too late"})
					return nil
				}), f.Plain("after"))
				f.Acknowledged("held", "before", "after")
				f.Refused("bad", committest.ErrInjected)
				if !errors.Is(after, committest.ErrInjected) {
					f.Errorf("the statement after the failure was told %v", after)
				}
			})
		})
	}
}

// Another commit overwrites what a failed commit has left in the write-ahead log, before the caller is told that nothing was stored.
func TestFailedCommitIsOverwritten(t *testing.T) {
	withStore(t, func(f *fixture) {
		f.Conn.Before = committest.Fail("COMMIT", 1)
		f.Submit("lone")
		f.WG.Wait()
		f.Refused("lone", committest.ErrInjected)
		var after []string
		for _, e := range f.Conn.Log() {
			if after = append(after, e.Query); e.Err != nil {
				after = nil
			}
		}
		want := []string{"ROLLBACK", "BEGIN IMMEDIATE", "UPDATE counters SET repairs = repairs + 1", "COMMIT"}
		if !slices.Equal(after, want) {
			f.Errorf("after the failed commit: %q, want %q", after, want)
		}
	})
}

func TestCountersThatCannotBeWritten(t *testing.T) {
	withStore(t, func(f *fixture) {
		f.Conn.Before = committest.Fail("UPDATE counters", 1)
		f.Together(f.With("a", func(tx storage.Tx) error { return tx.Agents().Insert(testAgent()) }), f.Plain("b"))
		f.Acknowledged("held", "a", "b")
		f.Submit("finds", func(tx storage.Tx) error {
			_, err := tx.Agents().Find("arya")
			return err
		})
		f.WG.Wait()
		f.Acknowledged("finds")
	})
}

func TestAgentsAreForgottenWithTheirTransaction(t *testing.T) {
	withStore(t, func(f *fixture) {
		f.Conn.Before = committest.End("COMMIT", 1)
		f.Submit("lost", func(tx storage.Tx) error {
			if err := tx.Agents().Insert(testAgent()); err != nil {
				return err
			}
			_, err := tx.Agents().Find("arya")
			return err
		})
		f.WG.Wait()
		f.Refused("lost", committest.ErrInjected)
		find := func(tx storage.Tx) error {
			_, err := tx.Agents().Find("arya")
			return err
		}
		f.Submit("finds", find)
		f.WG.Wait()
		f.Refused("finds", parley.ErrNotFound)
		if err := f.store.View(context.Background(), find); !errors.Is(err, parley.ErrNotFound) {
			f.Errorf("a view was told %v", err)
		}
	})
}

func TestAgentsOfAFailedUpdateAreUnknownToItsBatch(t *testing.T) {
	withStore(t, func(f *fixture) {
		find := func(tx storage.Tx) error {
			_, err := tx.Agents().Find("arya")
			return err
		}
		renamed := testAgent()
		renamed.Name = "Other"
		f.Together(
			f.With("bad", func(tx storage.Tx) error {
				return errors.Join(tx.Agents().Insert(testAgent()), find(tx), committest.ErrInjected)
			}),
			f.With("finds none", find),
			f.With("another", func(tx storage.Tx) error { return tx.Agents().Insert(renamed) }),
			f.With("finds it", func(tx storage.Tx) error {
				a, err := tx.Agents().Find("arya")
				if err == nil && a.Name != "Other" {
					err = fmt.Errorf("found %s", a.Name)
				}
				return err
			}),
		)
		f.Refused("bad", committest.ErrInjected)
		f.Refused("finds none", parley.ErrNotFound)
		f.Acknowledged("another", "finds it")
		f.Batches(5)
	})
}

// Another process may write between two transactions, so the numbers are read again in each.
func TestNumbersDrawnByOthersAreSeen(t *testing.T) {
	withStore(t, func(f *fixture) {
		f.Submit("mine")
		f.WG.Wait()
		if _, err := f.driver.db.Exec("INSERT INTO events (num, at, kind) VALUES (2, 0, 'theirs')"); err != nil {
			f.Fatal(err)
		}
		f.Expect("theirs")
		f.Submit("mine again")
		f.WG.Wait()
		f.Acknowledged("mine", "mine again")
	})
}

func testAgent() parley.Agent {
	return parley.Agent{ID: "arya", UUID: "an-uuid", Name: "AryaBot", Kind: parley.KindAgent}
}

// hides returns an update that hides the error of call.
func hides(call func(storage.Tx) error) func(storage.Tx) error {
	return func(tx storage.Tx) error {
		_ = call(tx)
		return nil
	}
}
