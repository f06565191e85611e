package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/parley-hub/parley"
	"github.com/parley-hub/parley/internal/storage"
)

func TestCommitIsReportedBeforeAnybodyIsTold(t *testing.T) {
	play(t, func(s *scene) {
		for i := range 3 {
			s.submit(fmt.Sprint("update-", i))
			s.wg.Wait()
		}
		if want := []int64{1, 2, 3}; !slices.Equal(s.driver.committed, want) {
			s.Errorf("reported were %v, want %v", s.driver.committed, want)
		}
	})
}

func TestPanickingUpdateLeavesItsBatchAlone(t *testing.T) {
	play(t, func(s *scene) {
		s.together(s.plain("before"), s.with("bad", func(storage.Tx) error { panic("an end") }), s.plain("after"))
		s.acknowledged("held", "before", "after")
		if err := s.outcome("bad"); parley.CodeOf(err) != parley.Internal {
			s.Errorf("the panic was told as %v", err)
		}
		s.batches(4)
	})
}

func testAgent() parley.Agent {
	return parley.Agent{ID: "arya", UUID: "an-uuid", Name: "AryaBot", Kind: parley.KindAgent}
}

// hides runs a call whose error it keeps to itself.
func hides(call func(storage.Tx) error) func(storage.Tx) error {
	return func(tx storage.Tx) error {
		_ = call(tx)
		return nil
	}
}

// A statement that failed may have ended the transaction. If the update could go on, its next
// statement would commit by itself.
func TestUpdateCannotHideThatTheDatabaseFailed(t *testing.T) {
	for name, fails := range map[string]failure{
		"a write":                           {"INSERT INTO agents", 2, false},
		"a write that ends the transaction": {"INSERT INTO agents", 2, true},
		"a read":                            {"SELECT agent FROM names", 2, false},
		"a read that ends the transaction":  {"SELECT agent FROM names", 2, true},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *scene) {
				s.driver.writer.before = fails.hook()
				insert := func(tx storage.Tx) error { return tx.Agents().Insert(testAgent()) }
				var after error
				s.together(s.plain("before"), s.with("bad", hides(insert), func(tx storage.Tx) error {
					after = tx.Log().Append(parley.Event{Kind: "too late"})
					return nil
				}), s.plain("after"))
				s.acknowledged("held", "before", "after")
				s.refused("bad", errInjected)
				if !errors.Is(after, errInjected) {
					s.Errorf("the statement after the failure was told %v", after)
				}
			})
		})
	}
}

// What a failed commit has left in the log is overwritten by another commit before anybody is told
// that nothing was stored.
func TestFailedCommitIsOverwritten(t *testing.T) {
	play(t, func(s *scene) {
		s.driver.writer.before = failure{"COMMIT", 1, false}.hook()
		s.submit("lone")
		s.wg.Wait()
		s.refused("lone", errInjected)
		var after []string
		for _, e := range s.driver.writer.log {
			if after = append(after, e.query); e.err != nil {
				after = nil
			}
		}
		want := []string{"ROLLBACK", "BEGIN IMMEDIATE", "UPDATE counters SET repairs = repairs + 1", "COMMIT"}
		if !slices.Equal(after, want) {
			s.Errorf("after the failed commit: %q, want %q", after, want)
		}
	})
}

func TestCountersThatCannotBeWritten(t *testing.T) {
	play(t, func(s *scene) {
		s.driver.writer.before = failure{"UPDATE counters", 1, false}.hook()
		s.together(s.with("a", func(tx storage.Tx) error { return tx.Agents().Insert(testAgent()) }), s.plain("b"))
		s.acknowledged("held", "a", "b")
		s.submit("finds", func(tx storage.Tx) error {
			_, err := tx.Agents().Find("arya")
			return err
		})
		s.wg.Wait()
		s.acknowledged("finds")
	})
}

func TestAgentsAreForgottenWithTheirTransaction(t *testing.T) {
	play(t, func(s *scene) {
		s.driver.writer.before = failure{"COMMIT", 1, true}.hook()
		s.submit("lost", func(tx storage.Tx) error {
			if err := tx.Agents().Insert(testAgent()); err != nil {
				return err
			}
			_, err := tx.Agents().Find("arya")
			return err
		})
		s.wg.Wait()
		s.refused("lost", errInjected)
		find := func(tx storage.Tx) error {
			_, err := tx.Agents().Find("arya")
			return err
		}
		s.submit("finds", find)
		s.wg.Wait()
		s.refused("finds", parley.ErrNotFound)
		if err := s.store.View(context.Background(), find); !errors.Is(err, parley.ErrNotFound) {
			s.Errorf("a view was told %v", err)
		}
	})
}

func TestAgentsOfAFailedUpdateAreUnknownToItsBatch(t *testing.T) {
	play(t, func(s *scene) {
		find := func(tx storage.Tx) error {
			_, err := tx.Agents().Find("arya")
			return err
		}
		renamed := testAgent()
		renamed.Name = "Other"
		s.together(
			s.with("bad", func(tx storage.Tx) error {
				return errors.Join(tx.Agents().Insert(testAgent()), find(tx), errInjected)
			}),
			s.with("finds none", find),
			s.with("another", func(tx storage.Tx) error { return tx.Agents().Insert(renamed) }),
			s.with("finds it", func(tx storage.Tx) error {
				a, err := tx.Agents().Find("arya")
				if err == nil && a.Name != "Other" {
					err = fmt.Errorf("found %s", a.Name)
				}
				return err
			}),
		)
		s.refused("bad", errInjected)
		s.refused("finds none", parley.ErrNotFound)
		s.acknowledged("another", "finds it")
		s.batches(5)
	})
}

// Where others can write, what one transaction has read says nothing about the next.
func TestNumbersDrawnByOthersAreSeen(t *testing.T) {
	play(t, func(s *scene) {
		s.submit("mine")
		s.wg.Wait()
		if _, err := s.driver.db.Exec("INSERT INTO events (num, at, kind) VALUES (2, 0, 'theirs')"); err != nil {
			s.Fatal(err)
		}
		s.told["theirs"] = nil
		s.submit("mine again")
		s.wg.Wait()
		s.acknowledged("mine", "mine again")
	})
}
