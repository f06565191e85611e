package store

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/parley-hub/parley/internal/storage"

	"github.com/parley-hub/parley"
)

func TestLoneUpdateIsCommittedAtOnce(t *testing.T) {
	play(t, func(s *scene) {
		began := time.Now()
		s.submit("lone")
		s.wg.Wait()
		s.acknowledged("lone")
		if waited := time.Since(began); waited > 0 {
			s.Errorf("it waited %v for company", waited)
		}
		s.batches(1)
	})
}

func TestUpdatesThatWaitShareOneCommit(t *testing.T) {
	play(t, func(s *scene) {
		s.together(func() {
			for i := range 100 {
				s.submit(fmt.Sprint("waiting-", i))
			}
		})
		for i := range 100 {
			s.acknowledged(fmt.Sprint("waiting-", i))
		}
		s.batches(101)
		if n := s.driver.writer.succeeded("COMMIT"); n != 1 {
			s.Errorf("%d commits for 101 updates", n)
		}
	})
}

func TestBatchHas256UpdatesAtMost(t *testing.T) {
	play(t, func(s *scene) {
		s.together(func() {
			for i := range 2*batchUpdates + 10 {
				s.submit(fmt.Sprint("waiting-", i))
			}
		})
		s.batches(256, 256, 11)
	})
}

func TestBatchIsClosedAfterItsTime(t *testing.T) {
	play(t, func(s *scene) {
		takes := func(d time.Duration) func(storage.Tx) error {
			return func(storage.Tx) error {
				time.Sleep(d)
				return nil
			}
		}
		s.together(
			s.with("within", takes(batchTime)), s.with("beyond", takes(1)), s.plain("next"), s.plain("with it"),
		)
		s.acknowledged("within", "beyond", "next", "with it")
		s.batches(3, 2)
	})
}

func TestNobodyIsToldBeforeTheCommit(t *testing.T) {
	play(t, func(s *scene) {
		gate := make(chan struct{})
		release := s.hold()
		s.submit("good")
		s.submit("bad", func(storage.Tx) error { return errInjected })
		s.driver.writer.before = func(_ *testConn, query string) error {
			if query == "COMMIT" {
				<-gate
			}
			return nil
		}
		go release()
		synctest.Wait()
		s.mu.Lock()
		told := len(s.told)
		s.mu.Unlock()
		if told > 0 {
			s.Error("somebody was told before the commit")
		}
		close(gate)
		s.wg.Wait()
		s.acknowledged("held", "good")
		s.refused("bad", errInjected)
	})
}

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

func TestCallerCancelledWhileItWaits(t *testing.T) {
	play(t, func(s *scene) {
		ctx, cancel := context.WithCancel(context.Background())
		s.together(s.plain("before"), func() {
			s.submitWith(ctx, "cancelled")
			cancel()
			synctest.Wait()
			s.refused("cancelled", context.Canceled) // told at once, while another update runs
		}, s.plain("after"))
		s.acknowledged("before", "after")
		s.ran("cancelled", 0)
		s.batches(3)
	})
}

func TestCallerCancelledWhileTheQueueIsFull(t *testing.T) {
	play(t, func(s *scene) {
		ctx, cancel := context.WithCancel(context.Background())
		s.together(func() {
			for i := range batchUpdates {
				s.submit(fmt.Sprint("queued-", i))
			}
			s.submitWith(ctx, "cancelled")
			cancel()
			synctest.Wait()
			s.refused("cancelled", context.Canceled)
		})
		s.ran("cancelled", 0)
		s.acknowledged("queued-0", fmt.Sprint("queued-", batchUpdates-1))
	})
}

func TestCallerCancelledOnceItsUpdateRuns(t *testing.T) {
	play(t, func(s *scene) {
		ctx, cancel := context.WithCancel(context.Background())
		s.together(s.plain("before"), func() {
			s.submitWith(ctx, "cancelled", func(tx storage.Tx) error {
				cancel()
				return tx.Agents().Insert(testAgent()) // statements still run
			})
		}, s.plain("after"))
		s.acknowledged("before", "cancelled", "after")
		s.batches(4)
	})
}

func TestEveryCallerCancelled(t *testing.T) {
	play(t, func(s *scene) {
		ctx, cancel := context.WithCancel(context.Background())
		s.together(func() {
			for i := range 10 {
				s.submitWith(ctx, fmt.Sprint("cancelled-", i))
			}
			cancel()
			synctest.Wait()
		})
		s.batches(1)
		s.submit("later")
		s.wg.Wait()
		s.acknowledged("later")
	})
}

func TestFailingUpdateLeavesItsBatchAlone(t *testing.T) {
	play(t, func(s *scene) {
		s.together(s.plain("before"), s.with("bad", func(storage.Tx) error { return errInjected }), s.plain("after"))
		s.acknowledged("held", "before", "after")
		s.refused("bad", errInjected)
		s.ran("bad", 1)
		s.batches(4)
	})
}

// The first update of a batch is special in that nothing is in its transaction yet.
func TestFirstUpdateOfABatchFails(t *testing.T) {
	for name, end := range map[string]func(storage.Tx) error{
		"by its own error": func(storage.Tx) error { return errInjected },
		"by a panic":       func(storage.Tx) error { panic("an end") },
		"by the database": hides(func(tx storage.Tx) error {
			return errors.Join(tx.Agents().Insert(testAgent()), tx.Log().Append(parley.Event{Kind: "too late"}))
		}),
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *scene) {
				s.driver.writer.before = failure{"INSERT INTO agents", 1, true}.hook()
				gate := make(chan struct{})
				s.submit("first", func(storage.Tx) error {
					<-gate
					return nil
				}, end)
				s.submit("second", func(tx storage.Tx) error { return tx.Log().Append(parley.Event{Kind: "second too"}) })
				s.submit("third")
				close(gate)
				s.wg.Wait()
				s.told["second too"] = nil
				if s.outcome("first") == nil {
					s.Error("the first was acknowledged")
				}
				s.acknowledged("second", "third")
				s.ran("first", 1)
				s.batches(1, 3)
			})
		})
	}
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

// A full disk makes SQLite roll back the whole transaction, the innocent updates too.
func TestFullDiskTakesNobodyWithIt(t *testing.T) {
	large := func(tx storage.Tx) error {
		return tx.Log().Append(parley.Event{Kind: "large", Data: make([]byte, 2<<20)})
	}
	for name, bad := range map[string][]func(storage.Tx) error{
		"told":   {large},
		"hidden": {hides(large), hides(func(tx storage.Tx) error { return tx.Log().Append(parley.Event{Kind: "too late"}) })},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *scene) {
				s.limitPages(30)
				s.together(s.plain("before"), s.with("bad", bad...), s.plain("after"))
				s.acknowledged("held", "before", "after")
				if err := s.outcome("bad"); parley.AsError(err).Reason != parley.StorageFull {
					s.Errorf("the culprit was told %v", err)
				}
				if errs := s.driver.writer.ran("ROLLBACK TO"); len(errs) == 0 || errs[0] == nil {
					s.Errorf("the transaction did not end: %v", errs)
				}
				s.ran("held", 2)
				s.ran("before", 2)
			})
		})
	}
}

// limitPages lets the database grow by so many pages. No update runs yet.
func (s *scene) limitPages(more int) {
	s.Helper()
	var pages int
	if err := s.driver.db.QueryRow("PRAGMA page_count").Scan(&pages); err != nil {
		s.Fatal(err)
	}
	if err := s.driver.writer.raw(fmt.Sprintf("PRAGMA max_page_count = %d", pages+more)); err != nil {
		s.Fatal(err)
	}
}

// Whatever ends a transaction between its statements, nobody is lost, and the bad one is told why.
func TestTransactionThatEndsInsideAnUpdate(t *testing.T) {
	own := errors.New("the update's own error")
	for name, fails := range map[string]failure{
		"ROLLBACK TO fails once":               {"ROLLBACK TO", 1, false},
		"ROLLBACK TO fails each time":          {"ROLLBACK TO", -1, false},
		"ROLLBACK TO fails, transaction gone":  {"ROLLBACK TO", 1, true},
		"ROLLBACK TO always fails that way":    {"ROLLBACK TO", -1, true},
		"RELEASE fails once":                   {"RELEASE", 1, false},
		"RELEASE fails, transaction gone":      {"RELEASE", 1, true},
		"SAVEPOINT fails once":                 {"SAVEPOINT", 1, false},
		"SAVEPOINT fails, transaction is gone": {"SAVEPOINT", 1, true},
	} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *scene) {
				var once sync.Once
				s.together(s.with("before", func(storage.Tx) error {
					once.Do(func() { s.driver.writer.before = fails.hook() }) // from here on
					return nil
				}), s.with("bad", func(storage.Tx) error { return own }), s.plain("after"))
				s.acknowledged("held", "before", "after")
				s.refused("bad", own)
				s.ran("held", 2)
			})
		})
	}
}

func TestFailedCommitIsNeverAcknowledged(t *testing.T) {
	for name, gone := range map[string]bool{"transaction open": false, "transaction gone": true} {
		t.Run(name, func(t *testing.T) {
			play(t, func(s *scene) {
				s.driver.writer.before = failure{"COMMIT", 1, gone}.hook()
				s.together(s.plain("a"), s.with("bad", func(storage.Tx) error { return context.DeadlineExceeded }), s.plain("b"))
				s.acknowledged("held", "a", "b")
				s.refused("bad", context.DeadlineExceeded)
				for _, label := range []string{"held", "a", "bad", "b"} {
					s.ran(label, 2)
				}
				s.batches(4, 0, 1, 1, 1, 1) // the repair, and each alone
			})
		})
	}
}

func TestCommitThatFailsForOneOnly(t *testing.T) {
	play(t, func(s *scene) {
		poisoned := false
		s.driver.writer.before = func(_ *testConn, query string) error {
			switch {
			case query == "BEGIN IMMEDIATE":
				poisoned = false
			case query == "COMMIT" && poisoned:
				return errInjected
			}
			return nil
		}
		s.together(s.plain("a"), s.with("bad", func(storage.Tx) error {
			poisoned = true
			return nil
		}), s.plain("b"))
		s.acknowledged("held", "a", "b")
		s.refused("bad", errInjected)
	})
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

// While that fails as well, nobody is told that nothing was stored, and nothing new is taken.
func TestDatabaseThatCannotCommit(t *testing.T) {
	play(t, func(s *scene) {
		s.driver.writer.before = failure{"COMMIT", 3, false}.hook()
		s.together(s.plain("a"), s.plain("b"), s.plain("c"))
		for _, label := range []string{"held", "a", "b", "c"} {
			s.refused(label, errInjected)
			text := s.told[label].Error()
			if !strings.Contains(text, "not known whether this was stored") || strings.Contains(text, "not stored") {
				s.Errorf("%s was told %s", label, text)
			}
			s.ran(label, 1)
		}
		s.submit("too early")
		s.wg.Wait()
		s.refused("too early", errInjected)
		s.ran("too early", 0)
		s.submit("later")
		s.wg.Wait()
		s.acknowledged("later")
	})
}

func TestLoneCommitFails(t *testing.T) {
	play(t, func(s *scene) {
		s.driver.writer.before = failure{"COMMIT", 1, true}.hook()
		s.submit("lone")
		s.wg.Wait()
		s.refused("lone", errInjected)
		s.ran("lone", 1)
		if len(s.driver.committed) > 0 {
			s.Errorf("reported as committed: %v", s.driver.committed)
		}
	})
}

func TestBeginFails(t *testing.T) {
	play(t, func(s *scene) {
		s.submit("first")
		s.wg.Wait()
		s.driver.writer.before = failure{"BEGIN", 2, false}.hook()
		s.submit("told")
		s.wg.Wait()
		s.refused("told", errInjected)
		s.ran("told", 0)
		s.submit("told too")
		s.wg.Wait()
		s.refused("told too", errInjected)
		s.submit("later")
		s.wg.Wait()
		s.acknowledged("later")
	})
}

func TestBeginFailsWhileABatchIsRunAgain(t *testing.T) {
	play(t, func(s *scene) {
		commits, begins := failure{"COMMIT", 1, true}.hook(), 0
		s.driver.writer.before = func(c *testConn, query string) error {
			if query == "BEGIN IMMEDIATE" {
				if begins++; begins == 4 { // the batch's, the repair's, then one for each alone
					return errInjected
				}
			}
			return commits(c, query)
		}
		s.together(s.plain("a"), s.plain("b"))
		s.acknowledged("held", "b")
		s.refused("a", errInjected)
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

// A refusal that rests on what another update of the batch wrote must not outlive that update.
func TestRefusalIsForgottenWithItsBatch(t *testing.T) {
	play(t, func(s *scene) {
		winner := ""
		insert := func(label string) func() {
			return s.with(label, func(tx storage.Tx) error {
				err := tx.Agents().Insert(testAgent())
				if err == nil {
					winner = label
				}
				return err
			})
		}
		repairing := false
		s.driver.writer.before = func(_ *testConn, query string) error {
			if query == "COMMIT" && winner == "first" && !repairing {
				return errInjected
			}
			repairing = strings.HasPrefix(query, "UPDATE counters SET repairs = repairs + 1")
			return nil
		}
		s.together(insert("first"), insert("second"), insert("third"))
		s.refused("first", errInjected)
		s.acknowledged("second")
		s.refused("third", parley.ErrTaken)
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

// More callers than the queue has room for, and each turn passed on at any moment: nobody is left
// waiting, and each is told once.
func TestNoUpdateIsLeftWaiting(t *testing.T) {
	driver := openDriver(t, filepath.Join(t.TempDir(), "test.db"))
	driver.createSchema(t)
	store := New(driver)
	const callers, each = 2 * batchUpdates, 4
	var (
		group sync.WaitGroup
		ran   atomic.Int64
	)
	for range callers {
		group.Go(func() {
			for range each {
				err := store.Update(t.Context(), func(storage.Tx) error {
					ran.Add(1)
					return nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	group.Wait()
	if n := ran.Load(); n != callers*each {
		t.Errorf("%d updates ran, want %d", n, callers*each)
	}
	if err := store.Close(); err != nil {
		t.Error(err)
	}
}

// An update that ends its goroutine ends the process: this one is started for that.
func TestGoexitInAnUpdateEndsTheProcess(t *testing.T) {
	if os.Getenv("PARLEY_TEST_GOEXIT") == "" {
		again := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$")
		again.Env = append(os.Environ(), "PARLEY_TEST_GOEXIT=1")
		out, err := again.CombinedOutput()
		if err == nil || !strings.Contains(string(out), "the store cannot go on") {
			t.Errorf("it went on: %v: %.500s", err, out)
		}
		return
	}
	driver := openDriver(t, filepath.Join(t.TempDir(), "test.db"))
	driver.createSchema(t)
	_ = New(driver).Update(t.Context(), func(storage.Tx) error {
		runtime.Goexit()
		return nil
	})
}
